import { z } from "zod";
import { sayDuration } from "../text/duration.ts";
import { Instant } from "../instant.ts";
import { JobKind } from "./job.ts";

/** A job that failed when it was last done, and the run that waits for it. */
export const FailingJob = z.object({
  key: z.string(),
  kind: JobKind,
  /** How often it failed. */
  tries: z.int(),
  why: z.string(),
  failedAt: Instant,
  /** When it is tried again. */
  nextAt: Instant,
  run: z.object({ id: z.string(), number: z.int(), name: z.string() }).optional(),
  questionId: z.string().optional(),
});
export type FailingJob = z.infer<typeof FailingJob>;

/** A clock that jumped not long ago. */
export const JumpedClock = z.object({
  machine: z.string(),
  /** Less than nothing where it was put back. */
  aheadMs: z.int(),
  at: Instant,
  /** Until then deadlines that only the jump made due wait; nothing where it is believed. */
  doubtedUntil: Instant.optional(),
});
export type JumpedClock = z.infer<typeof JumpedClock>;

/** What keeps questions and runs from going on as they should. */
export const Troubles = z.object({
  failing: z.array(FailingJob),
  clocks: z.array(JumpedClock),
  /** What is wrong with the files of the store, in the words of whoever keeps them. */
  damage: z.array(z.string()),
});
export type Troubles = z.infer<typeof Troubles>;
export const NO_TROUBLES: Troubles = { failing: [], clocks: [], damage: [] };

const FailingJobView = z.object({
  kind: z.string(),
  run: z.int().nullable(),
  run_id: z.string().nullable(),
  question_id: z.string().nullable(),
  tries: z.int(),
  why: z.string(),
  failed_at: Instant,
  next_at: Instant,
});
const JumpedClockView = z.object({
  machine: z.string(),
  ahead_ms: z.int(),
  at: Instant,
  doubted_until: Instant.nullable(),
});
export const TroublesView = z.object({
  failing: z.array(FailingJobView),
  clocks: z.array(JumpedClockView),
  damage: z.array(z.string()),
});
export type TroublesView = z.infer<typeof TroublesView>;

/** The same for programs. */
export function viewTroubles({ failing, clocks, damage }: Troubles): TroublesView {
  return { failing: failing.map(viewFailing), clocks: clocks.map(viewClock), damage };
}

/** What happened to a clock, in words. */
export function sayJump({ machine, aheadMs }: Pick<JumpedClock, "machine" | "aheadMs">): string {
  return `the clock of ${machine} ${aheadMs < 0 ? "was put back" : "jumped ahead"} by ${sayDuration(Math.abs(aheadMs))}`;
}

function viewClock({ machine, aheadMs, at, doubtedUntil }: JumpedClock): TroublesView["clocks"][0] {
  return { machine, ahead_ms: aheadMs, at, doubted_until: doubtedUntil ?? null };
}

function viewFailing({ kind, run, questionId, tries, why, failedAt, nextAt }: FailingJob): TroublesView["failing"][0] {
  return {
    ...{ kind, run: run?.number ?? null, run_id: run?.id ?? null, question_id: questionId ?? null },
    ...{ tries, why, failed_at: failedAt, next_at: nextAt },
  };
}
