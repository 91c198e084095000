import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { z } from "zod";
import { ntfyChannel } from "../../src/channels/ntfy/ntfy.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, type LoopbackRequest, OUTBOUND, sendJson } from "./loopback-server.ts";

const TOPIC = "askd-q-9f3k";
const REPLY_TOPIC = "askd-a-7h2m";
/** Tokens and the topics that they may write and read: askd's own, and the one in the buttons. */
const TOKENS: Record<string, { writes: string[]; reads: string[] }> = {
  tk_askd: { writes: [TOPIC], reads: [TOPIC, REPLY_TOPIC] },
  tk_reader: { writes: [TOPIC], reads: [REPLY_TOPIC] },
  tk_sender: { writes: [TOPIC], reads: [] },
  tk_phone: { writes: [REPLY_TOPIC], reads: [TOPIC] },
};
const NOTHING = { writes: [], reads: [] };
const MESSAGE_BYTES = 4_096;

const Topic = z.string().regex(/^[-_A-Za-z0-9]{1,64}$/);
const Action = z.union([
  z.strictObject({ action: z.literal("view"), label: z.string().min(1), url: z.url() }),
  z.strictObject({
    action: z.literal("http"),
    label: z.string().min(1),
    url: z.url(),
    method: z.literal("POST"),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    clear: z.boolean(),
  }),
]);
const Publish = z.strictObject({
  topic: Topic,
  title: z.string().min(1).max(250).optional(),
  message: z.string().min(1),
  priority: z.int().min(1).max(5).optional(),
  tags: z.array(z.string()).optional(),
  click: z.url().optional(),
  actions: z.array(Action).max(3).optional(),
  sequence_id: z
    .string()
    .regex(/^[-_A-Za-z0-9]{1,64}$/)
    .optional(),
});
type Publish = z.infer<typeof Publish>;
type Kept = Publish & { id: string };

/** An ntfy server by its documents: JSON publish, the stream of a topic, poll, access tokens, limits. */
export class NtfyServer implements Counterpart {
  readonly reach = { name: "ntfy", person: "mika", isPersonal: false };
  readonly channel: Channel;
  readonly kept: Kept[] = [];
  readonly traffic: LoopbackServer;
  readonly #base: string;
  readonly #isOpen: boolean;
  readonly #streams = new Set<{ topic: string; response: ServerResponse }>();
  #lastAct: { headers: Record<string, string>; body: string } | undefined;
  /** It dies after the next message, before it replies, and stays away for so many requests. */
  #diesFor: number | undefined;
  #isAwayFor = 0;

  /** A server that is open has no tokens: whoever knows a topic may read and write it. */
  static async start({ isOpen = false } = {}): Promise<NtfyServer> {
    const server = new LoopbackServer();
    const ntfy = new NtfyServer(server, await server.listen(), isOpen);
    server.handle = (request, response) => (ntfy.#isAway() ? void response.destroy() : ntfy.handle(request, response));
    return ntfy;
  }

  private constructor(server: LoopbackServer, base: string, isOpen: boolean) {
    this.traffic = server;
    this.#base = base;
    this.#isOpen = isOpen;
    this.channel = this.#open("tk_askd");
  }

  #open(token: string | undefined): Channel {
    return ntfyChannel(
      {
        url: this.#base,
        topic: TOPIC,
        replyTopic: REPLY_TOPIC,
        readToken: () => token,
        readReplyToken: () => "tk_phone",
      },
      OUTBOUND,
    );
  }

  /** A phone shows the last message of each sequence. */
  shown(): ShownMessage[] {
    const last = new Map(
      this.kept.filter(({ sequence_id: id }) => id !== undefined).map((each) => [each.sequence_id, each]),
    );
    return [...last.values()].map(({ title = "", message, actions = [] }) => ({
      text: `${title}\n${message}`,
      buttons: actions.map((action) => ({
        label: action.label,
        press: () => (action.action === "http" ? this.#press(action) : Promise.resolve()),
      })),
    }));
  }

  responses(): string[] {
    return this.kept
      .filter(({ topic, sequence_id: id }) => topic === TOPIC && id === undefined)
      .map(({ message }) => message);
  }

  /** Keeps the next message, dies before it replies, and is away for so many requests after that. */
  dieAfterNext(requests: number): void {
    this.#diesFor = requests;
  }

  #isAway(): boolean {
    this.#isAwayFor -= 1;
    return this.#isAwayFor >= 0;
  }

  withBadToken(): Channel {
    return this.#open("tk_wrong");
  }

  /** The channel with a token of other rights, or without any. */
  withToken(token: string | undefined): Channel {
    return this.#open(token);
  }

  /** The phone sends the words of a person with the token of the message, as a button does. */
  async say(text: string): Promise<void> {
    const action = this.kept.flatMap(({ actions = [] }) => actions).findLast((each) => each.action === "http");
    if (action?.action !== "http") throw new Error("there is no button");
    await this.#press({ headers: action.headers, body: `${action.body.split(" ")[0] ?? ""} ${text}` });
  }

  async repeat(): Promise<void> {
    if (this.#lastAct) await this.#press(this.#lastAct);
  }

  async forge(): Promise<void> {
    const body = "d_0000000000000000000000000000 A";
    await fetch(`${this.#base}/${REPLY_TOPIC}`, {
      method: "POST",
      headers: { authorization: "Bearer tk_phone" },
      body,
    });
    await fetch(`${this.#base}/${REPLY_TOPIC}`, {
      method: "POST",
      headers: { authorization: "Bearer tk_phone" },
      body: "A",
    });
  }

  async close(): Promise<void> {
    await this.traffic.close();
  }

  get base(): string {
    return this.#base;
  }

  async #press(action: { url?: string; headers: Record<string, string>; body: string }) {
    this.#lastAct = action;
    const { url = `${this.#base}/${REPLY_TOPIC}`, headers, body } = action;
    const done = await fetch(url, { method: "POST", headers, body });
    if (done.status !== 200) this.traffic.problems.push(`the button got status ${done.status}`);
  }

  handle({ method, url, headers, text, gone }: LoopbackRequest, response: ServerResponse): void {
    const refuse = (status: number, code: number, error: string) =>
      sendJson(response, status, { code, http: status, error });
    const wrong = (error: string) => {
      this.traffic.problems.push(error);
      refuse(400, 40000, error);
    };
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    const may = this.#rightsOf(token);
    if (method === "POST" && url.pathname === "/") this.traffic.count();
    if (may === NOTHING) return refuse(401, 40101, "unauthorized");
    const [named = "", part] = url.pathname.split("/").filter((each) => each !== "");
    if (method === "GET" && part === "json") {
      if (may && !may.reads.includes(named)) return refuse(403, 40301, "forbidden");
      return this.#stream(named, url, gone, response);
    }
    if (method !== "POST") return refuse(404, 40401, "page not found");
    const parsed = named === "" ? Publish.safeParse(parseJson(text)) : undefined;
    if (parsed && !parsed.success) return wrong(parsed.error.message);
    const message: Publish = parsed?.data ?? { topic: named, message: text || "triggered" };
    if (may && !may.writes.includes(message.topic)) return refuse(403, 40301, "forbidden");
    if (Buffer.byteLength(message.message) > MESSAGE_BYTES) return wrong("the message became an attachment");
    if (!parsed || !this.#fails(text, response)) this.#publish(message, response);
  }

  /** An open server restricts nobody. */
  #rightsOf(token: string) {
    return TOKENS[token] ?? (this.#isOpen ? undefined : NOTHING);
  }

  #publish(message: Publish, response: ServerResponse) {
    const kept = { ...message, id: randomBytes(6).toString("hex") };
    this.kept.push(kept);
    for (const stream of this.#streams) if (stream.topic === message.topic) stream.response.write(lineOf(kept));
    if (this.#diesFor !== undefined) {
      this.#isAwayFor = this.#diesFor;
      this.#diesFor = undefined;
      response.destroy();
    } else sendJson(response, 200, { id: kept.id, time: 1, event: "message", ...message });
  }

  /** Keeps what was sent, and fails as planned. */
  #fails(text: string, response: ServerResponse): boolean {
    this.traffic.keep(text);
    const failure = this.traffic.nextFailure();
    if (!failure) return false;
    const after: Record<string, string> = {};
    if (failure.retryAfterS !== undefined) after["retry-after"] = String(failure.retryAfterS);
    sendJson(response, failure.status, { code: failure.status * 100, http: failure.status }, after);
    return true;
  }

  #stream(topic: string, url: URL, gone: AbortSignal, response: ServerResponse) {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const since = url.searchParams.get("since") ?? "";
    const all = this.kept.filter((message) => message.topic === topic);
    const known = all.findIndex(({ id }) => id === since);
    const old = known >= 0 ? all.slice(known + 1) : all;
    const isPoll = url.searchParams.has("poll");
    if (!isPoll) response.write(`${JSON.stringify({ id: "open", time: 1, event: "open", topic })}\n`);
    for (const message of old) response.write(lineOf(message));
    if (isPoll) {
      response.end();
      return;
    }
    const stream = { topic, response };
    this.#streams.add(stream);
    gone.addEventListener("abort", () => this.#streams.delete(stream), { once: true });
  }
}

function lineOf(message: Kept) {
  return `${JSON.stringify({ time: 1, event: "message", ...message })}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the schema
  }
}
