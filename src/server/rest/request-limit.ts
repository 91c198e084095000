import { MINUTE_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";

const MOST_REMEMBERED = 10_000;

/** Lets one token make only so many requests a minute: a bucket that fills at that rate. */
export class RequestLimit {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  count(tokenId: string, nowMs: number): void {
    const before = this.#buckets.get(tokenId) ?? { left: this.#perMinute, atMs: nowMs };
    const filled = before.left + ((nowMs - before.atMs) / MINUTE_MS) * this.#perMinute;
    const left = Math.min(this.#perMinute, filled);
    if (left < 1) {
      const retryAfterMs = Math.ceil(((1 - left) / this.#perMinute) * MINUTE_MS);
      throw new Refusal("rate_limited", `This token made more than ${this.#perMinute} requests within a minute`, {
        retryAfterMs,
        hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s`,
      });
    }
    this.#buckets.delete(tokenId);
    this.#buckets.set(tokenId, { left: left - 1, atMs: nowMs });
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > MOST_REMEMBERED && !oldest.done) this.#buckets.delete(oldest.value);
  }
}
