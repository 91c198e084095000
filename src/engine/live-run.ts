import { RunId } from "../core/id.ts";
import { hasEnded } from "../core/run/run.ts";
import type { Engine } from "./engine.ts";

/**
 * The first of these runs whose agent may be alive: one that has not ended, or whose worker still follows its processes.
 * After that no process of the run is left, and anything it started, such as a terminal, belongs to a person.
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

/**
 * The first of these runs that this store has, whether it has ended or not: what is left of an agent's session was
 * started by the agent, and a terminal of a person has a session of its own.
 */
export async function findKnownRun(
  engine: Pick<Engine, "findRun">,
  names: readonly string[],
): Promise<RunId | undefined> {
  for (const name of names) {
    const id = RunId.safeParse(name);
    const run = id.success ? await engine.findRun(id.data) : undefined;
    if (run) return run.id;
  }
  return undefined;
}
