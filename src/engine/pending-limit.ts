import { Refusal } from "../core/refusal.ts";
import type { Store } from "../store/store.ts";

const FRESH_MS = 1_000;

/** Keeps the number of waiting questions within its limit. */
export class PendingLimit {
  readonly #store: Pick<Store, "countQuestions">;
  readonly #limit: number;
  #pending = { count: 0, readAtMs: -Infinity };
  #reading: Promise<void> | undefined;

  constructor(store: Pick<Store, "countQuestions">, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /** Refuses when too many wait. The count may be a second old, but a refusal rests on a fresh one. */
  async require(): Promise<void> {
    const isFresh = performance.now() - this.#pending.readAtMs < FRESH_MS;
    // Many ask at once, and one count serves them all.
    if (!isFresh || this.#pending.count >= this.#limit) await (this.#reading ??= this.#read());
    if (this.#pending.count >= this.#limit) {
      throw new Refusal(
        "too_many",
        `${this.#limit} questions are waiting already; no more are accepted until some are answered`,
        { hint: "Answer or cancel some: askd list --awaiting", fact: { is: "full", count: this.#limit } },
      );
    }
    this.#pending.count += 1;
  }

  async #read(): Promise<void> {
    try {
      this.#pending = { count: await this.#store.countQuestions("pending"), readAtMs: performance.now() };
    } finally {
      this.#reading = undefined;
    }
  }
}
