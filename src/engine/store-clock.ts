import { type Instant, MINUTE_MS, epochMs, instant } from "../core/instant.ts";

/** How long the store's last time is trusted; no caller waits for a round trip to the database meanwhile. */
const FRESH_MS = MINUTE_MS;

/** The store's time as this process knows it: the machine's clock, corrected by what the store last said. */
export class StoreClock {
  readonly #machineMs: () => number;
  readonly #askStore: () => Promise<Instant>;
  #aheadMs = 0;
  #saidAtMs = -Infinity;

  constructor(machineMs: () => number, askStore: () => Promise<Instant>) {
    this.#machineMs = machineMs;
    this.#askStore = askStore;
  }

  now(): Instant {
    return instant(this.#machineMs() + this.#aheadMs);
  }

  /** The same, by what the store said at most a minute ago. */
  async checked(): Promise<Instant> {
    const passedMs = this.#machineMs() - this.#saidAtMs;
    // Less than nothing has passed where somebody put the machine's clock back.
    if (passedMs < 0 || passedMs > FRESH_MS) this.sync(await this.#askStore());
    return this.now();
  }

  sync(storeNow: Instant): void {
    this.#saidAtMs = this.#machineMs();
    this.#aheadMs = epochMs(storeNow) - this.#saidAtMs;
  }
}
