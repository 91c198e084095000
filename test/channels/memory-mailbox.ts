import { randomBytes } from "node:crypto";
import { emailChannel } from "../../src/channels/email/email.ts";
import { readIncoming } from "../../src/channels/email/incoming-mail.ts";
import type { OutgoingMail } from "../../src/channels/email/smtp.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import type { EmailSettings } from "../../src/core/channel/channel-settings.ts";
import { idsFrom } from "../../src/core/id.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { Decider } from "../../src/engine/decide.ts";
import { ChatLimit } from "../../src/engine/reach/private-chat.ts";
import { receiveFailure } from "../../src/engine/reach/receive-failure.ts";
import { receiveReplies } from "../../src/engine/reach/receive.ts";
import { Scene } from "../scene.ts";
import { Board } from "./board-channel.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { MAIL_SETTINGS } from "./mail-settings.ts";

const OWN = { local: "answers", domain: "askd.test" };

/** The mail channel without servers, and mika, who has mail first and a board second. */
export class MemoryMailbox {
  readonly sent: OutgoingMail[] = [];
  readonly failures: unknown[] = [];
  readonly board = new Board("telegram");
  readonly scene: Scene;
  readonly #settings: EmailSettings;
  readonly #deps;
  readonly #channel: Channel;
  #count = 0;

  static async open(over: Partial<EmailSettings> = {}): Promise<MemoryMailbox> {
    const mailbox = new MemoryMailbox({ ...MAIL_SETTINGS, ...over });
    const mika = { email: "mika@people.test", telegram: "1", channels: ["email", "telegram"] };
    await mailbox.scene.engine.putPerson({ id: "mika", version: 0, groups: [], ...mika }, SYSTEM);
    return mailbox;
  }

  private constructor(settings: EmailSettings) {
    this.#settings = settings;
    const keep = (mail: unknown) => {
      this.sent.push(mail as OutgoingMail); // as the channel built it
      return Promise.resolve({ ok: true } as const);
    };
    this.#channel = {
      ...emailChannel(settings, OUTBOUND),
      send: keep,
      respond: (_respondTo, text) => keep({ subject: "response", text }),
    };
    const openChannel = (name: string) => Promise.resolve(name === "email" ? this.#channel : this.board);
    const ids = idsFrom(Date.now, randomBytes);
    const reach = ["email", "telegram"].map((name) => ({ name, person: undefined, isPersonal: true }));
    this.scene = new Scene({ rules: { reach, personChannel: true }, openChannel, ids });
    const { store, rules, engine: questions } = this.scene;
    const decider = new Decider({ store, ids, rules, now: () => this.scene.now });
    const people = { pairTelegram: () => Promise.reject(new Error("nobody pairs")) };
    const onFailure = (_channel: string, error: unknown) => void this.failures.push(error);
    this.#deps = { store, decider, questions, people, openChannel, onFailure, chatLimit: new ChatLimit() };
  }

  /** Asks a question and sends its mail. */
  async ask(raw: Record<string, unknown> = {}) {
    const { question } = await this.scene.ask(raw);
    await this.scene.pass(0);
    return question.id;
  }

  get last(): OutgoingMail {
    const mail = this.sent.at(-1);
    if (!mail) throw new Error("no mail was sent");
    return mail;
  }

  /** Delivers a mail of a person to the address of the last question. */
  async reply(text: string, { subject = `Re: ${this.last.subject}`, above = [] as string[] } = {}): Promise<void> {
    const { replyTo = "" } = this.last;
    this.#count += 1;
    const head = [...above, "From: Mika <mika@people.test>", `To: ${replyTo}`, `Subject: ${encoded(subject)}`];
    await this.bring(`${head.join("\r\n")}\r\nMessage-ID: <${this.#count}@phone.test>\r\n\r\n${text}\r\n`);
  }

  /** Delivers a mail to the mailbox, and does what its reading asks for. */
  async bring(raw: string): Promise<void> {
    const read = await readIncoming(raw, { ...this.#settings, own: OWN });
    if (read.kind === "reply") await receiveReplies(this.#deps, this.#channel, [read.reply]);
    if (read.kind === "failure") await receiveFailure(this.#deps, this.#channel, read.failure);
    await this.scene.pass(0);
  }
}

/** A subject as mail programs write it if it is not ASCII. */
function encoded(subject: string) {
  return /^[\x20-\x7e]*$/.test(subject) ? subject : `=?utf-8?B?${Buffer.from(subject).toString("base64")}?=`;
}
