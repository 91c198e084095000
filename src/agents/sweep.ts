import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { SYSTEM } from "../core/people/actor.ts";
import { RunId } from "../core/id.ts";
import { forgetRun, mayForget } from "../core/run/run-lifecycle.ts";
import type { Work } from "../engine/jobs/worker.ts";
import { forgetLaunch, hasLaunch, runDirOf } from "./runner/run-files.ts";

/**
 * Takes away what may hold a secret of runs that nothing can take up any more: those that were cancelled, and those that
 * ended long ago. What this store does not know is left alone.
 */
export async function sweepRuns(stateDir: string, { store, decider }: Pick<Work, "store" | "decider">): Promise<void> {
  for (const name of await readdir(join(stateDir, "runs")).catch(() => [])) {
    const id = RunId.safeParse(name);
    if (!id.success || !(await hasLaunch(runDirOf(stateDir, id.data)))) continue;
    const run = await store.findRun(id.data);
    if (!run || !mayForget(run, await store.now())) continue;
    // First the row: whoever wants to resume the run is refused, not promised what cannot be.
    const left = await decider.changeRun(id.data, SYSTEM, forgetRun);
    if (left.isForgotten) await forgetLaunch(runDirOf(stateDir, id.data));
  }
}
