import type { FailingJob, Troubles } from "../core/trouble.ts";
import type { KeptJob, Store } from "../store/store.ts";

const MOST_FAILING = 20;

/** Reads what keeps questions and runs from going on, as any process on this store noted it. */
export async function findTroubles(store: Store): Promise<Troubles> {
  const jobs = await store.listFailing(MOST_FAILING);
  const runs = await store.readRuns(jobs.flatMap(({ runId }) => runId ?? []));
  const byId = new Map(runs.map((run) => [run.id, run]));
  return { failing: jobs.flatMap((job) => toFailing(job, job.runId && byId.get(job.runId)) ?? []) };
}

function toFailing(
  { key, kind, tries, failure, dueAt, questionId }: KeptJob,
  run: FailingJob["run"],
): FailingJob | undefined {
  if (!failure) return undefined;
  return {
    ...{ key, kind, tries, why: failure.why, failedAt: failure.at, nextAt: dueAt },
    ...(run && { run: { id: run.id, number: run.number, name: run.name } }),
    ...(questionId !== undefined && { questionId }),
  };
}
