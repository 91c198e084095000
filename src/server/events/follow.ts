import type { KeptEvent } from "../../core/trail/event.ts";
import type { EventStream } from "./stream.ts";
import type { EventFeed, FeedTail } from "./tail.ts";

const PAGE = 500;
const MOST_WAITING = 20_000;
const MOST_AT_ONCE = 64 * 1024;

export interface Following {
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

/** Sends a reader what it missed and then what happens, every event once and in order, until the stream ends. */
export async function follow({ tail, feed, stream, after, sees, say, onJoined }: Following): Promise<void> {
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
  const tell = async (kept: KeptEvent): Promise<void> => {
    const text = await say(kept);
    if (text !== undefined) stream.send(text);
  };
  // Events of one batch are written at once: a write for each event would cost more than the event.
  const tellAll = async (batch: readonly KeptEvent[]): Promise<void> => {
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
