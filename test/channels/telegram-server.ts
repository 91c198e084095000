import type { ServerResponse } from "node:http";
import { z } from "zod";
import { telegramChannel } from "../../src/channels/telegram/telegram.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND, sendJson } from "./loopback-server.ts";

export const TOKEN = "123:abcdefghijklmnopqrstuvwxyz";
export const CHAT = 77;
/** The chat of somebody who wrote to the bot and is on no list. */
export const STRANGER = 88;

const Button = z.union([
  z.strictObject({ text: z.string().min(1), callback_data: z.string() }),
  z.strictObject({ text: z.string().min(1), url: z.string().regex(/^(https?|tg):\/\//) }),
]);
const Markup = z.strictObject({ inline_keyboard: z.array(z.array(Button).max(8)).max(100) });
const ReplyParameters = z.strictObject({ message_id: z.int(), allow_sending_without_reply: z.boolean().optional() });
const Text = {
  text: z.string(),
  parse_mode: z.literal("HTML").optional(),
  link_preview_options: z.strictObject({ is_disabled: z.boolean() }).optional(),
  reply_markup: Markup.optional(),
};
const METHODS = {
  getMe: z.strictObject({}),
  deleteWebhook: z.strictObject({ drop_pending_updates: z.boolean().optional() }),
  getUpdates: z.strictObject({
    offset: z.int(),
    timeout: z.int().max(50),
    allowed_updates: z.array(z.enum(["message", "callback_query"])),
  }),
  sendMessage: z.strictObject({ chat_id: z.int(), ...Text, reply_parameters: ReplyParameters.optional() }),
  editMessageText: z.strictObject({ chat_id: z.int(), message_id: z.int(), ...Text }),
  answerCallbackQuery: z.strictObject({
    callback_query_id: z.string(),
    text: z.string().optional(),
    show_alert: z.boolean().optional(),
  }),
};

interface Message {
  id: number;
  text: string;
  markup: z.infer<typeof Markup> | undefined;
  isResponse: boolean;
}

/** The Bot API by its published shapes and limits: it refuses and records whatever the real one would refuse. */
export class TelegramServer implements Counterpart {
  readonly reach = { name: "telegram", person: undefined, isPersonal: true };
  readonly channel;
  readonly messages = new Map<number, Message>();
  readonly notices: string[] = [];
  readonly toStranger: string[] = [];
  /** How many presses are no longer shown as under way. */
  acknowledged = 0;
  readonly traffic: LoopbackServer;
  readonly #base: string;
  #updates: Array<Record<string, unknown>> = [];
  /** Updates to bring a second time. */
  readonly #again: Array<Record<string, unknown>> = [];
  #updateId = 1000;
  #messageId = 1;
  #polls = 0;
  #wake = (): void => undefined;
  #lastAct: Record<string, unknown> | undefined;

  static async start(): Promise<TelegramServer> {
    const server = new LoopbackServer();
    const telegram = new TelegramServer(server, await server.listen());
    server.handle = (request, response) => telegram.handle(request, response);
    return telegram;
  }

  private constructor(server: LoopbackServer, base: string) {
    this.traffic = server;
    this.#base = base;
    this.channel = telegramChannel({ url: base, readToken: () => TOKEN }, OUTBOUND);
  }

  get base(): string {
    return this.#base;
  }

  shown(): ShownMessage[] {
    return [...this.messages.values()]
      .filter(({ isResponse }) => !isResponse)
      .map(({ id, text, markup }) => ({
        text: plain(text),
        buttons: (markup?.inline_keyboard ?? []).flat().map((button) => ({
          label: button.text,
          press: () => this.tap(id, "callback_data" in button ? button.callback_data : ""),
        })),
      }));
  }

  responses(): string[] {
    const said = [...this.messages.values()].filter(({ isResponse }) => isResponse).map(({ text }) => text);
    return [...said, ...this.notices.filter((notice) => !/^(Thank you|It is yours)/.test(notice))];
  }

  withBadToken() {
    return telegramChannel({ url: this.#base, readToken: () => "999:wrong" }, OUTBOUND);
  }

  deleteMessages(): void {
    this.messages.clear();
  }

  async say(
    text: string,
    from = CHAT,
    asked = [...this.messages.values()].findLast(({ isResponse }) => !isResponse),
  ): Promise<void> {
    const person = { id: from, is_bot: false, first_name: "Mika" };
    const message = {
      message_id: (this.#messageId += 1),
      from: person,
      chat: { id: from, type: "private" },
      date: 1,
      text,
    };
    this.#push({ message: asked ? { ...message, reply_to_message: { message_id: asked.id } } : message });
    return Promise.resolve();
  }

  /** Writes in the chat without replying to a message. */
  async write(said: { text?: string; caption?: string; voice?: object; photo?: object[] }, from = CHAT): Promise<void> {
    const person = { id: from, is_bot: false, first_name: "Mika" };
    const chat = { id: from, type: "private" };
    this.#push({ message: { message_id: (this.#messageId += 1), from: person, chat, date: 1, ...said } });
    return Promise.resolve();
  }

  async tap(message: number, data: string, from = CHAT): Promise<void> {
    const query = {
      id: `cb${this.#updateId}`,
      from: { id: from, is_bot: false, first_name: "Mika" },
      chat_instance: "1",
      data,
    };
    this.#push({ callback_query: { ...query, message: { message_id: message } } });
    return Promise.resolve();
  }

  /** Brings the last act again, in the same update or in another one. */
  async repeat({ isRenumbered = false } = {}): Promise<void> {
    if (this.#lastAct && isRenumbered) this.#updates.push({ ...this.#lastAct, update_id: (this.#updateId += 1) });
    else if (this.#lastAct) this.#again.push(this.#lastAct);
    this.#wake();
    return Promise.resolve();
  }

  async forge(): Promise<void> {
    const [button] = this.shown().flatMap(({ buttons }) => buttons);
    if (!button) throw new Error("there is no button");
    const data = [...this.messages.values()].flatMap(({ markup }) => markup?.inline_keyboard.flat() ?? [])[0];
    const own = data && "callback_data" in data ? data.callback_data : "";
    // Somebody else presses the button, and somebody invents one.
    await this.tap(1, own, 666);
    await this.tap(1, `${own.slice(0, -3)}x:A`);
    await this.say("A", 666);
  }

  async close(): Promise<void> {
    await this.traffic.close();
  }

  #push(act: Record<string, unknown>) {
    this.#lastAct = { update_id: (this.#updateId += 1), ...act };
    this.#updates.push(this.#lastAct);
    this.#wake();
  }

  async handle(request: LoopbackRequest, response: ServerResponse): Promise<void> {
    const [, bot = "", method = ""] = request.url.pathname.split("/");
    const refuse = (code: number, description: string, parameters?: object) =>
      sendJson(response, code, { ok: false, error_code: code, description, ...(parameters && { parameters }) });
    const wrong = (description: string) => {
      this.traffic.problems.push(`${method}: ${description}`);
      return refuse(400, `Bad Request: ${description}`);
    };
    const isMessage = method === "sendMessage" || method === "editMessageText";
    if (isMessage) this.traffic.count();
    if (bot !== `bot${TOKEN}`) return refuse(401, "Unauthorized");
    if (!isMethod(method)) return refuse(404, "Not Found");
    const parsed = METHODS[method].safeParse(JSON.parse(request.text || "{}"));
    if (!parsed.success) return wrong(parsed.error.message);
    if (method !== "getUpdates") this.traffic.keep(request.text);
    const failure = isMessage ? this.traffic.nextFailure() : undefined;
    if (failure)
      return refuse(failure.status, failure.status === 429 ? "Too Many Requests" : "Internal Server Error", {
        retry_after: failure.retryAfterS,
      });
    const args = parsed.data as Record<string, unknown>; // as its schema says
    const reply = (result: unknown) => sendJson(response, 200, { ok: true, result });
    switch (method) {
      case "getMe":
        return reply({ id: 123, is_bot: true, first_name: "askd", username: "askd_test_bot" });
      case "deleteWebhook":
        return reply(true);
      case "getUpdates":
        return this.#poll({ offset: Number(args["offset"]), timeoutS: Number(args["timeout"]) }, request, response);
      case "answerCallbackQuery": {
        const { text = "" } = METHODS.answerCallbackQuery.parse(args);
        if (Array.from(text).length > 200) return wrong("MESSAGE_TOO_LONG");
        if (text !== "") this.notices.push(text);
        this.acknowledged += 1;
        return reply(true);
      }
      default:
        return this.#keep(method, METHODS.sendMessage.partial().loose().parse(args), { reply, wrong, refuse });
    }
  }

  #keep(
    method: string,
    args: {
      chat_id?: number | undefined;
      text?: string | undefined;
      reply_markup?: z.infer<typeof Markup> | undefined;
      reply_parameters?: unknown;
    },
    say: { reply(result: unknown): void; wrong(text: string): void; refuse(code: number, text: string): void },
  ) {
    const { text = "", reply_markup: markup } = args;
    if (args.chat_id === STRANGER) {
      this.toStranger.push(text);
      return say.reply({ message_id: (this.#messageId += 1), chat: { id: STRANGER, type: "private" }, date: 1, text });
    }
    if (args.chat_id !== CHAT) return say.refuse(400, "Bad Request: chat not found");
    if (text === "") return say.wrong("message text is empty");
    // The Bot API counts what is left of a text once its tags are read.
    if (Array.from("parse_mode" in args ? plain(text) : text).length > 4096) return say.wrong("message is too long");
    const tag = findBadHtml(text);
    if (tag !== undefined && "parse_mode" in args) return say.wrong(`can't parse entities: ${tag}`);
    for (const button of (markup?.inline_keyboard ?? []).flat()) {
      if (!("callback_data" in button)) continue;
      const bytes = Buffer.byteLength(button.callback_data);
      if (bytes < 1 || bytes > 64) return say.wrong("BUTTON_DATA_INVALID");
    }
    if (method === "editMessageText") {
      const id = Number((args as { message_id?: number }).message_id);
      const known = this.messages.get(id);
      if (!known) return say.refuse(400, "Bad Request: message to edit not found");
      if (known.text === text && JSON.stringify(known.markup) === JSON.stringify(markup))
        return say.refuse(400, "Bad Request: message is not modified");
      this.messages.set(id, { ...known, text, markup });
      return say.reply({ message_id: id, chat: { id: CHAT, type: "private" } });
    }
    const id = (this.#messageId += 1);
    this.messages.set(id, { id, text, markup, isResponse: args.reply_parameters !== undefined });
    return say.reply({ message_id: id, chat: { id: CHAT, type: "private" }, date: 1, text });
  }

  async #poll(
    { offset, timeoutS }: { offset: number; timeoutS: number },
    { gone }: LoopbackRequest,
    response: ServerResponse,
  ) {
    if (this.#polls > 0) {
      return sendJson(response, 409, {
        ok: false,
        error_code: 409,
        description:
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
      });
    }
    this.#polls += 1;
    // Only the offset of a request confirms updates: a reply that is lost brings them again.
    this.#updates = this.#updates.filter((update) => Number(update["update_id"]) >= offset);
    if (timeoutS > 0 && this.#updates.length + this.#again.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        gone.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#polls -= 1;
    if (gone.aborted) return;
    sendJson(response, 200, { ok: true, result: [...this.#again.splice(0), ...this.#updates] });
  }
}

function isMethod(name: string): name is keyof typeof METHODS {
  return Object.hasOwn(METHODS, name);
}

/** Finds a tag or entity that the Bot API cannot parse: unknown, not closed, or inside of code. */
function findBadHtml(text: string) {
  const open: string[] = [];
  for (const [tag, slash, name = ""] of text.matchAll(/<(\/?)(\w+)(?: class="language-[\w+#-]+")?>/g)) {
    if (!/^(b|pre|code)$/.test(name)) return tag;
    const isInCode = open.includes("code") || (open.includes("pre") && name !== "code");
    if (slash === "/" ? open.pop() !== name : isInCode) return tag;
    if (slash !== "/") open.push(name);
  }
  if (open.length > 0) return `<${open.join("><")}>`;
  const rest = text
    .replace(/<\/?(?:b|pre|code)(?: class="language-[\w+#-]+")?>/g, "")
    .replace(/&(lt|gt|amp|quot);/g, "");
  return /[<>&]/.exec(rest)?.[0];
}

function plain(html: string) {
  return html
    .replaceAll(/<\/?(?:b|pre|code)(?: class="language-[\w+#-]+")?>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
