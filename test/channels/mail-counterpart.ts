import { randomBytes } from "node:crypto";
import { type AddressInfo, type Server, connect, createServer } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { emailChannel } from "../../src/channels/email/email.ts";
import type { Channel, ChannelResult } from "../../src/core/channel/channel.ts";
import type { EmailSettings } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, PlannedFailure, ShownMessage, Traffic } from "./counterpart.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { AUTHSERV, DOMAIN, MailServer, PASSWORD, mailSettings } from "./mail-server.ts";

const ARRIVAL_MS = 15_000;
const TOKEN = /<q\.([0-9a-f]{32})(?:\.([\w-]+))?@/;

let shared: Promise<MailServer> | undefined;

/** One server for all tests of a file: each test has mailboxes of its own. */
export function sharedMailServer(): Promise<MailServer> {
  shared ??= MailServer.start();
  return shared;
}

export async function stopSharedMailServer(): Promise<void> {
  await (await shared)?.stop();
  shared = undefined;
}

/** A mail that the person has. */
interface ReceivedMail {
  token: string;
  /** What follows the token in the id: nothing for the question itself. */
  part: string;
  email: Email;
  source: string;
}

/** Mailboxes for askd and for one person on a real server, and what that person sees and does. */
export class MailCounterpart implements Counterpart {
  readonly reach = { name: "email", person: undefined, isPersonal: true };
  readonly problems: string[] = [];
  readonly person: { email: string };
  readonly answers: string;
  readonly mika: string;
  readonly server: MailServer;
  channel: Channel;
  readonly #gate: SmtpGate;
  readonly #received: ReceivedMail[] = [];
  #count = 0;
  #last: { from: string; to: string; raw: string } | undefined;

  static async start(): Promise<MailCounterpart> {
    const server = await sharedMailServer();
    return new MailCounterpart(server, await SmtpGate.open(server.ports.submission));
  }

  private constructor(server: MailServer, gate: SmtpGate) {
    const id = randomBytes(4).toString("hex");
    this.server = server;
    this.#gate = gate;
    this.answers = `answers${id}`;
    this.mika = `mika${id}`;
    this.person = { email: `Mika${id}@${DOMAIN}` }; // people write their address as they like
    this.channel = this.watched(emailChannel(this.settings(), OUTBOUND));
  }

  settings(password = PASSWORD): EmailSettings {
    const { ca, ports } = this.server;
    return mailSettings({ user: this.answers, ca, ports: { ...ports, submission: this.#gate.port } }, password);
  }

  get traffic(): Traffic {
    return this;
  }

  shown(): ShownMessage[] {
    const threads = new Map<string, ReceivedMail>();
    for (const mail of this.#received) if (/^(?:|outcome)$/.test(mail.part)) threads.set(mail.token, mail);
    return [...threads.values()].map((mail) => ({
      text: mail.email.text ?? "",
      buttons: mail.part === "" ? this.#buttons(mail) : [],
    }));
  }

  everythingSent(): string {
    return this.#received
      .map(({ email }) => [email.subject, email.text, email.html].join("\n"))
      .join("\n")
      .replaceAll("&gt;", ">")
      .replaceAll("&lt;", "<");
  }

  responses(): string[] {
    return this.#received.filter(({ part }) => part.startsWith("response")).map(({ email }) => email.text ?? "");
  }

  requests(): number {
    return this.#gate.connections;
  }

  fail(failure: PlannedFailure, times = 1): void {
    for (let count = 0; count < times; count += 1) this.#gate.failures.push(failure);
  }

  recover(): void {
    this.#gate.failures.length = 0;
  }

  async say(text: string): Promise<void> {
    const question = this.#received.findLast(({ part }) => part === "");
    if (!question) throw new Error("there is no mail to reply to");
    await this.reply(question, text);
  }

  async repeat(): Promise<void> {
    if (this.#last) await this.server.deliver(this.#last);
  }

  /** A wrong token; a right one from somebody else, from a forger, and from a program. */
  async forge(): Promise<void> {
    const { email, token } = this.#received.at(-1) ?? {};
    const to = email?.replyTo?.[0]?.address ?? "";
    const wrong = to.replace(token ?? "", randomBytes(16).toString("hex"));
    const mika = `${this.mika}@${DOMAIN}`;
    const mails = [
      { from: mika, to: wrong, headers: "" },
      { from: `lena@${DOMAIN}`, to, headers: "" },
      {
        from: `forger@${DOMAIN}`,
        author: mika,
        to,
        headers: `Authentication-Results: ${AUTHSERV}; dmarc=pass header.from=${DOMAIN}\r\n`,
      },
      { from: mika, to, headers: "Auto-Submitted: auto-replied\r\n" },
    ];
    for (const { from, author = from, to: target, headers } of mails) {
      const raw = `${headers}From: ${author}\r\nTo: ${target}\r\nSubject: Re: x\r\nMessage-ID: <${randomBytes(8).toString("hex")}@x>\r\n\r\nA\r\n`;
      await this.server.deliver({ from, to: target, raw });
    }
  }

  withBadToken(): Channel {
    return emailChannel(this.settings("wrong"), OUTBOUND);
  }

  async close(): Promise<void> {
    await this.#gate.close();
  }

  /** Where a reply to the last mail goes. */
  lastReplyTo(): string {
    return this.#received.at(-1)?.email.replyTo?.[0]?.address ?? "";
  }

  /** Replies as a mail program does: above the quoted mail, in the same thread. */
  async reply({ email }: Pick<ReceivedMail, "email">, text: string): Promise<void> {
    this.#count += 1;
    const to = email.replyTo?.[0]?.address ?? email.from?.address ?? "";
    const quoted = (email.text ?? "").split("\n").map((line) => `> ${line}`);
    const raw = [
      `From: Mika Lind <${this.mika}@${DOMAIN}>`,
      `To: askd <${to}>`,
      `Subject: Re: reply`,
      `Message-ID: <${this.mika}.${this.#count}@phone.test>`,
      `In-Reply-To: ${email.messageId ?? ""}`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from(
        [text, "", "Best regards,", "Mika", "", `On Thu, Jan 1, 2026 at 12:00 PM askd <${to}> wrote:`, ...quoted].join(
          "\n",
        ),
      ).toString("base64"),
      "",
    ].join("\r\n");
    this.#last = { from: `${this.mika}@${DOMAIN}`, to, raw };
    await this.server.deliver(this.#last);
  }

  #buttons(mail: ReceivedMail) {
    const text = mail.email.text ?? "";
    const how = /^.*\breply with (?!all).*$/im.exec(text)?.[0] ?? "";
    if (how.includes("(several")) return [];
    const keys = new Set(/eply with ([A-Z]+(?:(?:, | or )[A-Z]+)*)(?![a-z])/.exec(how)?.[1]?.split(/, | or /) ?? []);
    return [...text.matchAll(/^([A-Z]+)\) .*$/gm)]
      .filter(([, key = ""]) => keys.has(key))
      .map(([label, key = ""]) => ({ label, press: () => this.reply(mail, key) }));
  }

  /** The channel, whose mails have arrived when it says that they are sent: tests look at once. */
  watched(channel: Channel): Channel {
    const arrived = async (result: ChannelResult) => {
      if (result.ok && result.outside !== undefined) await this.#receive(result.outside);
      return result;
    };
    return {
      ...channel,
      send: async (wire) => arrived(await channel.send(wire)),
      remind: async (...args) => arrived(await channel.remind(...args)),
      respond: async (...args) => arrived((await channel.respond?.(...args)) ?? { ok: true }),
    };
  }

  /** Reads the mails of the person that came since the last look, for a channel in another process. */
  async look(): Promise<void> {
    for (const source of this.server.mails(this.mika)) {
      const id = /^Message-ID:\s+(<[^>]+>)/m.exec(source)?.[1];
      const isKnown = this.#received.some((mail) => mail.source === source);
      if (id !== undefined && !isKnown) await this.#keep(source, id);
    }
  }

  async #receive(id: string) {
    for (const end = Date.now() + ARRIVAL_MS; Date.now() < end;) {
      const source = this.server
        .mails(this.mika)
        .find((mail) => mail.includes(`Message-ID: ${id}`) || mail.includes(`Message-ID:\n ${id}`));
      if (source !== undefined) return this.#keep(source, id);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.problems.push(`${id} did not arrive`);
  }

  async #keep(source: string, id: string) {
    const email = await PostalMime.parse(source);
    const [, token = "", part = ""] = TOKEN.exec(id) ?? [];
    this.#received.push({ token, part, email, source });
    this.problems.push(...faultsOf(source, email, token));
  }
}

/** What the servers of others would object to, or would break a thread. */
function faultsOf(source: string, { replyTo, html = "" }: Email, token: string): string[] {
  const head = source.slice(0, source.indexOf("\n\n"));
  const address = replyTo?.[0]?.address ?? "";
  const isNote = /^Message-ID: <[^>]*\.note@/im.test(head);
  return [
    ...(source.split("\n").some((line) => line.length > 998) ? ["a line is too long"] : []),
    ...(/[^\x20-\x7e\r\n\t]/.test(head) ? ["a header is not ASCII"] : []),
    ...(/^Auto-Submitted: auto-/m.test(head) ? [] : ["it does not say that it is automatic"]),
    ...(isNote || /^References: /m.test(head) ? [] : ["it belongs to no thread"]),
    ...(token.length === 32 ? [] : ["its id has no token"]),
    ...(isNote || (address.includes(`+${token}@`) && address.split("@")[0]!.length <= 64)
      ? []
      : ["its reply address is wrong"]),
    ...(/src=|url\(|<script|<img|http-equiv/i.test(html) ? ["its HTML loads something"] : []),
    ...(source.indexOf("text/html") >= 0 && source.indexOf("text/html") < source.indexOf("text/plain")
      ? ["plain text is not first"]
      : []),
  ];
}

/** A way to the server that fails as planned: like a server under load, it turns clients away. */
class SmtpGate {
  readonly failures: PlannedFailure[] = [];
  readonly port: number;
  connections = 0;
  readonly #server: Server;

  static async open(target: number): Promise<SmtpGate> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new SmtpGate(server, target);
  }

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket) => {
      this.connections += 1;
      socket.on("error", () => undefined);
      const failure = this.failures.shift();
      if (failure) {
        const why =
          failure.retryAfterS === undefined
            ? `4.3.0 Internal error (${failure.status})`
            : `4.7.0 Too many mails, try again in ${failure.retryAfterS} seconds`;
        socket.end(`421 ${why}\r\n`);
        return;
      }
      const onward = connect(target, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.on("close", () => onward.destroy());
      onward.on("close", () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
