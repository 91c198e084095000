import type { Event } from "../trail/event.ts";
import type { Instant } from "../instant.ts";

/** One attempt to resume a parked agent with its owed outcomes. */
export interface ResumeAttempt {
  /** The epoch of the start, and the worker that owns it. */
  epoch: number;
  worker: string | undefined;
  at: Instant;
  /** The result; undefined while the attempt is under way. */
  end?: { state: "taken" | "failed" | "stopped"; at: Instant; why?: ResumeFailure; failure?: string; nextMs?: number };
}

/** Why an attempt failed. */
export type ResumeFailure = "never_started" | "not_taken" | "given_up" | "interrupted";

/** Derives the resume attempts of a run and their results from its events, oldest first. */
export function readResumeAttempts(events: readonly Event[]): ResumeAttempt[] {
  const attempts: ResumeAttempt[] = [];
  for (const event of events) {
    const last = attempts.at(-1);
    const begun = attemptStart(event);
    if (begun) attempts.push(begun);
    else if (last && !last.end) last.end = attemptEnd(event);
  }
  return attempts;
}

/** Counts the failed attempts since the agent last received something. */
export function countFailedAttempts(attempts: readonly ResumeAttempt[]): number {
  const ended = attempts.filter(({ end }) => end !== undefined);
  return ended.length - 1 - ended.findLastIndex(({ end }) => end?.state !== "failed");
}

function attemptStart({ type, at, from, detail = {} }: Event): ResumeAttempt | undefined {
  const { epoch, worker, adopted_from: adoptedFrom } = detail;
  if (typeof epoch !== "number" || adoptedFrom !== undefined || detail["session"] !== undefined) return undefined;
  if (detail["reason"] !== undefined) return undefined;
  const isTaken = type === "run.resuming" && typeof worker === "string";
  // An agent started elsewhere is reported once it runs.
  const isThere = type === "run.resumed" && from === "resuming";
  if (!isTaken && !isThere) return undefined;
  const begun: ResumeAttempt = { epoch, worker: typeof worker === "string" ? worker : undefined, at };
  return isThere ? { ...begun, end: { state: "taken", at } } : begun;
}

function attemptEnd({ type, at, detail = {} }: Event): ResumeAttempt["end"] {
  const { failure, reason, after_ms: afterMs } = detail;
  const more = {
    failure: typeof failure === "string" ? failure : undefined,
    nextMs: typeof afterMs === "number" ? afterMs : undefined,
  };
  switch (type) {
    case "question.given":
    case "run.resumed":
    case "run.completed":
      return { state: "taken", at };
    case "run.cancelled":
      return { state: "stopped", at };
    case "run.failed":
      return { state: "failed", at, why: "given_up", ...more };
    case "run.resuming":
      if (reason === "never_started") return { state: "failed", at, why: "never_started", ...more };
      if (typeof detail["tries"] === "number") return { state: "failed", at, why: "not_taken", ...more };
      return reason === undefined ? undefined : { state: "failed", at, why: "interrupted", ...more };
    default:
      return undefined;
  }
}
