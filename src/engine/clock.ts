import { type Instant, epochMs, instant } from "../core/instant.ts";

/** The store's time as this process knows it: the machine's clock, corrected by what the store last said. */
export class StoreClock {
  readonly #machineMs: () => number;
  #aheadMs = 0;

  constructor(machineMs: () => number) {
    this.#machineMs = machineMs;
  }

  now(): Instant {
    return instant(this.#machineMs() + this.#aheadMs);
  }

  sync(storeNow: Instant): void {
    this.#aheadMs = epochMs(storeNow) - this.#machineMs();
  }
}
