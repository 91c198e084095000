import { z } from "zod";
import { formatDuration } from "../text/duration.ts";
import { Instant } from "../instant.ts";
import { Outage } from "../channel/outage.ts";
import { JobKind } from "./job.ts";

/** A job whose last attempt failed, and the run that waits for it. */
export const FailingJob = z.object({
  key: z.string(),
  kind: JobKind,
  /** The number of failed attempts. */
  tries: z.int(),
  why: z.string(),
  failedAt: Instant,
  /** The time of the next attempt. */
  nextAt: Instant,
  run: z.object({ id: z.string(), number: z.int(), name: z.string() }).optional(),
  questionId: z.string().optional(),
});
export type FailingJob = z.infer<typeof FailingJob>;

/** A machine whose clock jumped recently. */
export const JumpedClock = z.object({
  machine: z.string(),
  /** Negative if the clock was set back. */
  aheadMs: z.int(),
  at: Instant,
  /** Until then, deadlines that only the jump made due wait; undefined if the jump is accepted. */
  doubtedUntil: Instant.optional(),
});
export type JumpedClock = z.infer<typeof JumpedClock>;

/** Problems that keep questions and runs from continuing. */
export const Troubles = z.object({
  failing: z.array(FailingJob),
  clocks: z.array(JumpedClock),
  /** Damage to the store's files, in the words of the database. */
  damage: z.array(z.string()),
  /** Channels that have failed for a while; a server of an earlier version does not say. */
  outages: z.array(Outage).default([]),
  /** Rows of the store that cannot be read and are left out, by name. */
  unreadable: z.array(z.string()).default([]),
});
export type Troubles = z.infer<typeof Troubles>;
export const NO_TROUBLES: Troubles = { failing: [], clocks: [], damage: [], outages: [], unreadable: [] };

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
  channels: z.array(z.object({ channel: z.string(), person: z.string().nullable(), since: Instant, why: z.string() })),
  unreadable: z.array(z.string()),
});
export type TroublesView = z.infer<typeof TroublesView>;

/** The wire format. */
export function viewTroubles({ failing, clocks, damage, outages, unreadable }: Troubles): TroublesView {
  const channels = outages.map((outage) => ({ ...outage, person: outage.person ?? null }));
  return { failing: failing.map(viewFailing), clocks: clocks.map(viewClock), damage, channels, unreadable };
}

/** Describes a clock jump. */
export function describeJump({ machine, aheadMs }: Pick<JumpedClock, "machine" | "aheadMs">): string {
  return `the clock of ${machine} ${aheadMs < 0 ? "was put back" : "jumped ahead"} by ${formatDuration(Math.abs(aheadMs))}`;
}

function viewClock({ machine, aheadMs, at, doubtedUntil }: JumpedClock): TroublesView["clocks"][0] {
  return { machine, ahead_ms: aheadMs, at, doubted_until: doubtedUntil ?? null };
}

function viewFailing({ kind, run, questionId, tries, why, failedAt, nextAt }: FailingJob): TroublesView["failing"][0] {
  return {
    kind,
    run: run?.number ?? null,
    run_id: run?.id ?? null,
    question_id: questionId ?? null,
    tries,
    why,
    failed_at: failedAt,
    next_at: nextAt,
  };
}
