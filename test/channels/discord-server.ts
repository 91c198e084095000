import type { ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { chatChannel } from "../../src/channels/chat/chat.ts";
import type { ChatSettings } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND, sendJson } from "./loopback-server.ts";

export const DISCORD_TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
export const MIKA = "4200";
const EVE = "6600";
const BOT = { id: "1000", username: "askd", discriminator: "0", global_name: null, avatar: null, bot: true };
const GUILD = "100";
const CHANNEL = "500";
/** Discord shows an error to the person after this time. */
const ACKNOWLEDGE_MS = 3_000;
const INTENTS = 1 | 512 | 32_768 | 4_096; // servers, their messages with their text, and direct messages
const COMPONENTS_FLAG = 32_768;
const MOST_COMPONENTS = 40;
const MOST_TEXT = 4_000;

const Button = z.strictObject({
  type: z.literal(2),
  style: z.int().min(1).max(4),
  label: z.string().min(1).max(80),
  custom_id: z.string().min(1).max(100),
});
const Row = z.strictObject({ type: z.literal(1), components: z.array(Button).min(1).max(5) });
const Text = z.strictObject({ type: z.literal(10), content: z.string().min(1) });
const Container = z.strictObject({
  type: z.literal(17),
  accent_color: z.int().min(0).max(0xff_ff_ff),
  components: z.array(z.discriminatedUnion("type", [Row, Text])).min(1),
});
const Posted = z.strictObject({ flags: z.literal(COMPONENTS_FLAG), components: z.array(Container).min(1).max(10) });
/** A message of components has neither text nor embeds beside them. */
const Edited = Posted.extend({ content: z.null().optional(), embeds: z.array(z.never()).optional() });
type Components = z.infer<typeof Posted>["components"];

interface Kept {
  id: string;
  channel: string;
  components: Components;
}

/**
 * Discord's REST API and Gateway by their published shapes and limits: it records whatever the real ones refuse.
 */
export class DiscordServer implements Counterpart {
  readonly reach;
  readonly person = { chat: MIKA };
  channel;
  readonly traffic: LoopbackServer;
  readonly base: string;
  readonly settings: ChatSettings;
  readonly messages = new Map<string, Kept>();
  readonly sockets = new Set<WebSocket>();
  token = DISCORD_TOKEN;
  /** People who take no direct messages of bots. */
  readonly closed = new Set<string>();
  /** The code with which connections are refused. */
  refusal: number | undefined;
  threads = 0;
  readonly #wss = new WebSocketServer({ noServer: true });
  readonly #waiting: object[] = [];
  readonly #acknowledging = new Map<string, { timer: NodeJS.Timeout; socket: WebSocket; event: object }>();
  #last: object | undefined;
  #id = 9_000;
  #sequence = 0;

  static async start(over: Partial<ChatSettings> = {}): Promise<DiscordServer> {
    const server = new LoopbackServer();
    const discord = new DiscordServer(server, await server.listen(), over);
    server.handle = (request, response) => discord.#handle(request, response);
    return discord;
  }

  private constructor(server: LoopbackServer, base: string, over: Partial<ChatSettings>) {
    this.traffic = server;
    this.base = base;
    this.settings = {
      platform: "discord",
      mode: "connection",
      channel: `${GUILD}/${CHANNEL}`,
      hasContext: true,
      url: `${base}/api/v10`,
      appId: BOT.id,
      publicKey: undefined,
      tenantId: undefined,
      readToken: () => DISCORD_TOKEN,
      readSecret: () => "",
      ...over,
    };
    const isShared = this.settings.channel !== undefined;
    this.reach = { name: "chat", person: undefined, isPersonal: !isShared, isShared };
    this.channel = chatChannel(this.settings, OUTBOUND);
    server.onUpgrade((request, socket, head) =>
      this.#wss.handleUpgrade(request, socket, head, (client) => this.#greet(client)),
    );
  }

  withBadToken() {
    return chatChannel({ ...this.settings, readToken: () => "wrong" }, OUTBOUND);
  }

  /** Messages about questions, as people see them. */
  shown(): ShownMessage[] {
    const asked = [...this.messages.values()].filter((kept) => kept.channel === CHANNEL || this.#isAsked(kept));
    return asked
      .filter((kept) => !textOf(kept.components).includes("Reminder "))
      .map((kept) => ({
        text: textOf(kept.components),
        buttons: buttonsOf(kept.components).map(({ label, custom_id: id }) => ({
          label,
          press: () => this.press(kept, id),
        })),
      }));
  }

  #isAsked({ components }: Kept) {
    return this.reach.isPersonal && /#\u2060?\d|Answered|Cancelled/.test(textOf(components));
  }

  responses(): string[] {
    const direct = [...this.messages.values()].filter(({ channel }) => channel === directOf(MIKA));
    return direct.map(({ components }) => textOf(components)).filter((text) => !text.includes("Reminder "));
  }

  async press(kept: Kept, customId: string, user = MIKA): Promise<void> {
    const id = this.#nextId();
    this.#deliver("INTERACTION_CREATE", {
      id,
      application_id: BOT.id,
      type: 3,
      token: `interaction-${id}`,
      version: 1,
      ...placeOf(kept.channel),
      channel: { id: kept.channel, type: kept.channel === CHANNEL ? 0 : 1 },
      ...(kept.channel === CHANNEL ? { member: memberOf(user) } : { user: userOf(user) }),
      message: this.#messageView(kept),
      data: { custom_id: customId, component_type: 2, id: 1 },
      locale: "en-US",
      entitlements: [],
      authorizing_integration_owners: {},
      app_permissions: "0",
    });
    return Promise.resolve();
  }

  /** Replies to the last question, as people do: the reply mentions the bot. */
  async say(text: string, user = MIKA, { isReply = true } = {}): Promise<void> {
    const asked = [...this.messages.values()].findLast(
      ({ channel, components }) => channel === CHANNEL && !/Reminder |--chat/.test(textOf(components)),
    );
    const id = this.#nextId();
    const place = isReply ? placeOf(asked?.channel ?? CHANNEL) : placeOf(directOf(user));
    this.#deliver("MESSAGE_CREATE", {
      id,
      ...place,
      author: userOf(user),
      ...(place.guild_id !== undefined && { member: memberOf(user) }),
      content: text,
      channel_type: place.guild_id === undefined ? 1 : 0,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: isReply ? [BOT] : [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      type: isReply ? 19 : 0,
      ...(isReply && { message_reference: { type: 0, message_id: asked?.id, ...place } }),
    });
    return Promise.resolve();
  }

  async repeat(): Promise<void> {
    if (this.#last) this.#send(this.#last);
    return Promise.resolve();
  }

  async forge(): Promise<void> {
    const [kept] = this.messages.values();
    const [button] = kept ? buttonsOf(kept.components) : [];
    if (!kept || !button) throw new Error("there is no button");
    // Somebody else presses the button, somebody invents one, and somebody else replies.
    await this.press(kept, button.custom_id, EVE);
    await this.press(kept, `zz${button.custom_id.slice(2)}`);
    await this.say("A", EVE);
    await this.say("A", MIKA, { isReply: false });
  }

  deleteMessages(): void {
    this.messages.clear();
  }

  /** Ends every connection with this code. */
  drop(code: number): void {
    for (const socket of this.sockets) socket.close(code);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#acknowledging.values()) clearTimeout(timer);
    this.#acknowledging.clear();
    for (const socket of this.sockets) socket.terminate();
    this.#wss.close();
    await this.traffic.close();
  }

  #deliver(type: string, data: object) {
    this.#last = { t: type, d: data };
    this.#send(this.#last);
  }

  #send(event: object) {
    const socket = [...this.sockets].findLast(({ readyState, OPEN }) => readyState === OPEN);
    if (socket) this.#dispatch(socket, event);
    else this.#waiting.push(event);
  }

  #dispatch(socket: WebSocket, event: object) {
    const { t, d } = event as { t: string; d: { id: string } };
    if (t === "INTERACTION_CREATE") {
      const late = () => void this.traffic.problems.push(`interaction ${d.id}: not acknowledged in time`);
      this.#acknowledging.set(d.id, { timer: setTimeout(late, ACKNOWLEDGE_MS), socket, event });
    }
    socket.send(JSON.stringify({ op: 0, s: (this.#sequence += 1), ...event }));
  }

  #greet(socket: WebSocket) {
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 41_250 } }));
    socket.on("close", () => {
      this.sockets.delete(socket);
      this.#pressAgain(socket);
    });
    socket.on("message", (raw: Buffer) => {
      const { op, d } = z.looseObject({ op: z.int(), d: z.unknown() }).parse(JSON.parse(raw.toString()));
      if (op === 1) return socket.send(JSON.stringify({ op: 11 }));
      if (op === 2) this.#identify(socket, d);
      if (op === 6) this.#resume(socket, d);
    });
  }

  /** A person who pressed a button while the connection ended sees an error, and presses again. */
  #pressAgain(lost: WebSocket) {
    for (const [id, { timer, socket, event }] of this.#acknowledging) {
      if (socket !== lost) continue;
      clearTimeout(timer);
      this.#acknowledging.delete(id);
      this.#send(event);
    }
  }

  #identify(socket: WebSocket, identity: unknown) {
    const { token, intents } = z.looseObject({ token: z.string(), intents: z.int() }).parse(identity);
    if (token !== this.token) return socket.close(4_004, "Authentication failed.");
    if (this.refusal !== undefined) return socket.close(this.refusal);
    if ((intents & INTENTS) !== INTENTS) this.traffic.problems.push(`intents ${intents} do not bring replies`);
    const dispatch = (t: string, d: object) => this.#dispatch(socket, { t, d });
    dispatch("READY", {
      v: 10,
      user: BOT,
      guilds: [{ id: GUILD, unavailable: true }],
      session_id: "s1",
      resume_gateway_url: `${this.base.replace("http", "ws")}/gateway`,
      shard: [0, 1],
      application: { id: BOT.id, flags: 0 },
    });
    const channel = { id: CHANNEL, type: 0, name: "agents", position: 0, permission_overwrites: [], guild_id: GUILD };
    dispatch("GUILD_CREATE", {
      id: GUILD,
      name: "Acme",
      owner_id: MIKA,
      roles: [],
      emojis: [],
      stickers: [],
      features: [],
      members: [],
      channels: [channel],
      threads: [],
      presences: [],
      voice_states: [],
      stage_instances: [],
      guild_scheduled_events: [],
      member_count: 2,
      large: false,
      unavailable: false,
    });
    this.#begin(socket);
  }

  #resume(socket: WebSocket, session: unknown) {
    const { token } = z.looseObject({ token: z.string(), session_id: z.literal("s1") }).parse(session);
    if (token !== this.token) return socket.close(4_004, "Authentication failed.");
    this.#dispatch(socket, { t: "RESUMED", d: {} });
    this.#begin(socket);
  }

  /** From here on the connection gets what happens, and what has happened since the last one. */
  #begin(socket: WebSocket) {
    this.sockets.add(socket);
    for (const event of this.#waiting.splice(0)) this.#dispatch(socket, event);
  }

  #handle({ method, url, headers, text }: LoopbackRequest, response: ServerResponse): void {
    const path = url.pathname.replace(/^\/api\/v10/, "");
    const [, interaction] = /^\/interactions\/(\d+)\/[\w-]+\/callback$/.exec(path) ?? [];
    if (interaction !== undefined) {
      clearTimeout(this.#acknowledging.get(interaction)?.timer);
      this.#acknowledging.delete(interaction);
      response.writeHead(204).end();
      return;
    }
    if (headers.authorization !== `Bot ${this.token}`) return sendJson(response, 401, problem("401: Unauthorized", 0));
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const [, channel, id] = /^\/channels\/(\w+)\/messages(?:\/(\d+))?$/.exec(path) ?? [];
    if (channel !== undefined) return this.#message({ method, channel, id, body, text }, response);
    switch (`${method} ${path.replace(/\d+/g, "0")}`) {
      case "GET /users/@me":
        return sendJson(response, 200, BOT);
      case "GET /gateway/bot": {
        const limit = { total: 1_000, remaining: 999, reset_after: 0, max_concurrency: 1 };
        const gateway = `${this.base.replace("http", "ws")}/gateway`;
        return sendJson(response, 200, { url: gateway, shards: 1, session_start_limit: limit });
      }
      case "POST /users/@me/channels": {
        const { recipient_id: user } = z.strictObject({ recipient_id: z.string().regex(/^\d+$/) }).parse(body);
        return sendJson(response, 200, { id: directOf(user), type: 1, recipients: [userOf(user)] });
      }
      case "POST /channels/0/typing":
        response.writeHead(204).end();
        return;
      default:
        if (path.endsWith("/threads")) this.threads += 1;
        this.traffic.problems.push(`not answered here: ${method} ${path}`);
        return sendJson(response, 404, problem("404: Not Found", 0));
    }
  }

  #message(
    { method, channel, id, body, text }: { method: string; channel: string; id?: string; body: unknown; text: string },
    response: ServerResponse,
  ): void {
    this.traffic.count();
    this.traffic.keep(text);
    const failure = this.traffic.nextFailure();
    if (failure) {
      const { retryAfterS } = failure;
      const limit = retryAfterS === undefined ? {} : { retry_after: retryAfterS, global: false };
      return sendJson(response, failure.status, { ...problem("planned", 0), ...limit });
    }
    const known = id === undefined ? undefined : this.messages.get(id);
    if (id !== undefined && !known) return sendJson(response, 404, problem("Unknown Message", 10_008));
    if ([...this.closed].some((user) => directOf(user) === channel)) {
      return sendJson(response, 403, problem("Cannot send messages to this user", 50_007));
    }
    const parsed = (method === "PATCH" ? Edited : Posted).safeParse(body);
    const wrong = parsed.success ? findWrong(parsed.data.components) : parsed.error.message;
    if (!parsed.success || wrong !== undefined) {
      this.traffic.problems.push(`${method} message: ${wrong}`);
      return sendJson(response, 400, problem("Invalid Form Body", 50_035));
    }
    const kept = { id: id ?? this.#nextId(), channel, components: parsed.data.components };
    this.messages.set(kept.id, kept);
    sendJson(response, 200, this.#messageView(kept));
  }

  #messageView({ id, channel, components }: Kept) {
    return {
      id,
      ...placeOf(channel),
      author: BOT,
      content: "",
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      type: 0,
      flags: COMPONENTS_FLAG,
      components,
    };
  }

  #nextId() {
    return String((this.#id += 1));
  }
}

function placeOf(channel: string): { channel_id: string; guild_id?: string } {
  return channel === CHANNEL ? { channel_id: channel, guild_id: GUILD } : { channel_id: channel };
}

function directOf(user: string) {
  return `77${user}`;
}

function userOf(id: string) {
  return { id, username: `user${id}`, discriminator: "0", global_name: "Mika", avatar: null };
}

function memberOf(id: string) {
  const joined = new Date(0).toISOString();
  return { user: userOf(id), roles: [], joined_at: joined, deaf: false, mute: false, flags: 0, permissions: "0" };
}

function problem(message: string, code: number) {
  return { message, code };
}

/** The limits of a message as a whole. */
function findWrong(components: Components): string | undefined {
  const inner = components.flatMap((container) => container.components);
  const buttons = buttonsOf(components);
  const count = components.length + inner.length + buttons.length;
  if (count > MOST_COMPONENTS) return `${count} components`;
  const { length } = textOf(components);
  if (length > MOST_TEXT) return `${length} characters`;
  const ids = new Set(buttons.map(({ custom_id: id }) => id));
  return ids.size < buttons.length ? "a custom_id is there twice" : undefined;
}

function textOf(components: Components): string {
  const inner = components.flatMap((container) => container.components);
  return inner.flatMap((each) => (each.type === 10 ? [each.content] : [])).join("\n");
}

function buttonsOf(components: Components) {
  const inner = components.flatMap((container) => container.components);
  return inner.flatMap((each) => (each.type === 1 ? each.components : []));
}
