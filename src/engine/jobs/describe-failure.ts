import type { Job } from "../../core/run/job.ts";
import { isFailureNews, sayWhy } from "./job-retry.ts";
import type { WorkerDeps } from "./worker.ts";

/** Says that a worker waits for its store. */
export function describeOutage(error: unknown): string {
  return `waits for the store: ${sayWhy(error)}`;
}

/** Suppresses repeated reports of the same failure. */
export function withoutRepeats(onFailure: WorkerDeps["onFailure"]): WorkerDeps["onFailure"] {
  return (job, error) => void (isFailureNews(job, error) && onFailure(job, error));
}

/** Says how often a job has failed, and why. */
export function describeFailure({ tries }: Pick<Job, "tries">, error: unknown): string {
  return `failed ${tries === 0 ? "once" : `${tries + 1} times`}: ${sayWhy(error)}; it is tried again`;
}
