import { isTimer } from "../../core/question/question-timer.ts";
import type { KeptJob, Store } from "../../store/store.ts";

/**
 * Makes jobs due now, even claimed ones: for jobs whose worker is gone, or whose lease a wrong clock has made too long.
 * A worker that comes back finds that it has lost them.
 */
export async function releaseJobs(store: Store, jobs: readonly KeptJob[]): Promise<void> {
  const now = await store.now();
  const committed = await store.commit({
    // The time of a question's own timer is in the trail, and stays.
    scheduled: jobs.map(({ claim: _claim, leaseUntil: _lease, attempt: _attempt, ...job }) => ({
      ...job,
      dueAt: isTimer(job) ? job.dueAt : now,
    })),
  });
  if (!committed.ok) throw new Error(`The jobs could not be made due: ${committed.why}`);
}
