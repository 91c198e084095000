import type { Actor } from "../core/people/actor.ts";
import type { RunId } from "../core/id.ts";
import { moveRun, requireMovable } from "../core/run/move-run.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import type { Decider } from "./decide.ts";
import { listMachines } from "./machines.ts";

const RUNS_OF_A_SESSION = 10;

/** Makes another machine the run's own, if its own is away, and takes the run up there. */
export async function moveTo(
  host: string,
  { id, by }: { id: RunId; by: Actor },
  { store, decider }: { store: Store; decider: Decider },
): Promise<Run> {
  const run = await decider.rows.readRun(id);
  const known = await listMachines(store);
  const { session } = run;
  const others =
    session === undefined ? [] : (await store.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION)).runs;
  return decider.changeRun(id, by, (read, at) => {
    // Another worker has claimed it since: the last heartbeat of its machine is outdated.
    if (read.run.version !== run.version) {
      throw new Refusal("moved", `Run #${run.number} went on meanwhile; nothing was changed`, {
        hint: `See it with: askd show ${run.number}`,
      });
    }
    requireMovable(read.run, host, { known, others, now: at.now });
    return moveRun(read, host, at);
  });
}
