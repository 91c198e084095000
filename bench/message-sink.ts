import type { ServerResponse } from "node:http";
import { type LoopbackRequest, LoopbackServer, sendJson } from "../test/channels/loopback-server.ts";
import type { HttpChannel } from "../test/proof/reach/reach-task.ts";

/** A request that carried a message. */
interface MessageRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Telegram, ntfy and a webhook in one: takes every message at once and remembers when it came. */
export class MessageSink {
  readonly requests: MessageRequest[] = [];
  readonly #times = new Map<string, number[]>();
  readonly #server = new LoopbackServer();
  #wake = (): void => undefined;
  #count = 0;
  url = "";

  static async start(): Promise<MessageSink> {
    const sink = new MessageSink();
    sink.#server.handle = (request, response) => sink.#take(request, response);
    sink.url = await sink.#server.listen();
    return sink;
  }

  /** When the messages with this mark came in a channel. */
  timesOf(channel: HttpChannel, mark: string): number[] {
    return this.#times.get(`${channel} ${mark}`) ?? [];
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  forget(): void {
    this.requests.length = 0;
    this.#times.clear();
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  #take({ method, url, headers, text, gone }: LoopbackRequest, response: ServerResponse): void {
    const call = /^\/bot[^/]+\/(\w+)$/.exec(url.pathname)?.[1];
    if (method === "GET" || call === "getUpdates") {
      // Nobody replies: a listener waits until it goes.
      if (method === "GET") response.writeHead(200).flushHeaders();
      gone.addEventListener("abort", () => response.destroy(), { once: true });
      return;
    }
    if (call === "deleteWebhook") return sendJson(response, 200, { ok: true, result: true });
    this.#remember(call !== undefined ? "telegram" : url.pathname === "/" ? "ntfy" : "webhook", text);
    const kept = Object.entries(headers).filter(([name]) => /^(content-type|authorization|webhook-)/.test(name));
    this.requests.push({
      path: url.pathname,
      headers: Object.fromEntries(kept.map(([k, v]) => [k, String(v)])),
      body: text,
    });
    const id = (this.#count += 1);
    if (call === undefined) return sendJson(response, 200, { id: `m${id}` });
    return sendJson(response, 200, { ok: true, result: { message_id: id, chat: { id: 77 } } });
  }

  #remember(channel: HttpChannel, text: string): void {
    const mark = /[DRM]\d+mark/.exec(text)?.[0] ?? "";
    const key = `${channel} ${mark}`;
    this.#times.set(key, [...(this.#times.get(key) ?? []), performance.now()]);
    this.#wake();
  }
}
