import type { RunId } from "../../core/id.ts";
import { type Instant, SECOND_MS, msBetween } from "../../core/instant.ts";
import { LIVE_STATUSES, type Run } from "../../core/run/run.ts";
import { workflowIdOf } from "../../core/workflow/approval.ts";
import type { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import type { Store } from "../../store/store.ts";

const FIRST_PAGE = 50;
const PAGE = 500;
/** Between looks whether a queued run may begin. */
const LEAST_PAUSE_MS = SECOND_MS;
const MOST_PAUSE_MS = 30 * SECOND_MS;
const PAUSES_IN_A_WAIT = 4;

/** A run as read, as far as it matters for its turn. */
interface StartReading {
  definition: WorkflowDefinition;
  /** It had ended, and an answer after the deadline takes it up. */
  isReopened: boolean;
}

/**
 * Says whether a run may begin, or begin again: fewer than `max_running` runs of its workflow are before it, and none of
 * them has its key. Older runs go first, so two that look at the same time do not both begin.
 */
export async function mayStartNow(
  run: Run,
  { definition, isReopened }: StartReading,
  { store }: { store: Store },
): Promise<boolean> {
  const { workflow } = run;
  if (!workflow || workflow.branch) return true;
  const isAgain = run.status === "resuming" && (workflow.isRepeated === true || isReopened);
  if (run.status !== "queued" && !isAgain) return true;
  const { max_running: most } = definition;
  if (most === undefined && workflow.key === undefined) return true;
  let before = 0;
  for await (const each of liveRuns(store, workflowIdOf(run, workflow))) {
    if (!isAgain && each.id >= run.id) return true;
    if (isAgain && !isBeforeAgain(each, run)) continue;
    before += 1;
    if (most !== undefined && before >= most) return false;
    if (workflow.key !== undefined && each.workflow?.key === workflow.key) return false;
  }
  return true;
}

/** A run that begins again is behind those that have begun since, and behind older ones that begin again too. */
function isBeforeAgain(each: Run, run: Run): boolean {
  if (each.id === run.id || each.status === "queued") return false;
  return each.status !== "resuming" || each.id < run.id;
}

/** How long a queued run that has to wait leaves the store alone: one that has waited long looks less often. */
export function pauseBeforeStart(run: Pick<Run, "createdAt">, now: Instant): number {
  return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, msBetween(run.createdAt, now) / PAUSES_IN_A_WAIT));
}

/** The live runs of a workflow with this key, oldest first. */
export async function listLiveWithKey(store: Pick<Store, "listRuns">, id: string, key: string): Promise<Run[]> {
  const found: Run[] = [];
  for await (const run of liveRuns(store, id)) if (run.workflow?.key === key) found.push(run);
  return found;
}

/** The live runs of a workflow, oldest first, without their branches; more are read only as they are needed. */
async function* liveRuns(store: Pick<Store, "listRuns">, id: string): AsyncGenerator<Run> {
  let after: RunId | undefined;
  for (let limit = FIRST_PAGE; ; limit = PAGE) {
    const from = after === undefined ? {} : { after };
    const page = await store.listRuns({ statuses: LIVE_STATUSES, order: "oldest", limit, ...from });
    yield* page.filter((run) => {
      const { workflow } = run;
      return workflow && workflow.branch === undefined && workflowIdOf(run, workflow) === id;
    });
    if (page.length < limit) return;
    after = page.at(-1)?.id;
  }
}
