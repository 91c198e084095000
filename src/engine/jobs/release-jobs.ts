import type { Job } from "../../core/run/job.ts";
import type { Store } from "../../store/store.ts";

/**
 * Makes jobs due now, even claimed ones: for jobs whose worker is gone, or whose lease a wrong clock has made too long.
 * A worker that comes back finds that it has lost them.
 */
export async function releaseJobs(store: Store, jobs: readonly Job[]): Promise<void> {
  const now = await store.now();
  const committed = await store.commit({
    scheduled: jobs.map(({ claim: _claim, ...job }) => ({ ...job, dueAt: now })),
  });
  if (!committed.ok) throw new Error(`The jobs could not be made due: ${committed.why}`);
}
