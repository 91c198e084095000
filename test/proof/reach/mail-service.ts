import { randomBytes } from "node:crypto";
import { sharedMailServer } from "../../channels/mail-counterpart.ts";
import { DOMAIN } from "../../channels/mail-server.ts";
import type { ReachService } from "./service.ts";

/** One of our mails: whose it is, what follows the token in its id, and its text. */
interface TakenMail {
  token: string;
  part: string;
  text: string;
}

/** Mailboxes of askd and of one person on the mail server of this process. */
export async function startMail(): Promise<ReachService> {
  const server = await sharedMailServer();
  const id = randomBytes(4).toString("hex");
  const [user, mika] = [`answers${id}`, `mika${id}`];
  const taken = () => server.mails(mika).map(parseMail);
  const about = (mark: string) =>
    taken().filter(({ part, text }) => !part.startsWith("response") && text.includes(mark));
  let count = 0;
  const reply = async (token: string, text: string) => {
    count += 1;
    const [from, to] = [`${mika}@${DOMAIN}`, `${user}+${token}@${DOMAIN}`];
    const head = [`From: ${from}`, `To: ${to}`, "Subject: Re: reply", `Message-ID: <${mika}.${count}@phone.test>`];
    await server.deliver({ from, to, raw: [...head, "", text, ""].join("\r\n") });
  };
  const tokenOf = (mark: string) => about(mark).at(-1)?.token ?? "";
  return {
    url: "",
    secret: "",
    mailbox: { user, ports: server.ports, ca: server.ca },
    email: `${mika}@${DOMAIN}`,
    // A mail that comes again replaces the first, and the outcome is the last of a thread.
    shown: (mark) => [...new Map(about(mark).map(({ token, text }) => [token, text])).values()],
    posted: (mark) => {
      const all = about(mark);
      return { different: new Set(all.map(({ token, part }) => `${token}.${part}`)).size, all: all.length };
    },
    grab: (mark) => {
      const token = tokenOf(mark);
      return () => reply(token, "A");
    },
    mumble: (mark) => reply(tokenOf(mark), "Z"),
    isIdle: (cursor) => {
      const arrived = server.mails(user).length;
      return server.isQueueEmpty() && (arrived === 0 || Number(cursor?.split(":")[1]) === arrived + 1);
    },
    responses: () => taken().filter(({ part }) => part.startsWith("response")).length,
    problems: [],
    close: () => Promise.resolve(),
  };
}

function parseMail(source: string): TakenMail {
  const [, token = "", part = ""] = /^Message-ID:\s*<q\.([0-9a-f]{32})(?:\.([\w-]+))?@/im.exec(source) ?? [];
  return { token, part, text: source.replace(/=\r?\n/g, "") };
}
