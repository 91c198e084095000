import type { ServerResponse } from "node:http";
import type { QuestionId } from "../../core/id.ts";
import { BackgroundWork } from "./background-work.ts";
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

/** Requests under way with their replies, until each reply is out or its caller has left. */
export class Exchanges {
  readonly #open = new Set<Exchange>();
  /** Calls of the older era by session and request, as such a client cancels by a request of its own. */
  readonly #byName = new Map<string, Exchange>();
  readonly #work: BackgroundWork;
  readonly #claims = new CallClaims();
  #isClosing = false;

  constructor(onBug: (error: unknown) => void) {
    this.#work = new BackgroundWork(onBug);
  }

  /** Begins one whose reply goes out there; without a connection its caller leaves by the signal. */
  begin(outgoing: ServerResponse | undefined, left: AbortSignal, name?: string): Exchange {
    const exchange = new Exchange(this, { outgoing, name });
    this.#open.add(exchange);
    if (name !== undefined) this.#byName.set(name, exchange);
    if (this.#isClosing) exchange.leave();
    if (outgoing) outgoing.once("close", () => this.#end(exchange, outgoing.writableFinished));
    else left.addEventListener("abort", () => this.#end(exchange, false), { once: true });
    return exchange;
  }

  /** Ends the call that has this question, where there is one: its client has come back by another connection. */
  async replace(id: QuestionId): Promise<void> {
    const before = this.#claims.ownerOf(id);
    if (!(before instanceof Exchange)) return;
    before.leave();
    await before.settled();
    this.#claims.release(before);
  }

  /** The caller of this one wants no reply any more. */
  cancel(name: string): void {
    this.#byName.get(name)?.leave();
  }

  /** Hears of a call, so that nobody leaves before what it wrote is written. */
  readonly track = (call: Promise<unknown>): void => this.#work.track(call);

  /** Does what comes after a reply. */
  finish(done: () => Promise<void>): void {
    this.#work.afterwards(done);
  }

  claim(id: QuestionId, exchange: Exchange): boolean {
    return this.#claims.take(id, exchange);
  }

  release(exchange: Exchange): void {
    this.#claims.release(exchange);
  }

  /** Lets everybody go who is held, and waits for what is written then. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const exchange of this.#open) exchange.leave();
    await this.#work.done();
  }

  #end(exchange: Exchange, isOut: boolean): void {
    const { name } = exchange;
    this.#open.delete(exchange);
    if (name !== undefined && this.#byName.get(name) === exchange) this.#byName.delete(name);
    exchange.end(isOut);
  }
}

/** One request and its reply. There may be very many, so nothing else of the request hangs on it. */
export class Exchange {
  readonly name: string | undefined;
  readonly #all: Exchanges;
  readonly #outgoing: ServerResponse | undefined;
  #call: Promise<unknown> | undefined;
  /** Text to write before anything else. */
  #first: string | undefined;
  #isResumable = false;
  readonly #gone = new AbortController();
  readonly #afterwards: Array<() => Promise<void>> = [];

  constructor(all: Exchanges, { outgoing, name }: { outgoing: ServerResponse | undefined; name: string | undefined }) {
    this.#all = all;
    this.#outgoing = outgoing;
    this.name = name;
  }

  readonly track = (call: Promise<unknown>): void => {
    this.#call = call;
    this.#all.track(call);
  };

  /** Comes back when the call is over, however it ended. */
  async settled(): Promise<void> {
    await this.#call?.catch(() => undefined); // who called hears of its failure
  }

  /** Writes the event that makes the reply resumable, as soon as its stream has begun. */
  writeFirst(event: string): void {
    this.#isResumable = true;
    if (this.#outgoing?.headersSent) this.#outgoing.write(event);
    else this.#first = event;
  }

  /** Text that was to be written before the stream began. */
  takeFirst(): string | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }

  get isResumable(): boolean {
    return this.#isResumable;
  }

  /** Aborts when the caller has left or is to be let go. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  leave(): void {
    this.#gone.abort();
  }

  /** Does something once the reply is out; without a connection it is out when this turn of the loop is over. */
  readonly afterReply = (_requestId: string | number, done: () => Promise<void>): void => {
    if (this.#outgoing) this.#afterwards.push(done);
    else setImmediate(() => this.#all.finish(done));
  };

  /** Takes a question for this one; it is let go once what comes after the reply is done. */
  readonly claim = (_requestId: string | number, id: QuestionId): boolean => this.#all.claim(id, this);

  end(isOut: boolean): void {
    if (!isOut) this.leave();
    const afterwards = isOut ? this.#afterwards.splice(0) : [];
    if (afterwards.length === 0) this.#all.release(this);
    for (const done of afterwards) this.#all.finish(() => done().finally(() => this.#all.release(this)));
  }
}

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

/** Which call has which question, as long as calls are under way. Each has one at most. */
export class CallClaims {
  readonly #owners = new Map<QuestionId, unknown>();
  readonly #questions = new Map<unknown, QuestionId>();

  /** Gives the question to this call, unless another has it. */
  take(id: QuestionId, owner: unknown): boolean {
    if ((this.#owners.get(id) ?? owner) !== owner) return false;
    this.release(owner);
    this.#owners.set(id, owner);
    this.#questions.set(owner, id);
    return true;
  }

  release(owner: unknown): void {
    const id = this.#questions.get(owner);
    if (id === undefined) return;
    this.#questions.delete(owner);
    this.#owners.delete(id);
  }

  /** The call that has it. */
  ownerOf(id: QuestionId): unknown {
    return this.#owners.get(id);
  }
}
