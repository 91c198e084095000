import type { Changes } from "../changes.ts";
import type { RunId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { SYSTEM } from "../people/actor.ts";
import { stepJob } from "../run/job.ts";
import { type Run, hasEnded } from "../run/run.ts";
import { workflowEvent } from "../trail/event.ts";

/** The workflow runs that wait for runs which these changes end. */
export function findWaitingWorkflows({ runs = [] }: Changes): RunId[] {
  return [...new Set(runs.flatMap((run) => (hasEnded(run) && run.waitedForBy ? [run.waitedForBy.runId] : [])))];
}

/** Adds a step job for each workflow that waits for a run which these changes end. */
export function wakeWorkflows(changes: Changes, waiting: readonly Run[], now: Instant): Changes {
  const ended = (changes.runs ?? []).filter(hasEnded);
  const isWritten = (run: Run) => changes.runs?.some(({ id }) => id === run.id);
  const woken = waiting.filter((run) => !hasEnded(run) && !isWritten(run));
  const events = woken.flatMap((run) =>
    ended
      .filter(({ waitedForBy }) => waitedForBy?.runId === run.id)
      .map(({ id, status, reason }) =>
        workflowEvent("child_ended", run, { now, by: SYSTEM }, { run: id, status, reason }),
      ),
  );
  return {
    ...changes,
    events: [...(changes.events ?? []), ...events],
    scheduled: [...(changes.scheduled ?? []), ...woken.map((run) => stepJob(run, now))],
  };
}
