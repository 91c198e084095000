import { z } from "zod";
import { setClock } from "../question/question-timer.ts";
import { Instant, MINUTE_MS, SECOND_MS, epochMs, instant, later, msBetween } from "../instant.ts";
import type { Pending } from "../question/question.ts";
import type { Rules } from "../rules.ts";

/** Clocks run a little fast or slow, and time servers correct them by a little: that is no jump. */
export const JUMP_MS = 30 * SECOND_MS;
/** How long a clock that jumped ahead has to stay there before it is believed. */
export const DOUBT_MS = 10 * MINUTE_MS;
const DRIFT_MS = 5 * SECOND_MS;
const MOST_KEPT = 10;

/** A step of the clock that deadlines are decided by, while far more or far less real time passed. */
export const ClockJump = z.object({
  /** How far it stepped; less than nothing where it was put back. */
  aheadMs: z.int(),
  /** What it would have shown when that was noticed, and what it showed. */
  from: Instant,
  to: Instant,
});
export type ClockJump = z.infer<typeof ClockJump>;

/**
 * How the clock of the store and the real time of one machine belong together. Real time is how long the machine has
 * been up, sleep included: it stands in no relation to what anybody sets the clock to, and all processes share it.
 */
export const ClockRow = z.object({
  /** Which start of the machine it is. */
  boot: z.string(),
  /** What the clock showed when the machine started, by the time that is believed. */
  startedAt: Instant,
  /** A jump ahead that is not believed yet, and how long the machine will have been up when it is. */
  doubted: ClockJump.extend({ untilUptimeMs: z.number() }).optional(),
  /** Jumps that were believed in the end, the newest last. */
  past: z.array(ClockJump),
  /** The clock was put back so far since the jobs were last brought in line with it. */
  putBackMs: z.int().optional(),
});
export type ClockRow = z.infer<typeof ClockRow>;

/** Reads a row as it is kept; undefined where there is none that can be read. A calm one takes no schema to be read. */
export function parseClock(body: Readonly<Record<string, unknown>> | undefined): ClockRow | undefined {
  if (body === undefined || isCalm(body)) return body;
  return ClockRow.safeParse(body).data;
}

/** Says whether a row tells of no jump, as nearly all do. */
export function isCalm(body: Readonly<Record<string, unknown>>): body is Pick<ClockRow, "boot" | "startedAt" | "past"> {
  const { boot, startedAt, doubted, past, putBackMs } = body;
  const isQuiet = doubted === undefined && putBackMs === undefined && Array.isArray(past) && past.length === 0;
  return isQuiet && typeof boot === "string" && typeof startedAt === "string";
}

/** What was seen at one moment. The clock was read at some time between the two uptimes. */
export interface ClockSight {
  now: Instant;
  boot: string;
  uptimeMs: { before: number; after: number };
}

/** What is known after a look; the very same row where nothing is new. */
export function lookAtClock(row: ClockRow | undefined, sight: ClockSight): ClockRow {
  const { now, boot, uptimeMs } = sight;
  const startedAt = later(now, -Math.round(uptimeMs.after));
  // While the machine was off nobody counted: its clock is all there is.
  if (row?.boot !== boot) {
    const fresh: ClockRow = { boot, startedAt, past: row?.past ?? [] };
    return row?.doubted ? believe(fresh, row.doubted) : fresh;
  }
  const aheadMs = aheadOf(row, sight);
  const { doubted, ...known } = row;
  if (Math.abs(aheadMs) <= JUMP_MS) {
    if (doubted) return putBack({ ...known, startedAt }, doubted.aheadMs);
    return Math.abs(aheadMs) > DRIFT_MS ? { ...row, startedAt } : row;
  }
  if (aheadMs < 0) return seePutBack(row, aheadMs, { startedAt, now });
  const isSame = doubted !== undefined && Math.abs(aheadMs - doubted.aheadMs) <= JUMP_MS;
  if (isSame && uptimeMs.after < doubted.untilUptimeMs) return row;
  if (isSame) return believe({ ...known, startedAt }, doubted);
  if (isPutRight(row, aheadMs)) return { ...known, startedAt, past: row.past.slice(0, -1) };
  const jump = { aheadMs, from: later(now, -aheadMs), to: now };
  const next: ClockRow = { ...known, doubted: { ...jump, untilUptimeMs: uptimeMs.after + DOUBT_MS } };
  return doubted && aheadMs < doubted.aheadMs ? putBack(next, doubted.aheadMs - aheadMs) : next;
}

/**
 * How long a question's next deadline is put off because only a doubted jump made it due: until it is due by real time,
 * or the jump is believed, whatever comes first. Undefined where it is to be met now.
 */
export function putOffMs(question: Pending, row: ClockRow, sight: ClockSight, rules: Rules): number | undefined {
  const { doubted } = row;
  const dueAt = setClock(question, rules).scheduled[0]?.dueAt;
  if (!doubted || dueAt === undefined || countedFrom(question) > doubted.from) return undefined;
  const leftMs = msBetween(later(sight.now, -doubted.aheadMs), dueAt);
  if (leftMs <= 0) return undefined;
  return Math.max(SECOND_MS, Math.min(leftMs, doubted.untilUptimeMs - sight.uptimeMs.after));
}

/** How much of the time that a question was given was taken by jumps of the clock, and not by waiting. */
export function jumpedMs(question: Pending, { past }: ClockRow): number {
  const { dueAt } = question;
  const during = past.filter(({ from }) => countedFrom(question) <= from && dueAt !== undefined && dueAt > from);
  return during.reduce((sum, { aheadMs }) => sum + aheadMs, 0);
}

/** The moment from which the time of its next deadline is counted. */
function countedFrom({ settling, escalated, onTimeout, dueAt, askedAt }: Pending): Instant {
  if (settling) return settling.answer.at;
  const step = onTimeout.steps?.[escalated - 1];
  return step && dueAt !== undefined ? later(dueAt, -step.afterMs) : askedAt;
}

/** How far the clock is ahead of the time that is believed, at least. */
function aheadOf({ startedAt }: ClockRow, { now, uptimeMs }: ClockSight): number {
  const sinceMs = msBetween(startedAt, now);
  const [least, most] = [sinceMs - uptimeMs.after, sinceMs - uptimeMs.before];
  if (least > 0) return toSecond(least);
  return most < 0 ? toSecond(most) : 0;
}

/** How far it is cannot be seen more exactly. */
function toSecond(ms: number): number {
  return Math.round(ms / SECOND_MS) * SECOND_MS;
}

/** Deadlines only come later by this, so it is believed at once; jobs that are due soon would come too late as well. */
function seePutBack(
  row: ClockRow,
  aheadMs: number,
  { startedAt, now }: { startedAt: Instant; now: Instant },
): ClockRow {
  const { doubted, ...known } = row;
  const jump = { aheadMs, from: instant(epochMs(now) - aheadMs), to: now };
  return putBack(believe({ ...known, startedAt }, jump), (doubted?.aheadMs ?? 0) - aheadMs);
}

function believe(row: ClockRow, { aheadMs, from, to }: ClockJump): ClockRow {
  return { ...row, past: [...row.past, { aheadMs, from, to }].slice(-MOST_KEPT) };
}

/** A clock that was put back by mistake, and is put right again, has not jumped ahead. */
function isPutRight({ past, doubted }: ClockRow, aheadMs: number): boolean {
  const last = past.at(-1);
  return last !== undefined && !doubted && Math.abs(last.aheadMs + aheadMs) <= JUMP_MS;
}

function putBack(row: ClockRow, byMs: number): ClockRow {
  return { ...row, putBackMs: (row.putBackMs ?? 0) + byMs };
}
