import { Refusal } from "../../../core/refusal.ts";

interface MailHost {
  host: string;
  port: number;
}

/** The servers of a mail provider, and the steps before a program may use them. */
export interface MailProvider {
  smtp: MailHost;
  imap: MailHost;
  /** The steps to take first. */
  about: string | undefined;
  /** The name in the results that the provider writes about senders, and whether it removes forged ones. */
  authserv: string | undefined;
  removesForged: boolean;
  /** Mail to name+tag@ arrives at name@. */
  hasTags: boolean;
}

type ProviderServers = { smtp: string; imap: string; about?: string; authserv?: string; hasTags?: boolean };

const APP_PASSWORD = "This provider wants a password made for programs:";
const GMX = {
  smtp: "mail.gmx.net:587",
  imap: "imap.gmx.net:993",
  about: "Allow access by IMAP first: in the settings of the mailbox, POP3/IMAP",
  hasTags: false,
};
const ICLOUD = {
  smtp: "smtp.mail.me.com:587",
  imap: "imap.mail.me.com:993",
  about: `${APP_PASSWORD} account.apple.com, Sign-In and Security, App-Specific Passwords`,
};
const GMAIL = {
  smtp: "smtp.gmail.com:465",
  imap: "imap.gmail.com:993",
  about: `${APP_PASSWORD} https://myaccount.google.com/apppasswords`,
  authserv: "mx.google.com",
};
const YAHOO = {
  smtp: "smtp.mail.yahoo.com:465",
  imap: "imap.mail.yahoo.com:993",
  about: `${APP_PASSWORD} in the account, Security, Generate app password`,
  hasTags: false,
};

const PROVIDERS: Readonly<Record<string, ProviderServers>> = {
  "gmail.com": GMAIL,
  "googlemail.com": GMAIL,
  "icloud.com": ICLOUD,
  "me.com": ICLOUD,
  "mac.com": ICLOUD,
  "yahoo.com": YAHOO,
  "ymail.com": YAHOO,
  "fastmail.com": {
    smtp: "smtp.fastmail.com:465",
    imap: "imap.fastmail.com:993",
    about: `${APP_PASSWORD} Settings, Privacy & Security, App passwords`,
  },
  "gmx.net": GMX,
  "gmx.de": GMX,
  "gmx.at": GMX,
  "gmx.com": { ...GMX, smtp: "mail.gmx.com:587", imap: "imap.gmx.com:993" },
  "web.de": { ...GMX, smtp: "smtp.web.de:587", imap: "imap.web.de:993" },
  "mailbox.org": { smtp: "smtp.mailbox.org:465", imap: "imap.mailbox.org:993" },
  "posteo.de": { smtp: "posteo.de:465", imap: "posteo.de:993" },
  "t-online.de": {
    smtp: "securesmtp.t-online.de:465",
    imap: "secureimap.t-online.de:993",
    about: `${APP_PASSWORD} in the customer centre, password for e-mail programs`,
    hasTags: false,
  },
  "zoho.com": {
    smtp: "smtp.zoho.com:465",
    imap: "imap.zoho.com:993",
    about: `${APP_PASSWORD} accounts.zoho.com, Security, App Passwords`,
  },
};

/** Providers that let no program in with a password. */
const CLOSED = /^(?:outlook|hotmail|live|msn)\.[a-z.]+$/;

interface MailServerFlags {
  smtp?: string | undefined;
  imap?: string | undefined;
  authserv?: string | undefined;
}

/** The servers of an address: those that were given, or those of its provider. */
export function getMailProvider(address: string, { smtp, imap, authserv }: MailServerFlags): MailProvider {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  const known = Object.hasOwn(PROVIDERS, domain) ? PROVIDERS[domain] : undefined;
  const isGiven = smtp !== undefined && imap !== undefined;
  if (CLOSED.test(domain) && !isGiven) {
    throw new Refusal("bad_input", `${domain} lets no program in with a password`, {
      hint: "Use another mailbox for questions; your own address can still get them: --to <address>",
    });
  }
  if (!known && !isGiven) {
    throw new Refusal("bad_input", `The mail servers of ${domain} are not known here`, {
      hint: `Name them: askd setup email ${address} --smtp smtp.${domain}:587 --imap imap.${domain}:993`,
    });
  }
  return {
    smtp: parseHost("--smtp", smtp ?? known?.smtp ?? "", 587),
    imap: parseHost("--imap", imap ?? known?.imap ?? "", 993),
    about: isGiven ? undefined : known?.about,
    authserv: authserv ?? (isGiven ? undefined : known?.authserv),
    removesForged: !isGiven && authserv === undefined && known?.authserv !== undefined,
    hasTags: isGiven || known?.hasTags !== false,
  };
}

function parseHost(flag: string, text: string, usualPort: number): MailHost {
  const [, host, port] = /^([A-Za-z0-9.-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port ?? usualPort);
  if (host !== undefined && number >= 1 && number <= 65_535) return { host, port: number };
  throw new Refusal("bad_input", `${flag} needs a host, or host:port`, {
    hint: `Such as ${flag} mail.example.com:587`,
  });
}
