import { randomBytes } from "node:crypto";
import { idsFrom } from "../../src/core/id.ts";
import { StoreClock } from "../../src/engine/clock.ts";
import { jobHandlers } from "../../src/engine/jobs.ts";
import { LocalEngine } from "../../src/engine/local.ts";
import type { Store } from "../../src/store/store.ts";
import { ROOMY } from "../scene.ts";

/** An engine as a process of its own would have it: this machine's clock, random ids. */
export function liveEngine(store: Store): LocalEngine {
  const clock = new StoreClock(Date.now);
  const ids = idsFrom(Date.now, randomBytes);
  return new LocalEngine({
    store,
    ids,
    rules: ROOMY,
    now: () => clock.now(),
    worker: {
      id: ids.worker(),
      host: "here",
      agents: [],
      handlers: jobHandlers({ post: { allowLoopback: true } }),
      syncClock: (now) => clock.sync(now),
      onFailure: (job, error) => {
        throw new Error(`job ${job.key} failed`, { cause: error });
      },
    },
  });
}
