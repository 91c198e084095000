import { Refusal } from "../core/refusal.ts";

const RETRY_MS = 1_000;

export interface SlotLimits {
  /** All of them together. */
  total: number;
  /** Those of one owner, such as a token. */
  perOwner: number;
  /** How they are called in a refusal, such as "streams". */
  called: string;
}

/** Limits how many of something are open at once, together and for each owner, so that no owner can take all of them. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #byOwner = new Map<string, number>();
  #taken = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes `count` slots, or refuses. The returned function frees them, once. */
  take(owner: string, count = 1): () => void {
    const own = this.#byOwner.get(owner) ?? 0;
    const { total, perOwner, called } = this.#limits;
    if (own + count > perOwner) throw tooMany(`You have ${own} ${called} open, and ${perOwner} are allowed`);
    if (this.#taken + count > total) throw tooMany(`${this.#taken} ${called} are open, and ${total} are allowed`);
    this.#taken += count;
    this.#byOwner.set(owner, own + count);
    let isFreed = false;
    return () => {
      if (isFreed) return;
      isFreed = true;
      this.#free(owner, count);
    };
  }

  #free(owner: string, count: number): void {
    const left = (this.#byOwner.get(owner) ?? 0) - count;
    this.#taken -= count;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }
}

function tooMany(message: string): Refusal {
  return new Refusal("too_many", message, { retryAfterMs: RETRY_MS, hint: "Close some, or try again in a moment" });
}
