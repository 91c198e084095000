import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { SECOND_MS } from "../../core/instant.ts";

const BEAT_MS = 15 * SECOND_MS;
/** A comment, which every reader of events passes over. */
const BEAT = ": keepalive\n\n";

interface EventReply {
  status: number;
  headers: Record<string, string>;
  /** Written before them, if it is known by now. */
  first?: string | undefined;
  events: ReadableStream<Uint8Array>;
  /** Written after the last of them; a reply that breaks off ends without it. */
  findLast?: () => string | undefined;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Writes replies that are streams of events to their connections. The way by which a request came in ends at once,
 * so that of a held call nothing of it is kept, and one clock beats for all.
 */
export class Streams {
  readonly #open = new Set<ServerResponse>();
  readonly #beatMs: number;
  #clock: NodeJS.Timeout | undefined;

  constructor(beatMs: number = BEAT_MS) {
    this.#beatMs = beatMs;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Writes events as they come. */
  reply(outgoing: ServerResponse, { status, headers, first, events, findLast }: EventReply): Response {
    if (outgoing.destroyed) {
      void events.cancel().catch(() => undefined); // whoever would read them has left
      return RESPONSE_ALREADY_SENT;
    }
    outgoing.writeHead(status, headers);
    if (first !== undefined) outgoing.write(first);
    outgoing.once("close", () => this.#leave(outgoing));
    this.#open.add(outgoing);
    this.#clock ??= setInterval(() => this.#beat(), this.#beatMs).unref();
    this.#pump(events.getReader(), outgoing, findLast);
    // A result that is ready is sent with the headers; a client that has to wait sees the stream begin.
    setImmediate(() => {
      if (this.#open.has(outgoing)) outgoing.flushHeaders();
    });
    return RESPONSE_ALREADY_SENT;
  }

  #leave(outgoing: ServerResponse): void {
    if (!this.#open.delete(outgoing) || this.#open.size > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #pump(reader: Reader, outgoing: ServerResponse, findLast: EventReply["findLast"]): void {
    const end = (last?: string): void => {
      this.#leave(outgoing);
      if (!outgoing.destroyed) outgoing.end(last);
    };
    const flow = ({ done, value }: Awaited<ReturnType<Reader["read"]>>): void => {
      if (done || outgoing.destroyed) end(findLast?.());
      else if (outgoing.write(value)) read();
      else outgoing.once("drain", read);
    };
    const read = (): void => void reader.read().then(flow, () => end());
    read();
  }

  #beat(): void {
    for (const outgoing of this.#open) if (!outgoing.writableNeedDrain) outgoing.write(BEAT);
  }
}
