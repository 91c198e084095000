import type { ServerResponse } from "node:http";
import { z } from "zod";
import { chatChannel } from "../../src/channels/chat/chat.ts";
import type { Channel, InboundBatch, InboundHook } from "../../src/core/channel/channel.ts";
import type { ChatSettings } from "../../src/core/channel/channel-settings.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND, sendJson } from "./loopback-server.ts";

export const MIKA = "29:1mika";
const EVE = "29:1eve";
const CHANNEL = "19:agents@thread.tacv2";
const APP = "11111111-2222-3333-4444-555555555555";
const SIGNED = "Bearer signed-by-microsoft";
/** Larger messages are refused. */
const MOST_BYTES = 28 * 1024;

/** A token has to look like one: the library reads when it ends. */
const OURS = tokenOf("ours");
const STRANGE = tokenOf("strange");

const Text = z.looseObject({ type: z.literal("TextBlock"), text: z.string().min(1), wrap: z.literal(true) });
const Submit = z.looseObject({
  type: z.literal("Action.Submit"),
  title: z.string().min(1).max(80),
  data: z.strictObject({ actionId: z.string(), value: z.string() }),
});
const Card = z.looseObject({
  type: z.literal("AdaptiveCard"),
  version: z.literal("1.5"),
  body: z.array(Text).min(1),
  actions: z.array(Submit).max(6).optional(),
});
const Activity = z.looseObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({ contentType: z.literal("application/vnd.microsoft.card.adaptive"), content: Card }),
  ]),
});

interface Kept {
  id: string;
  conversation: string;
  card: z.infer<typeof Card>;
}

/** The connector of Teams by its published shapes and limits; it posts what people do to the address of the bot. */
export class TeamsServer implements Counterpart {
  readonly reach = { name: "chat", person: undefined, isPersonal: false, isShared: true };
  readonly person = { chat: MIKA };
  channel: Channel;
  readonly traffic: LoopbackServer;
  readonly base: string;
  readonly settings: ChatSettings;
  readonly messages = new Map<string, Kept>();
  readonly #requests: InboundHook[] = [];
  #wake = (): void => undefined;
  #last: object | undefined;
  #id = 1_700_000_000_000;

  static async start(over: Partial<ChatSettings> = {}): Promise<TeamsServer> {
    // Microsoft's library says on the console that it checks no signatures; here the service does.
    process.env["LOG_LEVEL"] = "error";
    const server = new LoopbackServer();
    const teams = new TeamsServer(server, await server.listen(), over);
    server.handle = (request, response) => teams.#handle(request, response);
    return teams;
  }

  private constructor(server: LoopbackServer, base: string, over: Partial<ChatSettings>) {
    this.traffic = server;
    this.base = base;
    this.settings = {
      platform: "teams",
      mode: "http",
      channel: CHANNEL,
      hasContext: true,
      url: base,
      appId: APP,
      publicKey: undefined,
      tenantId: "66666666-7777-8888-9999-000000000000",
      readToken: () => "secret",
      readSecret: () => "",
      // Microsoft's own pages give tokens and keys; here the service itself does.
      adapterOptions: {
        token: () => Promise.resolve(OURS),
        webhookVerifier: (request: Request) => request.headers.get("authorization") === SIGNED,
      },
      ...over,
    };
    this.channel = this.#listening(chatChannel(this.settings, OUTBOUND));
  }

  /** Brings the requests of the service to the channel as a server does, once somebody listens. */
  #listening(channel: Channel): Channel {
    const requests = this.#requests;
    const wait = () => new Promise<void>((resolve) => (this.#wake = resolve));
    async function* listen(_cursor: string | undefined, signal: AbortSignal): AsyncIterable<InboundBatch> {
      yield { cursor: "none", replies: [], pairings: [] };
      for (;;) {
        const hook = requests.shift();
        const batch = hook && (await channel.readHook?.(hook));
        if (batch) yield { cursor: "none", replies: batch.replies, pairings: [] };
        if (signal.aborted) return;
        if (requests.length === 0) await Promise.race([wait(), aborted(signal)]);
      }
    }
    return { ...channel, listen };
  }

  withBadToken(): Channel {
    const adapterOptions = { ...this.settings.adapterOptions, token: () => Promise.resolve(STRANGE) };
    return chatChannel({ ...this.settings, adapterOptions }, OUTBOUND);
  }

  shown(): ShownMessage[] {
    const asked = [...this.messages.values()].filter(({ conversation }) => conversation === CHANNEL);
    return asked
      .filter(({ card }) => !textOf(card).includes("Reminder "))
      .map((kept) => ({
        text: textOf(kept.card),
        buttons: (kept.card.actions ?? []).map(({ title, data }) => ({
          label: title,
          press: () => this.press(kept, data),
        })),
      }));
  }

  responses(): string[] {
    const direct = [...this.messages.values()].filter(({ conversation }) => conversation === directOf(MIKA));
    return direct.map(({ card }) => textOf(card));
  }

  press({ id, conversation }: Pick<Kept, "id" | "conversation">, value: object, user = MIKA): Promise<void> {
    return this.#act({ type: "message", replyToId: id, value }, `${conversation};messageid=${id}`, user);
  }

  /** Replies below the last question; in a channel the bot only hears what mentions it. */
  say(text: string, user = MIKA): Promise<void> {
    const asked = [...this.messages.values()].findLast(
      ({ conversation, card }) => conversation === CHANNEL && !textOf(card).includes("Reminder "),
    );
    const mention = { type: "mention", text: "<at>askd</at>", mentioned: { id: `28:${APP}`, name: "askd" } };
    const said = { type: "message", text: `<at>askd</at> ${text}`, entities: [mention] };
    return this.#act(said, `${CHANNEL};messageid=${asked?.id}`, user);
  }

  async repeat(): Promise<void> {
    if (this.#last) this.#post(this.#last, SIGNED);
    return Promise.resolve();
  }

  async forge(): Promise<void> {
    const [kept] = this.messages.values();
    const data = kept?.card.actions?.[0]?.data;
    if (!kept || !data) throw new Error("there is no button");
    // Somebody else presses the button, somebody invents one, somebody else replies, and Microsoft did not sign it.
    await this.press(kept, data, EVE);
    await this.press(kept, { ...data, actionId: `zz${data.actionId.slice(2)}` });
    await this.say("A", EVE);
    await this.press(kept, data);
    this.#requests.pop();
    if (this.#last) this.#post(this.#last, "Bearer signed-by-nobody");
  }

  deleteMessages(): void {
    this.messages.clear();
  }

  close(): Promise<void> {
    return this.traffic.close();
  }

  #act(activity: object, conversation: string, user: string): Promise<void> {
    this.#last = {
      ...activity,
      id: String((this.#id += 1)),
      channelId: "msteams",
      serviceUrl: this.base,
      timestamp: new Date().toISOString(),
      from: { id: user, name: user === MIKA ? "Mika" : "Eve", aadObjectId: `aad-${user}` },
      recipient: { id: `28:${APP}`, name: "askd" },
      conversation: { id: conversation, isGroup: true, conversationType: "channel", tenantId: this.settings.tenantId },
      channelData: { tenant: { id: this.settings.tenantId }, team: { id: "19:team" }, channel: { id: CHANNEL } },
    };
    this.#post(this.#last, SIGNED);
    return Promise.resolve();
  }

  #post(activity: object, authorization: string) {
    const headers: Record<string, string> = { authorization, "content-type": "application/json" };
    this.#requests.push({ body: JSON.stringify(activity), header: (name) => headers[name] });
    this.#wake();
  }

  #handle({ method, url, headers, text }: LoopbackRequest, response: ServerResponse): void {
    const refuse = (status: number, code: string, more: Record<string, string> = {}) =>
      sendJson(response, status, { error: { code, message: code } }, more);
    if (headers.authorization !== `Bearer ${OURS}`) return refuse(401, "Unauthorized");
    const path = decodeURIComponent(url.pathname);
    const [, conversation, id] = /^\/v3\/conversations\/([^/]+)\/activities(?:\/([^/]+))?$/.exec(path) ?? [];
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    if (method === "POST" && path === "/v3/conversations") {
      const Opening = z.looseObject({ members: z.tuple([z.looseObject({ id: z.string() })]), tenantId: z.string() });
      return sendJson(response, 201, { id: directOf(Opening.parse(body).members[0].id) });
    }
    if (/\/members\/[^/]+$/.test(path)) return sendJson(response, 200, { id: MIKA, name: "Mika" });
    if (conversation === undefined) {
      this.traffic.problems.push(`not answered here: ${method} ${path}`);
      return refuse(404, "NotFound");
    }
    if (z.looseObject({ type: z.literal("typing") }).safeParse(body).success) {
      return sendJson(response, 201, { id: "typing" });
    }
    this.traffic.count();
    this.traffic.keep(text);
    const failure = this.traffic.nextFailure();
    if (failure) {
      const { status, retryAfterS } = failure;
      return refuse(status, "Planned", retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) });
    }
    if (Buffer.byteLength(text) > MOST_BYTES) {
      this.traffic.problems.push(`${Buffer.byteLength(text)} bytes`);
      return refuse(413, "MessageSizeTooBig");
    }
    if (method === "PUT" && !this.messages.has(id ?? "")) return refuse(404, "ActivityNotFoundInConversation");
    const parsed = Activity.safeParse(body);
    if (!parsed.success) {
      this.traffic.problems.push(`${method} ${path}: ${parsed.error.message}`);
      return refuse(400, "BadSyntax");
    }
    const [{ content: card }] = parsed.data.attachments;
    const [place = ""] = conversation.split(";messageid=");
    const kept = { id: id ?? String((this.#id += 1)), conversation: place, card };
    this.messages.set(kept.id, kept);
    return sendJson(response, method === "PUT" ? 200 : 201, { id: kept.id });
  }
}

function directOf(user: string) {
  return `a:1${user.slice(3)}`;
}

function textOf({ body }: z.infer<typeof Card>) {
  return body.map(({ text }) => text).join("\n");
}

function tokenOf(name: string) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return [part({ alg: "none" }), part({ appid: APP, name, exp: 4_000_000_000 }), "x"].join(".");
}

function aborted(signal: AbortSignal) {
  return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
