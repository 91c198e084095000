import type { PostponedJob } from "../../core/changes.ts";
import { type Instant, HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob, Job, JobKind } from "../../core/run/job.ts";
import { type Redactor, redact } from "../../core/secret/redact.ts";

/**
 * Jobs that bring a run on, or apply a deadline. What makes one of them fail is the store or this machine, never the
 * agent: it is tried again within five seconds, for as long as it takes, so that the run goes on as soon as it can.
 */
const URGENT: ReadonlySet<JobKind> = new Set(["resume", "carry", "stop", "watch", "settle", "remind", "expire"]);
const URGENT_RETRY_MS = [SECOND_MS, 2 * SECOND_MS, 4 * SECOND_MS];
const RETRY_MS = [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];
/** Many that failed together do not come back together. */
const JITTER = 0.2;
const WHY_CHARS = 300;

/** When a job that failed is done again, and what it keeps about the failure. */
export function retryOf(job: ClaimedJob, error: unknown, now: Instant): PostponedJob {
  const ladder = URGENT.has(job.kind) ? URGENT_RETRY_MS : RETRY_MS;
  const delayMs = ladder[Math.min(job.tries, ladder.length - 1)] ?? SECOND_MS;
  const jitterMs = Math.floor(Math.random() * delayMs * JITTER);
  const failure = { why: sayWhy(error), at: now };
  return { job, dueAt: later(now, delayMs + jitterMs), tries: job.tries + 1, failure };
}

/** Says whether a failure deserves a line in a log: the first ones and new reasons do, the thousandth repetition not. */
export function isFailureNews(job: Pick<Job, "tries" | "failure">, error: unknown): boolean {
  return isRare(job.tries + 1) || job.failure?.why !== sayWhy(error);
}

/** Of things that repeat, picks the first, second, fourth, eighth and so on. */
export function isRare(times: number): boolean {
  return (times & (times - 1)) === 0;
}

/** Returns whether a run waits for this job. */
export function isUrgent({ kind }: Pick<Job, "kind">): boolean {
  return URGENT.has(kind);
}

/** The error in one line, without secrets; they are removed before it is cut, or a part of one would stay. */
export function sayWhy(error: unknown, clean: Redactor = (text) => redact(text, [])): string {
  const text = error instanceof Error ? error.message : String(error);
  return clean(text).replace(/\s+/g, " ").trim().slice(0, WHY_CHARS);
}
