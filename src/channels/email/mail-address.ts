const MOST_LOCAL_CHARS = 64;
const TOKEN = "[0-9a-f]{32}";
/** Stands in front of the token in the address that bounces go to. */
const BOUNCE = "bounce.";

/** An address in its two parts. */
export interface MailAddress {
  local: string;
  domain: string;
}

/** The parts of an address such as `Name <local@domain>`. */
export function parseAddress(text: string): MailAddress | undefined {
  const plain = (/<([^<>]*)>\s*$/.exec(text)?.[1] ?? text).trim();
  const [, local, domain] = /^([^\s@<>()",;:]+)@([^\s@<>()",;:]+)$/.exec(plain) ?? [];
  return local === undefined || domain === undefined ? undefined : { local, domain: domain.toLowerCase() };
}

/** The address that a reply to one message goes to; undefined if it would be too long for mail servers. */
export function replyAddress({ local, domain }: MailAddress, token: string): string | undefined {
  return tagged(local, domain, token);
}

/** The address that a bounce of one message goes to. */
export function bounceAddress({ local, domain }: MailAddress, token: string): string | undefined {
  return tagged(local, domain, `${BOUNCE}${token}`);
}

function tagged(local: string, domain: string, tag: string) {
  const whole = `${local}+${tag}`;
  return whole.length > MOST_LOCAL_CHARS ? undefined : `${whole}@${domain}`;
}

/** The id of a mail of ours: it has the token, for providers that know no tagged addresses. */
export function messageId(token: string, part: string, { domain }: MailAddress): string {
  return `<q.${token}${part === "" ? "" : `.${part}`}@${domain}>`;
}

export type TaggedToken = { token: string; isBounce: boolean };

/** The tokens in addresses of ours, in any case: some systems change it. */
export function findTaggedTokens(text: string, { local, domain }: MailAddress): TaggedToken[] {
  const pattern = new RegExp(`${escaped(local)}\\+(${escaped(BOUNCE)})?(${TOKEN})@${escaped(domain)}(?![\\w.-])`, "gi");
  return [...text.matchAll(pattern)].map(([, bounce, token = ""]) => ({
    token: token.toLowerCase(),
    isBounce: bounce !== undefined,
  }));
}

/** The tokens in ids of our mails. */
export function findIdTokens(text: string, { domain }: MailAddress): string[] {
  const pattern = new RegExp(`<q\\.(${TOKEN})(?:\\.[\\w-]+)?@${escaped(domain)}>`, "gi");
  return [...text.matchAll(pattern)].map(([, token = ""]) => token.toLowerCase());
}

function escaped(text: string) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
