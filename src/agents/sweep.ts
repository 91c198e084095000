import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { RunId } from "../core/id.ts";
import { hasEnded } from "../core/run.ts";
import type { Store } from "../store/store.ts";
import { forgetLaunch, hasLaunch, runDirOf } from "./run-files.ts";

/**
 * Takes away what may hold a secret of runs that have ended: their last worker may have died before it could do so,
 * and a run that was cancelled before its start never had one. What this store does not know is left alone.
 */
export async function sweepRuns(stateDir: string, store: Pick<Store, "findRun">): Promise<void> {
  for (const name of await readdir(join(stateDir, "runs")).catch(() => [])) {
    const id = RunId.safeParse(name);
    if (!id.success || !(await hasLaunch(runDirOf(stateDir, id.data)))) continue;
    const run = await store.findRun(id.data);
    if (run && hasEnded(run) && run.worker === undefined) await forgetLaunch(runDirOf(stateDir, id.data));
  }
}
