import { type Instant, MINUTE_MS, SECOND_MS } from "../../../core/instant.ts";
import type { Stats, StatsQuery } from "../../../core/stats/stats.ts";
import type { Engine } from "../../../engine/engine.ts";

const FRESH_MS = MINUTE_MS;
/** How long a request waits for new numbers while older ones exist, and while those are very old. */
const PATIENCE_MS = 50;
const OLD_MS = 10 * MINUTE_MS;
const PATIENCE_WITH_OLD_MS = SECOND_MS;
const MOST_KEPT = 64;

/** Statistics, and when they were computed. */
export interface Counted {
  stats: Stats;
  countedAt: Instant;
}
interface Kept extends Counted {
  atMs: number;
}

export interface StatsCacheDeps {
  engine: Pick<Engine, "stats" | "now">;
  onFailure: (error: unknown) => void;
  /** Monotonic clock. */
  nowMs?: () => number;
}

/** Computes each statistic at most once a minute, one at a time, and serves the previous result meanwhile. */
export class StatsCache {
  readonly #deps: Required<StatsCacheDeps>;
  readonly #kept = new Map<string, Kept>();
  readonly #counting = new Map<string, Promise<Kept>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: StatsCacheDeps) {
    this.#deps = { nowMs: () => performance.now(), ...deps };
  }

  async read(name: string, query: (now: Instant) => StatsQuery): Promise<Counted> {
    const kept = this.#kept.get(name);
    if (kept && this.#deps.nowMs() - kept.atMs < FRESH_MS) return kept;
    const counting = this.#counting.get(name) ?? this.#count(name, query);
    if (!kept) return counting;
    counting.catch(this.#deps.onFailure);
    const patienceMs = this.#deps.nowMs() - kept.atMs < OLD_MS ? PATIENCE_MS : PATIENCE_WITH_OLD_MS;
    return Promise.race([counting.catch(() => kept), after(patienceMs, kept)]);
  }

  #count(name: string, query: (now: Instant) => StatsQuery): Promise<Kept> {
    const work = async (): Promise<Kept> => {
      const countedAt = await this.#deps.engine.now();
      const stats = await this.#deps.engine.stats(query(countedAt));
      const kept = { stats, countedAt, atMs: this.#deps.nowMs() };
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      return kept;
    };
    const counting = this.#last.then(work, work).finally(() => this.#counting.delete(name));
    this.#last = counting.catch(() => undefined);
    this.#counting.set(name, counting);
    return counting;
  }
}

function after<Value>(ms: number, value: Value): Promise<Value> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
}
