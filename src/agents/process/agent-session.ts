import { SYSTEM } from "../../core/people/actor.ts";
import { nameSession } from "../../core/run/run-ownership.ts";
import type { RunId } from "../../core/id.ts";
import type { Work } from "../../engine/jobs/worker.ts";

const RUNS_OF_A_SESSION = 10;

/** Writes down the agent's own handle for resuming; false for a session that another run has, which keeps it. */
export async function keepSession(
  id: RunId,
  session: string,
  epoch: number,
  { store, decider }: Pick<Work, "store" | "decider">,
): Promise<boolean> {
  const run = await store.findRun(id);
  const { runs } = await store.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION);
  if (runs.some((other) => other.id !== id && other.host === run?.host && other.agent === run.agent)) return false;
  await decider.changeRun(id, SYSTEM, (read, at) => nameSession(read, session, epoch, at));
  return true;
}
