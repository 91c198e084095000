import { MINUTE_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";

const MOST_REMEMBERED = 10_000;

export interface RequestLimitOptions {
  perMinute: number;
  /** The name of the counted caller in a refusal. */
  caller: "This token" | "This link" | "This address";
  /** A clock that only goes forward. */
  nowMs: () => number;
}

/** Lets one caller make only so many requests a minute: a bucket that fills at that rate. */
export class RequestLimit {
  readonly #perMinute: number;
  readonly #caller: string;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor({ perMinute, caller, nowMs }: RequestLimitOptions) {
    this.#perMinute = perMinute;
    this.#caller = caller;
    this.#nowMs = nowMs;
  }

  count(key: string): void {
    const nowMs = this.#nowMs();
    const before = this.#buckets.get(key) ?? { left: this.#perMinute, atMs: nowMs };
    const filled = before.left + ((nowMs - before.atMs) / MINUTE_MS) * this.#perMinute;
    const left = Math.min(this.#perMinute, filled);
    if (left < 1) {
      const retryAfterMs = Math.ceil(((1 - left) / this.#perMinute) * MINUTE_MS);
      throw new Refusal("rate_limited", `${this.#caller} made more than ${this.#perMinute} requests within a minute`, {
        retryAfterMs,
        hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s`,
      });
    }
    this.#buckets.delete(key);
    this.#buckets.set(key, { left: left - 1, atMs: nowMs });
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > MOST_REMEMBERED && !oldest.done) this.#buckets.delete(oldest.value);
  }
}
