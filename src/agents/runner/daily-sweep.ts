import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { RunId } from "../../core/id.ts";
import { DAY_MS, type Instant, msBetween } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { markLaunchDeleted, mayDeleteLaunch } from "../../core/run/run-lifecycle.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import { removeOldTrees } from "./old-tree.ts";
import { deleteLaunch, hasLaunch, runDirOf } from "./run-files.ts";

type SweepContext = Pick<JobContext, "store" | "decider">;

/** Deletes what old runs left on this machine: when a worker starts, and once a day while it works. */
export class DailySweep {
  readonly #stateDir: string;
  readonly #work: SweepContext;
  #sweptAt: Instant | undefined;

  constructor(stateDir: string, work: SweepContext) {
    this.#stateDir = stateDir;
    this.#work = work;
  }

  /** Sweeps if the last time was a day ago. */
  async beat(now: Instant): Promise<void> {
    if (this.#sweptAt !== undefined && msBetween(this.#sweptAt, now) < DAY_MS) return;
    this.#sweptAt = now;
    await Promise.all([deleteOldLaunches(this.#stateDir, this.#work), removeOldTrees(this.#stateDir, this.#work)]);
  }
}

/**
 * Deletes the launch records of runs that can no longer be resumed: cancelled ones, and those that ended long ago. Runs
 * unknown to this store are left alone.
 */
export async function deleteOldLaunches(
  stateDir: string,
  { store, decider }: Pick<JobContext, "store" | "decider">,
): Promise<void> {
  for (const name of await readdir(join(stateDir, "runs")).catch(() => [])) {
    const id = RunId.safeParse(name);
    if (!id.success || !(await hasLaunch(runDirOf(stateDir, id.data)))) continue;
    const run = await store.findRun(id.data);
    if (!run || !mayDeleteLaunch(run, await store.now())) continue;
    // The row first: a resume is then refused instead of promised.
    const left = await decider.changeRun(id.data, SYSTEM, markLaunchDeleted);
    if (left.isForgotten) await deleteLaunch(runDirOf(stateDir, id.data));
  }
}
