import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { idsFrom } from "./core/id.ts";
import type { Rules } from "./core/rules.ts";
import { StoreClock } from "./engine/clock.ts";
import type { Engine } from "./engine/engine.ts";
import { jobHandlers } from "./engine/jobs.ts";
import { LocalEngine } from "./engine/local.ts";
import type { Store } from "./store/store.ts";

export interface AppOptions {
  store: { kind: "sqlite"; file: string } | { kind: "postgres"; url: string };
  rules: Rules;
}

/** Opens the store and puts an engine on it. */
export async function openEngine({ store: place, rules }: AppOptions): Promise<Engine> {
  const store = await openStore(place);
  const clock = new StoreClock(Date.now);
  const ids = idsFrom(Date.now, randomBytes);
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
      handlers: jobHandlers({ post: { allowLoopback: false } }),
      syncClock: (now) => clock.sync(now),
      // The job keeps how often it failed and is tried again; there is no log yet that could say more.
      onFailure: () => undefined,
    },
  });
}

/** Only the library of the store that is used gets loaded. */
async function openStore(place: AppOptions["store"]): Promise<Store> {
  if (place.kind === "sqlite") return (await import("./store/sqlite.ts")).openSqliteStore(place.file);
  return (await import("./store/postgres.ts")).openPostgres({ url: place.url });
}
