import type { StoreChange } from "../store.ts";
import { EVERYTHING } from "./listen.ts";

/** How often the end of the feed is looked at, where nothing can be listened to. */
const LOOK_MS = 500;

interface PollDeps {
  findEnd(): Promise<string>;
  tell(change: StoreChange): void;
}

/** Looks for commits of other nodes behind a pooler, which passes on no notifications. */
export class FeedPoll {
  readonly #deps: PollDeps;
  #timer: NodeJS.Timeout | undefined;
  #end: string | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: PollDeps) {
    this.#deps = deps;
  }

  /** Starts looking, if it does not already. */
  start(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, LOOK_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look() {
    // While the database is unavailable, commits report that.
    const end = await this.#deps.findEnd().catch(() => this.#end);
    if (end !== this.#end) this.#deps.tell(EVERYTHING);
    this.#end = end;
    this.#timer = undefined;
    this.start();
  }
}
