import type { Context } from "hono";
import { viewEvent } from "../../core/api/reply.ts";
import { Cursor } from "../../core/api/run-route.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import { Refusal } from "../../core/refusal.ts";
import type { SignedIn } from "../credential.ts";
import { outgoingOf } from "../node-response.ts";
import { Slots } from "../slots.ts";
import { EventStream } from "./stream.ts";
import { type EventFeed, FeedTail } from "./tail.ts";

const RETRY_MS = 1_000;

export interface LiveDeps {
  feed: EventFeed;
  /** Readers at a time, and of one token. */
  mostStreams: number;
  mostStreamsPerToken: number;
  heartbeatMs: number;
  /** How often the token of a long stream is checked again. */
  recheckMs: number;
  stopping: AbortSignal;
  onBug: (error: unknown) => void;
}
const PAGE = 500;
const MOST_WAITING = 20_000;
const MOST_AT_ONCE = 64 * 1024;

interface Following {
  tail: FeedTail;
  feed: Pick<EventFeed, "read">;
  stream: EventStream;
  /** Where the reader was when it was last here; nothing starts with what happens from now on. */
  after: string | undefined;
  sees: (kept: KeptEvent) => boolean;
  /** The text of an event for this reader; undefined to skip it. */
  say: (kept: KeptEvent) => string | undefined | Promise<string | undefined>;
  onJoined: () => void;
}

/** Live events over HTTP: one tail of the feed, and a stream for each reader. */
export class LiveEvents {
  readonly #deps: LiveDeps;
  /** The end of the feed, read once for everybody in this process. */
  readonly tail: FeedTail;
  readonly #said = new WeakMap<KeptEvent, string>();
  readonly #slots: Slots;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
    this.#slots = new Slots({ total: deps.mostStreams, perOwner: deps.mostStreamsPerToken, called: "streams" });
    this.tail = new FeedTail(deps.feed, deps.onBug);
  }

  get streams(): number {
    return this.#slots.taken;
  }

  /** Replies a stream of what the reader sees, in the product's words or in those of `say`. */
  async reply(
    context: Context<SignedIn>,
    sees: Following["sees"],
    say: Following["say"] = (kept) => this.#say(kept),
  ): Promise<Response> {
    const after = readPlace(context);
    const stream = new EventStream(() => outgoingOf(context)?.destroy());
    this.#look(context, stream);
    stream.send(`retry: ${RETRY_MS}\n\n`);
    await this.#follow({ stream, after, sees, say });
    context.header("Content-Type", "text/event-stream");
    context.header("X-Accel-Buffering", "no"); // proxies must not collect what is to be seen at once
    return context.body(stream.body);
  }

  /** Resolves when no later event can be missed. */
  #follow(reading: Pick<Following, "stream" | "after" | "sees" | "say">): Promise<void> {
    return new Promise((resolve, reject) => {
      follow({ ...reading, tail: this.tail, feed: this.#deps.feed, onJoined: resolve }).catch((error: unknown) => {
        reading.stream.drop();
        reject(error);
        this.#deps.onBug(error);
      });
    });
  }

  /** Counts the stream, keeps it alive, and ends it with its token or with the server. */
  #look(context: Context<SignedIn>, stream: EventStream): void {
    const { heartbeatMs, recheckMs, stopping, onBug } = this.#deps;
    const isStillGood = context.get("isStillGood");
    const free = this.#slots.take(context.get("token").id);
    const heartbeat = setInterval(() => stream.send(":\n\n"), heartbeatMs);
    const recheck = setInterval(() => {
      isStillGood()
        .then((isGood) => isGood || stream.close())
        .catch(onBug); // a store that is away for a moment takes nobody's right away
    }, recheckMs);
    const stop = (): void => stream.close();
    stopping.addEventListener("abort", stop, { once: true });
    const leave = context.get("whenEnded")(stop);
    stream.ended.addEventListener(
      "abort",
      () => {
        free();
        leave();
        clearInterval(heartbeat);
        clearInterval(recheck);
        stopping.removeEventListener("abort", stop);
      },
      { once: true },
    );
    if (stopping.aborted) stop();
  }

  /** The same event is written out once, however many read it. */
  #say(kept: KeptEvent) {
    const known = this.#said.get(kept);
    if (known !== undefined) return known;
    const text = sayEvent(kept.cursor, kept.event.type, viewEvent(kept));
    this.#said.set(kept, text);
    return text;
  }
}

/** One event in the format of event streams; JSON has no line breaks of its own. */
export function sayEvent(id: string, name: string, value: unknown): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

function readPlace(context: Context) {
  const text = context.req.header("last-event-id") ?? context.req.query("after");
  if (text === undefined || text === "") return undefined;
  const parsed = Cursor.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", "Last-Event-ID is not the id of an event");
}

/** Sends a reader what it missed and then what happens, every event once and in order, until the stream ends. */
async function follow({ tail, feed, stream, after, sees, say, onJoined }: Following) {
  let waiting: KeptEvent[] = [];
  let wake: () => void = () => undefined;
  stream.ended.addEventListener("abort", () => wake(), { once: true });
  // Join first: events during the replay of the past are queued, and dropped where the replay had them too.
  const leave = await tail.join((events) => {
    for (const kept of events) if (sees(kept)) waiting.push(kept);
    if (waiting.length > MOST_WAITING) stream.drop();
    wake();
  });
  onJoined();
  const tell = async (kept: KeptEvent) => {
    const text = await say(kept);
    if (text !== undefined) stream.send(text);
  };
  // Events of one batch are written at once: a write for each event would cost more than the event.
  const tellAll = async (batch: readonly KeptEvent[]) => {
    let text = "";
    for (const kept of batch) {
      const said = say(kept);
      text += (typeof said === "string" ? said : await said) ?? "";
      if (text.length < MOST_AT_ONCE) continue;
      stream.send(text);
      text = "";
    }
    if (text !== "") stream.send(text);
  };
  try {
    for await (const page of pagesAfter(feed, after)) {
      if (stream.ended.aborted) return;
      const told = new Set(page.map(({ cursor }) => cursor));
      waiting = waiting.filter(({ cursor }) => !told.has(cursor));
      for (const kept of page) {
        if (!sees(kept)) continue;
        await tell(kept);
        await stream.room();
      }
    }
    while (!stream.ended.aborted) {
      const batch = waiting;
      waiting = [];
      await tellAll(batch);
      if (waiting.length > 0) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (stream.ended.aborted || waiting.length > 0) resolve();
      });
    }
  } finally {
    leave();
  }
}

async function* pagesAfter(feed: Pick<EventFeed, "read">, start: string | undefined): AsyncGenerator<KeptEvent[]> {
  let after = start;
  while (after !== undefined) {
    const page = await feed.read(after, PAGE);
    yield page;
    after = page.length === PAGE ? page.at(-1)?.cursor : undefined;
  }
}
