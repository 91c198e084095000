import { z } from "zod";
import { setTimer } from "../question/question-timer.ts";
import { Instant, MINUTE_MS, SECOND_MS, epochMs, instant, later, msBetween } from "../instant.ts";
import type { PendingQuestion } from "../question/question.ts";
import type { Rules } from "../rules.ts";

/** Smaller steps are drift or corrections of a time server, not jumps. */
export const JUMP_MS = 30 * SECOND_MS;
/** How long a clock must stay ahead before the jump is accepted. */
export const CONFIRM_JUMP_MS = 10 * MINUTE_MS;
const DRIFT_MS = 5 * SECOND_MS;
const MOST_KEPT = 10;

/** A step of the clock that decides deadlines, while far more or far less real time passed. */
export const ClockJump = z.object({
  /** The size of the step; negative if the clock was set back. */
  aheadMs: z.int(),
  /** The expected and the actual time when the jump was noticed. */
  from: Instant,
  to: Instant,
});
export type ClockJump = z.infer<typeof ClockJump>;

/**
 * Relates the store's clock to the uptime of one machine. Uptime includes sleep, is independent of the clock's setting,
 * and is shared by all processes.
 */
export const ClockRow = z.object({
  /** The boot id of the machine. */
  boot: z.string(),
  /** The boot time by the accepted clock. */
  startedAt: Instant,
  /** A jump ahead that is not accepted yet, and the uptime at which it will be. */
  doubted: ClockJump.extend({ untilUptimeMs: z.number() }).optional(),
  /** Accepted jumps, newest last. */
  past: z.array(ClockJump),
  /** How far the clock was set back since the jobs were last adjusted. */
  putBackMs: z.int().optional(),
});
export type ClockRow = z.infer<typeof ClockRow>;

/** Parses a stored row; undefined if it is missing or unreadable. A row without jumps needs no schema. */
export function parseClock(body: Readonly<Record<string, unknown>> | undefined): ClockRow | undefined {
  if (body === undefined || hasNoJump(body)) return body;
  return ClockRow.safeParse(body).data;
}

/** Says whether a row records no jump, as nearly all do. */
export function hasNoJump(
  body: Readonly<Record<string, unknown>>,
): body is Pick<ClockRow, "boot" | "startedAt" | "past"> {
  const { boot, startedAt, doubted, past, putBackMs } = body;
  const isQuiet = doubted === undefined && putBackMs === undefined && Array.isArray(past) && past.length === 0;
  return isQuiet && typeof boot === "string" && typeof startedAt === "string";
}

/** One reading of the clock, taken between the two uptimes. */
export interface ClockReading {
  now: Instant;
  boot: string;
  uptimeMs: { before: number; after: number };
}

/** The row after a reading; the same object if nothing changed. */
export function updateClock(row: ClockRow | undefined, sight: ClockReading): ClockRow {
  const { now, boot, uptimeMs } = sight;
  const startedAt = later(now, -Math.round(uptimeMs.after));
  // While the machine was off there is no uptime: only its clock counts.
  if (row?.boot !== boot) {
    const fresh: ClockRow = { boot, startedAt, past: row?.past ?? [] };
    return row?.doubted ? confirmJump(fresh, row.doubted) : fresh;
  }
  const aheadMs = aheadOf(row, sight);
  const { doubted, ...known } = row;
  if (Math.abs(aheadMs) <= JUMP_MS) {
    if (doubted) return setBack({ ...known, startedAt }, doubted.aheadMs);
    return Math.abs(aheadMs) > DRIFT_MS ? { ...row, startedAt } : row;
  }
  if (aheadMs < 0) return applySetBack(row, aheadMs, { startedAt, now });
  const isSame = doubted !== undefined && Math.abs(aheadMs - doubted.aheadMs) <= JUMP_MS;
  if (isSame && uptimeMs.after < doubted.untilUptimeMs) return row;
  if (isSame) return confirmJump({ ...known, startedAt }, doubted);
  if (isCorrection(row, aheadMs)) return { ...known, startedAt, past: row.past.slice(0, -1) };
  const jump = { aheadMs, from: later(now, -aheadMs), to: now };
  const next: ClockRow = { ...known, doubted: { ...jump, untilUptimeMs: uptimeMs.after + CONFIRM_JUMP_MS } };
  return doubted && aheadMs < doubted.aheadMs ? setBack(next, doubted.aheadMs - aheadMs) : next;
}

/**
 * How long a question's next deadline is delayed because only an unaccepted jump made it due: until it is due by real
 * time or the jump is accepted. Undefined if it is due now.
 */
export function deadlineDelayMs(
  question: PendingQuestion,
  row: ClockRow,
  sight: ClockReading,
  rules: Rules,
): number | undefined {
  const { doubted } = row;
  const dueAt = setTimer(question, rules).scheduled[0]?.dueAt;
  if (!doubted || dueAt === undefined || countedFrom(question) > doubted.from) return undefined;
  const leftMs = msBetween(later(sight.now, -doubted.aheadMs), dueAt);
  if (leftMs <= 0) return undefined;
  return Math.max(SECOND_MS, Math.min(leftMs, doubted.untilUptimeMs - sight.uptimeMs.after));
}

/** How much of a question's duration was lost to clock jumps. */
export function jumpedMs(question: PendingQuestion, { past }: ClockRow): number {
  const { dueAt } = question;
  const during = past.filter(({ from }) => countedFrom(question) <= from && dueAt !== undefined && dueAt > from);
  return during.reduce((sum, { aheadMs }) => sum + aheadMs, 0);
}

/** The instant from which the next deadline is counted. */
function countedFrom({ settling, escalated, onTimeout, dueAt, askedAt }: PendingQuestion): Instant {
  if (settling) return settling.answer.at;
  const step = onTimeout.steps?.[escalated - 1];
  return step && dueAt !== undefined ? later(dueAt, -step.afterMs) : askedAt;
}

/** The least amount by which the clock is ahead of the accepted time. */
function aheadOf({ startedAt }: ClockRow, { now, uptimeMs }: ClockReading) {
  const sinceMs = msBetween(startedAt, now);
  const [least, most] = [sinceMs - uptimeMs.after, sinceMs - uptimeMs.before];
  if (least > 0) return toSecond(least);
  return most < 0 ? toSecond(most) : 0;
}

/** The reading is no more exact than a second. */
function toSecond(ms: number) {
  return Math.round(ms / SECOND_MS) * SECOND_MS;
}

/** A clock set back only delays deadlines, so it is accepted at once; jobs due soon are moved with it. */
function applySetBack(
  row: ClockRow,
  aheadMs: number,
  { startedAt, now }: { startedAt: Instant; now: Instant },
): ClockRow {
  const { doubted, ...known } = row;
  const jump = { aheadMs, from: instant(epochMs(now) - aheadMs), to: now };
  return setBack(confirmJump({ ...known, startedAt }, jump), (doubted?.aheadMs ?? 0) - aheadMs);
}

function confirmJump(row: ClockRow, { aheadMs, from, to }: ClockJump): ClockRow {
  return { ...row, past: [...row.past, { aheadMs, from, to }].slice(-MOST_KEPT) };
}

/** A clock that was set back by mistake and is corrected has not jumped ahead. */
function isCorrection({ past, doubted }: ClockRow, aheadMs: number) {
  const last = past.at(-1);
  return last !== undefined && !doubted && Math.abs(last.aheadMs + aheadMs) <= JUMP_MS;
}

function setBack(row: ClockRow, byMs: number): ClockRow {
  return { ...row, putBackMs: (row.putBackMs ?? 0) + byMs };
}
