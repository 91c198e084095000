import { setTimeout } from "node:timers/promises";

/** A write that would wait longer is refused, and comes back at a time of its own: nobody gives it up for lost. */
const LONGEST_WAIT_MS = 10_000;

/** Lets writes through one after another, with a pause between them, as GitHub asks of programs. */
export class WritePace {
  readonly #gapMs: number;
  readonly #nowMs: () => number;
  #freeAtMs = 0;
  #promisedAtMs = 0;

  constructor(gapMs: number, nowMs: () => number) {
    this.#gapMs = gapMs;
    this.#nowMs = nowMs;
  }

  /** Waits for the turn of a write; a number is the time after which it is to be tried again. */
  async waitForTurn(signal?: AbortSignal): Promise<number | undefined> {
    const nowMs = this.#nowMs();
    const turnMs = Math.max(nowMs, this.#freeAtMs);
    if (turnMs - nowMs > LONGEST_WAIT_MS) {
      this.#promisedAtMs = Math.max(this.#promisedAtMs, turnMs) + this.#gapMs;
      return this.#promisedAtMs - nowMs;
    }
    this.#freeAtMs = turnMs + this.#gapMs;
    if (turnMs > nowMs) await setTimeout(turnMs - nowMs, undefined, { signal });
    return undefined;
  }
}
