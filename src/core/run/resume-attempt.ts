import type { Event } from "../trail/event.ts";
import type { Instant } from "../instant.ts";

/** One try to start a stopped agent again with what it is owed. */
export interface Attempt {
  /** Which start of the agent it is, and who alone may do it. */
  epoch: number;
  worker: string | undefined;
  at: Instant;
  /** What came of it, and when; nothing yet while it is under way. */
  end?: { state: "taken" | "failed" | "stopped"; at: Instant; why?: Why; failure?: string; nextMs?: number };
}

/** Why a try came to nothing. */
export type Why = "never_started" | "not_taken" | "given_up" | "interrupted";

/** Reads out of the trail of a run, oldest first, how often it was resumed and what came of it. */
export function readAttempts(events: readonly Event[]): Attempt[] {
  const attempts: Attempt[] = [];
  for (const event of events) {
    const last = attempts.at(-1);
    const begun = beginOf(event);
    if (begun) attempts.push(begun);
    else if (last && !last.end) last.end = endOf(event);
  }
  return attempts;
}

/** How often it was tried in vain since the agent last took something. */
export function countFailed(attempts: readonly Attempt[]): number {
  const ended = attempts.filter(({ end }) => end !== undefined);
  return ended.length - 1 - ended.findLastIndex(({ end }) => end?.state !== "failed");
}

function beginOf({ type, at, from, detail = {} }: Event): Attempt | undefined {
  const { epoch, worker, adopted_from: adoptedFrom } = detail;
  if (typeof epoch !== "number" || adoptedFrom !== undefined || detail["session"] !== undefined) return undefined;
  if (detail["reason"] !== undefined) return undefined;
  const isTaken = type === "run.resuming" && typeof worker === "string";
  // Who starts the agent elsewhere says so when it is there.
  const isThere = type === "run.resumed" && from === "resuming";
  if (!isTaken && !isThere) return undefined;
  const begun: Attempt = { epoch, worker: typeof worker === "string" ? worker : undefined, at };
  return isThere ? { ...begun, end: { state: "taken", at } } : begun;
}

function endOf({ type, at, detail = {} }: Event): Attempt["end"] {
  const { failure, reason, after_ms: afterMs } = detail;
  const more = {
    ...(typeof failure === "string" && { failure }),
    ...(typeof afterMs === "number" && { nextMs: afterMs }),
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
