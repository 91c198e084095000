import type { Seal } from "../../core/changes.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import type { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Rules } from "../../core/rules.ts";
import type { Stats, StatsQuery } from "../../core/stats/stats.ts";
import type { Store } from "../../store/store.ts";
import type { TrailEngine, Verified, VerifyOptions } from "../engine.ts";
import { sealTrail } from "../jobs/seal-job.ts";
import { countStats } from "../stats/count-stats.ts";
import { StatsCache } from "../stats/stats-cache.ts";
import { verify } from "./verify.ts";

interface TrailDeps {
  store: Store;
  rules: Rules;
  /** The store's time, which the store itself reported recently. */
  checkedNow: () => Promise<Instant>;
}

/** The audit trail of a store. */
export class Trail implements TrailEngine {
  readonly #deps: TrailDeps;
  readonly #store: Store;
  readonly #statsCache: StatsCache;

  constructor(deps: TrailDeps) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#statsCache = new StatsCache(deps.store);
  }

  async readChain(runId: RunId): Promise<KeptEvent[]> {
    return (await this.#store.readChain(runId)).events;
  }

  readFeed(cursor: string, limit: number): Promise<KeptEvent[]> {
    return this.#store.readFeed(cursor, limit);
  }

  findFeedEnd(): Promise<string> {
    return this.#store.findFeedEnd();
  }

  verify(options: VerifyOptions = {}): Promise<Verified> {
    return verify(this.#store, options);
  }

  async seal(): Promise<Seal | undefined> {
    return sealTrail(this.#store, await this.#deps.checkedNow());
  }

  stats(query: StatsQuery = {}): Promise<Stats> {
    return countStats(query, this.#store, this.#deps.rules, this.#statsCache);
  }
}
