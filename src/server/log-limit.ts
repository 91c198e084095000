import { MINUTE_MS } from "../core/instant.ts";

/** Limits log lines a minute; the next line says how many were left out. */
export class LogLimit {
  readonly #perMinute: number;
  readonly #nowMs: () => number;
  #sinceMs = -Infinity;
  #written = 0;
  #leftOut = 0;

  constructor(perMinute: number, nowMs: () => number) {
    this.#perMinute = perMinute;
    this.#nowMs = nowMs;
  }

  /** Calls `write` if there is room; `leftOut` is undefined where nothing was left out. */
  count(write: (leftOut: number | undefined) => void): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs >= MINUTE_MS) {
      this.#sinceMs = nowMs;
      this.#written = 0;
    }
    if (this.#written >= this.#perMinute) {
      this.#leftOut += 1;
      return;
    }
    this.#written += 1;
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    write(leftOut);
  }
}
