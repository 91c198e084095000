import type { KeptEvent } from "../../core/trail/event.ts";
import type { TrailFilter } from "../../store/store.ts";

const PAGE = 500;
const LOOK_AGAIN_MS = 1_000;

/** The feed of all events, and a listener for its growth. */
export interface EventFeed {
  read(after: string, limit: number): Promise<KeptEvent[]>;
  /** Newest first. */
  readBack(filter: TrailFilter): Promise<KeptEvent[]>;
  findEnd(): Promise<string>;
  onChange(listener: () => void): () => void;
}

/** Receives events and the cursor before the first of them. */
type Reader = (events: readonly KeptEvent[], after: string) => void;

/** Reads the end of the feed once for all followers, and only while there are any. */
export class FeedTail {
  readonly #feed: EventFeed;
  readonly #onFailure: (error: unknown) => void;
  readonly #readers = new Set<Reader>();
  #cursor: string | undefined;
  #starting: Promise<void> | undefined;
  #isReading = false;
  #hasGrown = false;
  #stopListening: () => void = () => undefined;

  constructor(feed: EventFeed, onFailure: (error: unknown) => void) {
    this.#feed = feed;
    this.#onFailure = onFailure;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** The cursor of the last event sent to the readers. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Tells the reader all that the feed does not show yet when this resolves; the returned function ends it. */
  async join(reader: Reader): Promise<() => void> {
    this.#readers.add(reader);
    const leave = (): void => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#stop();
    };
    try {
      await (this.#starting ??= this.#start());
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  async #start() {
    const stopHearing = this.#feed.onChange(() => this.#look());
    // A feed may show an event a moment after the change signal, so it is also polled.
    const timer = setInterval(() => this.#look(), LOOK_AGAIN_MS).unref();
    this.#stopListening = () => {
      stopHearing();
      clearInterval(timer);
    };
    this.#cursor = await this.#feed.findEnd();
  }

  #stop(): void {
    this.#stopListening();
    this.#starting = undefined;
    this.#cursor = undefined;
  }

  #look(): void {
    this.#hasGrown = true;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readOn()
      .catch(this.#onFailure) // the next look reads from the same place
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #readOn() {
    while (this.#hasGrown && this.#cursor !== undefined) {
      this.#hasGrown = false;
      const from = this.#cursor;
      const page = await this.#feed.read(from, PAGE);
      // All readers may have left meanwhile, and another one joined.
      if (this.#cursor !== from) return;
      this.#cursor = page.at(-1)?.cursor ?? from;
      if (page.length > 0) for (const reader of this.#readers) reader(page, from);
      if (page.length === PAGE) this.#hasGrown = true;
    }
  }
}
