import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { slackChannel } from "../../src/channels/slack/slack.ts";
import type { SlackSettings } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND, sendJson } from "./loopback-server.ts";
import { type Block, Blocks, View } from "./slack-shape.ts";

export const BOT_TOKEN = "xoxb-1-abcdefghijklmnop";
export const APP_TOKEN = "xapp-1-abcdefghijklmnop";
export const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
export const MIKA = "U0MIKA";
export const CHANNEL = "C0AGENTS";
/** Slack shows an error to the person after this time. */
const ACKNOWLEDGE_MS = 3_000;

const message = { text: z.string().min(1).max(4_000), blocks: Blocks.optional() };
const flag = z.enum(["true", "false"]).optional();
const METHODS = {
  "auth.test": z.strictObject({}),
  "apps.connections.open": z.strictObject({}),
  "chat.postMessage": z.strictObject({
    channel: z.string().regex(/^[CDU#]/),
    ...message,
    thread_ts: z.string().optional(),
    reply_broadcast: flag,
    // Slack asks the addresses in a message for pictures and words: those of an agent are nobody's to open unasked.
    unfurl_links: z.literal("false"),
    unfurl_media: z.literal("false"),
  }),
  "chat.update": z.strictObject({ channel: z.string().regex(/^[CD]/), ts: z.string(), ...message }),
  "chat.postEphemeral": z.strictObject({
    channel: z.string(),
    user: z.string(),
    text: z.string().min(1).max(4_000),
    thread_ts: z.string().optional(),
  }),
  "views.open": z.strictObject({ trigger_id: z.string(), view: View }),
};
type Method = keyof typeof METHODS;

interface Kept {
  channel: string;
  ts: string;
  text: string;
  blocks: Block[];
  thread: string | undefined;
}

interface Delivered {
  type: string;
  payload: Record<string, unknown>;
}

/** The settings of a channel that uses the service at this address. */
export function slackSettings(base: string): SlackSettings {
  return {
    url: `${base}/api`,
    mode: "socket",
    channel: CHANNEL,
    mention: undefined,
    hasContext: true,
    readToken: () => BOT_TOKEN,
    readAppToken: () => APP_TOKEN,
    readSigningSecret: () => SIGNING_SECRET,
  };
}

/** Slack's Web API and Socket Mode by their published shapes and limits: it records whatever the real ones refuse. */
export class SlackServer implements Counterpart {
  readonly reach;
  readonly person = { slack: MIKA };
  channel;
  readonly messages = new Map<string, Kept>();
  readonly notes: Array<{ channel: string; user: string; text: string; thread: string | undefined }> = [];
  readonly views: Array<{ id: string; view: View }> = [];
  readonly traffic: LoopbackServer;
  readonly base: string;
  readonly settings: SlackSettings;
  /** The time from each delivery to its acknowledgement. */
  readonly acknowledgedMs: number[] = [];
  /** Bodies of acknowledgements that had one. */
  readonly acknowledgements: unknown[] = [];
  appToken = APP_TOKEN;
  botToken = BOT_TOKEN;
  /** The next so many requests that open connections meet the limit, which ends after these seconds. */
  connectionLimit = { times: 0, retryAfterS: 1 };
  /** When connections were asked for. */
  readonly connectionsAskedMs: number[] = [];
  /** Requests that open connections fail with this error. */
  connectionError: string | undefined;
  readonly sockets = new Set<WebSocket>();
  readonly #wss = new WebSocketServer({ noServer: true });
  readonly #open = new Map<string, (body: unknown) => void>();
  #waiting: Delivered[] = [];
  /** What was not acknowledged comes again: events by themselves, and buttons because people see an error. */
  #bringsAgain = false;
  #last: Delivered | undefined;
  #stamp = 1_700_000_000;
  #acts = 0;

  static async start(over: Partial<SlackSettings> = {}, { bringsAgain = false } = {}): Promise<SlackServer> {
    const server = new LoopbackServer();
    const slack = new SlackServer(server, await server.listen(), over);
    slack.#bringsAgain = bringsAgain;
    server.handle = (request, response) => slack.handle(request, response);
    return slack;
  }

  private constructor(server: LoopbackServer, base: string, over: Partial<SlackSettings>) {
    this.traffic = server;
    this.base = base;
    this.settings = { ...slackSettings(base), ...over };
    const isShared = this.settings.channel !== undefined;
    this.reach = { name: "slack", person: undefined, isPersonal: !isShared, isShared };
    this.channel = slackChannel(this.settings, OUTBOUND);
    server.onUpgrade((request, socket, head) =>
      this.#wss.handleUpgrade(request, socket, head, (client) => this.#greet(client)),
    );
  }

  shown(): ShownMessage[] {
    return [...this.messages.values()]
      .filter(({ thread, blocks }) => thread === undefined && blocks.length > 0)
      .map((kept) => ({ text: shownText(kept.blocks), buttons: this.#buttonsOf(kept) }));
  }

  responses(): string[] {
    return this.notes
      .filter(({ user, text }) => user === MIKA && !/^(Thank you|It is yours|Your answer is taken back)/.test(text))
      .map(({ text }) => text);
  }

  withBadToken() {
    return slackChannel({ ...this.settings, readToken: () => "xoxb-wrong" }, OUTBOUND);
  }

  deleteMessages(): void {
    this.messages.clear();
  }

  /** Writes into the thread of the last question. */
  async say(text: string, from = MIKA, more: Record<string, unknown> = {}): Promise<void> {
    const asked = [...this.messages.values()].findLast(
      ({ thread, blocks }) => thread === undefined && blocks.length > 0,
    );
    if (!asked) throw new Error("there is no message");
    const event = { type: "message", user: from, text: escape(text), ts: this.#nextStamp(), thread_ts: asked.ts };
    this.deliver("events_api", {
      token: "x",
      team_id: "T1",
      api_app_id: "A1",
      type: "event_callback",
      event_id: `Ev${this.#acts}`,
      event_time: 1,
      event: { ...event, ...more, channel: asked.channel, channel_type: "channel", event_ts: event.ts },
    });
    return Promise.resolve();
  }

  async command(text: string, from = MIKA, channel = CHANNEL): Promise<void> {
    this.deliver("slash_commands", {
      token: "x",
      team_id: "T1",
      channel_id: channel,
      channel_name: "agents",
      user_id: from,
      user_name: "mika",
      command: "/answer",
      text,
      response_url: `${this.base}/response`,
      trigger_id: this.#nextTrigger(),
    });
    return Promise.resolve();
  }

  async press(kept: Pick<Kept, "channel" | "ts">, action: Record<string, unknown>, from = MIKA): Promise<void> {
    this.deliver("interactive", {
      type: "block_actions",
      user: { id: from, username: "mika", name: "mika", team_id: "T1" },
      api_app_id: "A1",
      token: "x",
      team: { id: "T1", domain: "t" },
      channel: { id: kept.channel, name: "agents" },
      trigger_id: this.#nextTrigger(),
      response_url: `${this.base}/response`,
      is_enterprise_install: false,
      container: { type: "message", message_ts: kept.ts, channel_id: kept.channel, is_ephemeral: false },
      message: { ts: kept.ts },
      state: { values: {} },
      actions: [{ action_ts: this.#nextStamp(), ...action }],
    });
    return Promise.resolve();
  }

  /** Sends the last form that was opened, with these fields by block. */
  async submit(fields: Record<string, Record<string, unknown>>, from = MIKA): Promise<void> {
    const last = this.views.at(-1);
    if (!last) throw new Error("there is no form");
    const values = Object.fromEntries(Object.entries(fields).map(([id, field]) => [id, { field }]));
    this.deliver("interactive", {
      type: "view_submission",
      user: { id: from, username: "mika", name: "mika", team_id: "T1" },
      api_app_id: "A1",
      token: "x",
      team: { id: "T1", domain: "t" },
      trigger_id: this.#nextTrigger(),
      view: { ...last.view, id: last.id, hash: "1.a", state: { values } },
      response_urls: [],
    });
    return Promise.resolve();
  }

  async repeat(): Promise<void> {
    if (this.#last) this.#send(this.#last);
    return Promise.resolve();
  }

  async forge(): Promise<void> {
    const [kept] = this.messages.values();
    const actions = kept?.blocks.find((block) => block.type === "actions");
    if (!kept || actions?.type !== "actions") throw new Error("there is no button");
    const press = { type: "button", action_id: "choose:A", value: "A" };
    // Somebody else presses the button, somebody invents one, and somebody else replies.
    await this.press(kept, { ...press, block_id: actions.block_id }, "U0EVE");
    await this.press(kept, { ...press, block_id: `${actions.block_id?.slice(0, -2)}zz` });
    await this.say("A", "U0EVE");
  }

  /** Tells every connection that it is to be renewed. */
  refresh(reason = "refresh_requested"): void {
    for (const socket of this.sockets) {
      socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-1" } }));
    }
  }

  /** Loses every connection without a word. */
  drop(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  async close(): Promise<void> {
    this.drop();
    this.#wss.close();
    await this.traffic.close();
  }

  /** The last thing that was brought, for tests that bring it by another way. */
  get last(): Delivered | undefined {
    return this.#last;
  }

  /** Brings something to one of the connections, or to the first one that is opened. */
  deliver(type: string, payload: Record<string, unknown>): void {
    this.#last = { type, payload };
    this.#send(this.#last);
  }

  #send(delivered: Delivered) {
    const socket = [...this.sockets].findLast(({ readyState, OPEN }) => readyState === OPEN);
    if (!socket) {
      this.#waiting.push(delivered);
      return;
    }
    const id = randomUUID();
    const sentAt = performance.now();
    const timer = setTimeout(() => {
      if (this.sockets.has(socket)) this.traffic.problems.push(`${delivered.type}: not acknowledged in time`);
    }, ACKNOWLEDGE_MS);
    const lost = () => {
      clearTimeout(timer);
      if (this.#bringsAgain) this.#send(delivered);
    };
    socket.once("close", lost);
    this.#open.set(id, (body) => {
      clearTimeout(timer);
      socket.off("close", lost);
      this.acknowledgedMs.push(performance.now() - sentAt);
      if (body !== null && typeof body === "object" && Object.keys(body).length > 0) this.acknowledgements.push(body);
    });
    const isEvent = delivered.type === "events_api";
    const retry = isEvent ? { retry_attempt: 0, retry_reason: "" } : {};
    socket.send(JSON.stringify({ envelope_id: id, accepts_response_payload: !isEvent, ...retry, ...delivered }));
  }

  #greet(socket: WebSocket) {
    socket.setMaxListeners(0);
    const info = { app_id: "A1" };
    const debug = { host: "applink-1", build_number: 1, approximate_connection_time: 18_060 };
    const count = this.sockets.size + 1;
    socket.send(
      JSON.stringify({ type: "hello", num_connections: count, connection_info: info, debug_info: debug }),
      () => {
        this.sockets.add(socket);
        for (const delivered of this.#waiting.splice(0)) this.#send(delivered);
      },
    );
    const beat = setInterval(() => socket.ping("Ping from applink-1"), 5_000);
    socket.on("message", (raw: Buffer) => {
      const { envelope_id: id, payload } = z
        .strictObject({ envelope_id: z.string(), payload: z.unknown() })
        .parse(JSON.parse(raw.toString()));
      this.#open.get(id)?.(payload);
      this.#open.delete(id);
    });
    // A connection that is being closed gets nothing more.
    socket.on("close", () => {
      clearInterval(beat);
      this.sockets.delete(socket);
    });
  }

  handle(request: LoopbackRequest, response: ServerResponse): void {
    const method = request.url.pathname.replace(/^\/api\//, "");
    const refuse = (error: string) => sendJson(response, 200, { ok: false, error });
    const wrong = (why: string, error = "invalid_arguments") => {
      this.traffic.problems.push(`${method}: ${why}`);
      return refuse(error);
    };
    const isMessage = method === "chat.postMessage" || method === "chat.update";
    if (isMessage) this.traffic.count();
    if (!isMethod(method)) return refuse("unknown_method");
    if (!String(request.headers["content-type"]).startsWith("application/x-www-form-urlencoded")) {
      return wrong(`content-type ${request.headers["content-type"]}`);
    }
    const needed = method === "apps.connections.open" ? this.appToken : this.botToken;
    if (request.headers.authorization !== `Bearer ${needed}`) return refuse("invalid_auth");
    const args = argumentsOf(request.text);
    this.traffic.keep(JSON.stringify(args));
    const parsed = METHODS[method].safeParse(args);
    if (!parsed.success) return wrong(parsed.error.message, args["blocks"] ? "invalid_blocks" : "invalid_arguments");
    const failure = isMessage ? this.traffic.nextFailure() : undefined;
    if (failure) {
      const headers: Record<string, string> =
        failure.retryAfterS === undefined ? {} : { "retry-after": String(failure.retryAfterS) };
      return sendJson(response, failure.status, { ok: false, error: "ratelimited" }, headers);
    }
    if (method === "apps.connections.open") {
      this.connectionsAskedMs.push(performance.now());
      const { times, retryAfterS } = this.connectionLimit;
      this.connectionLimit.times -= 1;
      if (times > 0) {
        return sendJson(response, 429, { ok: false, error: "ratelimited" }, { "retry-after": String(retryAfterS) });
      }
    }
    return this.#reply(method, parsed.data, (body) => sendJson(response, 200, { ok: true, ...body }), refuse);
  }

  #reply(method: Method, args: unknown, reply: (body: object) => void, refuse: (error: string) => void): void {
    switch (method) {
      case "auth.test":
        return reply({ user: "askd", team: "Acme", user_id: "U0BOT", bot_id: "B1", team_id: "T1" });
      case "apps.connections.open":
        if (this.connectionError !== undefined) return refuse(this.connectionError);
        return reply({ url: `${this.base.replace("http", "ws")}/link/?ticket=${randomUUID()}&app_id=A1` });
      case "chat.postMessage": {
        const { channel: to, text, blocks = [], thread_ts: thread } = METHODS[method].parse(args);
        // A direct message has a channel of its own.
        const channel = to.startsWith("U") ? `D${to}` : to;
        const ts = this.#nextStamp();
        if (to.startsWith("U") && blocks.length === 0) this.notes.push({ channel, user: to, text, thread });
        this.messages.set(ts, { channel, ts, text, blocks, thread });
        return reply({ channel, ts, message: { text } });
      }
      case "chat.update": {
        const { ts, text, blocks = [] } = METHODS[method].parse(args);
        const known = this.messages.get(ts);
        if (!known) return refuse("message_not_found");
        this.messages.set(ts, { ...known, text, blocks });
        return reply({ channel: known.channel, ts, text });
      }
      case "chat.postEphemeral": {
        const { channel, user, text, thread_ts: thread } = METHODS[method].parse(args);
        if (channel === "C0OTHER") return refuse("channel_not_found");
        this.notes.push({ channel, user, text, thread });
        return reply({ message_ts: this.#nextStamp() });
      }
      default: {
        const { view, trigger_id: trigger } = METHODS["views.open"].parse(args);
        if (trigger.startsWith("old")) return refuse("expired_trigger_id");
        const id = `V${this.views.length + 1}`;
        this.views.push({ id, view });
        return reply({ view: { id, ...view } });
      }
    }
  }

  #buttonsOf(kept: Kept): ShownMessage["buttons"] {
    return kept.blocks.flatMap((block) => {
      if (block.type !== "actions") return [];
      const { block_id } = block;
      return block.elements.flatMap((element) => {
        const { type, action_id } = element;
        const act = { type, block_id, action_id };
        if (element.type === "button") {
          const { value, text } = element;
          return [{ label: text.text, press: () => this.press(kept, { ...act, value }) }];
        }
        return element.options.map((option) => ({
          label: option.text.text,
          press: () => this.press(kept, { ...act, selected_option: option }),
        }));
      });
    });
  }

  #nextStamp() {
    this.#stamp += 1;
    return `${this.#stamp}.000100`;
  }

  #nextTrigger() {
    this.#acts += 1;
    return `${this.#acts}.2.abc`;
  }
}

function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}

/** The arguments of a form; the structured ones are JSON inside of it. */
function argumentsOf(text: string): Record<string, unknown> {
  const pairs = [...new URLSearchParams(text)].map(([key, value]): [string, unknown] => [
    key,
    key === "blocks" || key === "view" ? JSON.parse(value) : value,
  ]);
  return Object.fromEntries(pairs);
}

function escape(text: string) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A card as people read it. */
function shownText(blocks: readonly Block[]): string {
  const texts = blocks.flatMap((block) => {
    if (block.type === "actions") return [];
    return block.type === "context" ? block.elements : [block.text];
  });
  return texts
    .map(({ text }) => text.replace(/<!date\^\d+\^[^|]*\|([^>]*)>/g, "$1").replace(/<(https?:[^|>]*)\|[^>]*>/g, "$1"))
    .join("\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
