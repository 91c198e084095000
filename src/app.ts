import { randomBytes as systemRandom } from "node:crypto";
import { hostname } from "node:os";
import { type Ids, idsFrom, pooled } from "./core/id.ts";
import type { Rules } from "./core/rules.ts";
import { StoreClock } from "./engine/clock.ts";
import type { Engine } from "./engine/engine.ts";
import { jobHandlers } from "./engine/jobs.ts";
import { LocalEngine } from "./engine/local.ts";
import type { WorkerDeps } from "./engine/worker.ts";
import type { Store } from "./store/store.ts";

export interface AppOptions {
  store: { kind: "sqlite"; file: string } | { kind: "postgres"; url: string };
  rules: Rules;
}

/** Opens the store and puts an engine on it. */
export async function openEngine({ store, rules }: AppOptions): Promise<Engine> {
  return engineOn(await openStore(store), { rules });
}

export interface EngineOptions {
  rules: Rules;
  /** This machine's clock and source of randomness; tests bring their own. */
  nowMs?: () => number;
  randomBytes?: (count: number) => Uint8Array;
  ids?: Ids;
  /** Hears of jobs that failed. They keep how often that was and are tried again. */
  onFailure?: WorkerDeps["onFailure"];
}

/** Puts an engine on a store, with everything that it needs to do what falls due. */
export function engineOn(store: Store, options: EngineOptions): LocalEngine {
  const { rules, nowMs = Date.now, randomBytes = pooled(systemRandom) } = options;
  const clock = new StoreClock(nowMs);
  const ids = options.ids ?? idsFrom(nowMs, randomBytes);
  return new LocalEngine({
    store,
    ids,
    rules,
    randomBytes,
    now: () => clock.now(),
    worker: {
      id: ids.worker(),
      host: hostname(),
      agents: [],
      handlers: jobHandlers({ post: { allowLoopback: rules.callbackLoopback } }),
      syncClock: (now) => clock.sync(now),
      onFailure: options.onFailure ?? (() => undefined),
    },
  });
}

/** Only the library of the store that is used gets loaded. */
async function openStore(place: AppOptions["store"]): Promise<Store> {
  if (place.kind === "sqlite") return (await import("./store/sqlite.ts")).openSqliteStore(place.file);
  return (await import("./store/postgres.ts")).openPostgres({ url: place.url });
}
