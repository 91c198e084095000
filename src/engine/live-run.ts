import { RunId } from "../core/id.ts";
import { hasEnded } from "../core/run/run.ts";
import type { Engine } from "./engine.ts";

/**
 * The first of these runs whose agent may be alive: one that has not ended, or whose worker still follows its processes.
 * After that nobody of the run is left, and what it once started, a terminal for one, is a person's by now.
 */
export async function findLiveRun(
  engine: Pick<Engine, "findRun">,
  names: readonly string[],
): Promise<RunId | undefined> {
  for (const name of names) {
    const id = RunId.safeParse(name);
    const run = id.success ? await engine.findRun(id.data) : undefined;
    if (run && (!hasEnded(run) || run.worker !== undefined)) return run.id;
  }
  return undefined;
}
