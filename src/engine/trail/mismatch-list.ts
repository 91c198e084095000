import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";

/** More than anybody reads; a store in which everything differs would fill the memory. */
const MOST_KEPT = 1_000;

/** The flaws found so far: the first of them, and how many more. */
export class MismatchList {
  readonly #flaws: TrailMismatch[] = [];
  #more = 0;

  add(...flaws: readonly TrailMismatch[]): void {
    for (const flaw of flaws) {
      if (this.#flaws.length < MOST_KEPT) this.#flaws.push(flaw);
      else this.#more += 1;
    }
  }

  all(): readonly TrailMismatch[] {
    return this.#more === 0 ? this.#flaws : [...this.#flaws, { is: "more", count: this.#more }];
  }
}
