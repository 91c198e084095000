import { ntfyChannel } from "../../../src/channels/ntfy/ntfy.ts";
import type { Outbound } from "../../../src/channels/outbound.ts";
import { telegramChannel } from "../../../src/channels/telegram/telegram.ts";
import type { OpenChannel } from "../../../src/core/channel/channel.ts";
import type { Store } from "../../../src/store/store.ts";
import { overriding } from "../overriding.ts";

const BASE = "http://service.invalid";
const AT_ONCE = 100;

/** A message as the service took it: the data of its buttons, and how it names the message. */
export interface TakenMessage {
  text: string;
  message: number;
  buttons: string[];
}

/**
 * The services of Telegram and ntfy without a network: they take messages, and bring whatever they are told to, in that
 * order and as often as they are told. The channels that read it are the real ones.
 */
export class InboundService {
  readonly telegram = new Map<number, TakenMessage>();
  readonly ntfy: TakenMessage[] = [];
  responses = 0;
  #count = 0;

  /** The channels of one process, with what it is brought. */
  open(queues: { updates: unknown[]; lines: string[] }): OpenChannel {
    const outbound: Outbound = {
      post: () => Promise.reject(new Error("nothing is posted")),
      fetch: (url, init) => this.#fetch(new Request(url).url, init, queues),
      run: () => Promise.reject(new Error("nothing is run")),
      nowMs: Date.now,
    };
    const telegram = telegramChannel({ url: BASE, readToken: () => "1:token" }, outbound);
    const ntfy = ntfyChannel(
      { url: BASE, topic: "questions", replyTopic: "replies", readToken: () => "t", readReplyToken: () => "r" },
      outbound,
    );
    return (name) => Promise.resolve(name === "telegram" ? telegram : ntfy);
  }

  async #fetch(
    url: string,
    init: RequestInit | undefined,
    queues: { updates: unknown[]; lines: string[] },
  ): Promise<Response> {
    const { pathname } = new URL(url);
    const method = /^\/bot[^/]+\/(\w+)$/.exec(pathname)?.[1];
    const signal = init?.signal ?? undefined;
    if (pathname === "/replies/json") return bringLines(queues.lines, signal);
    const sent = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>; // JSON of the channel
    if (method === undefined) return Response.json({ id: this.#takeNtfy(sent) });
    if (method === "getUpdates") return Response.json({ ok: true, result: await nextUpdates(queues.updates, signal) });
    if (method === "answerCallbackQuery") this.responses += 1;
    if (method !== "sendMessage") return Response.json({ ok: true, result: true });
    return Response.json({ ok: true, result: this.#takeTelegram(sent) });
  }

  #takeTelegram(sent: Record<string, unknown>) {
    const message = (this.#count += 1);
    if (sent["reply_parameters"] === undefined) {
      const buttons = [...JSON.stringify(sent).matchAll(/"callback_data":"([^"]+)"/g)].map(([, data = ""]) => data);
      this.telegram.set(message, { text: String(sent["text"]), message, buttons });
    } else this.responses += 1;
    return { message_id: message, chat: { id: Number(sent["chat_id"]) } };
  }

  #takeNtfy(sent: Record<string, unknown>) {
    const message = (this.#count += 1);
    if (sent["sequence_id"] === undefined) this.responses += 1;
    const buttons = [...JSON.stringify(sent["actions"] ?? []).matchAll(/"body":"([^"]+)"/g)].map(
      ([, data = ""]) => data,
    );
    if (buttons.length > 0) this.ntfy.push({ text: String(sent["title"]), message, buttons });
    return `m${message}`;
  }
}

/** The next updates, as soon as there are any; none when the listener goes. */
async function nextUpdates(updates: unknown[], signal: AbortSignal | undefined): Promise<unknown[]> {
  while (updates.length === 0 && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
  return updates.splice(0, AT_ONCE);
}

/** A stream that brings lines as they come, until the listener goes. */
function bringLines(lines: string[], signal: AbortSignal | undefined): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (lines.length === 0 && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
        if (signal?.aborted) return controller.close();
        controller.enqueue(encoder.encode(lines.splice(0, AT_ONCE).join("")));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: 200 });
}

/** An update of Telegram that says that somebody pressed a button. */
export function tapUpdate(id: number, from: number, data: string): Record<string, unknown> {
  return { update_id: id, callback_query: { id: `tap${id}`, from: { id: from }, data } };
}

/** An update of Telegram that says that somebody replied to a message. */
export function replyUpdate(
  id: number,
  {
    from,
    chat = from,
    type = "private",
    to,
    text,
  }: { from: number; chat?: number; type?: string; to: number; text: string },
): Record<string, unknown> {
  const message = { message_id: 5_000_000 + id, from: { id: from }, chat: { id: chat, type }, text };
  return { update_id: id, message: { ...message, reply_to_message: { message_id: to } } };
}

/** A line of the stream of an ntfy topic. */
export function ntfyLine(id: string, message: string): string {
  return `${JSON.stringify({ id, time: 1, event: "message", topic: "replies", message })}\n`;
}

/** The same store for a second process that believes that it alone listens, as one does that was asleep. */
export function asOtherListener(store: Store): Store {
  const own = (id: string) => `${id} of another`;
  return overriding(store, {
    findEntry: (kind, id) => store.findEntry(kind, kind === "listener" ? own(id) : id),
    commit: (changes) =>
      store.commit(
        changes.entries?.some(({ kind }) => kind === "listener")
          ? { ...changes, entries: changes.entries.map((entry) => ({ ...entry, id: own(entry.id) })) }
          : changes,
      ),
    close: async () => undefined,
  });
}
