import type { KeptEvent } from "../../core/trail/event.ts";
import type { FeedTail } from "./tail.ts";

const ENDS: ReadonlySet<KeptEvent["event"]["type"]> = new Set(["token.revoked", "token.expired"]);

/** Ends what is open under a token as soon as that token is revoked or expires, in whatever process that happens. */
export class EndedTokens {
  readonly #open = new Map<string, Set<() => void>>();

  /** Follows the feed from now on; the returned function ends it. */
  start(tail: FeedTail): Promise<() => void> {
    return tail.join((events) => this.take(events));
  }

  /** Calls `end` once if the token ends; the returned function takes it back. */
  watch(tokenId: string, end: () => void): () => void {
    const ends = this.#open.get(tokenId) ?? new Set();
    ends.add(end);
    this.#open.set(tokenId, ends);
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#open.get(tokenId) === ends) this.#open.delete(tokenId);
    };
  }

  /** The same, with one more look at the token: it may have ended after it was let in and before this. */
  watchClosely(tokenId: string, isStillGood: () => Promise<boolean>, end: () => void): () => void {
    const leave = this.watch(tokenId, end);
    isStillGood().then(
      (isGood) => isGood || end(),
      () => undefined, // a store that is away for a moment takes nobody's right away
    );
    return leave;
  }

  take(events: readonly KeptEvent[]): void {
    if (this.#open.size === 0) return;
    for (const { event } of events) {
      const id = event.detail?.["id"];
      if (!ENDS.has(event.type) || typeof id !== "string") continue;
      const ends = this.#open.get(id);
      this.#open.delete(id);
      for (const end of ends ?? []) end();
    }
  }
}
