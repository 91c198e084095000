import { z } from "zod";

/** An instant in UTC, in one fixed format, so that comparing the strings compares the times. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .brand<"Instant">();
export type Instant = z.infer<typeof Instant>;

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

// Formatting a date takes longer than most decisions, and many instants share a second.
const writtenSeconds = new Map<number, string>();
const WRITTEN_AT_MOST = 1000;

/** The instant that many milliseconds after the epoch. */
export function instant(epochMs: number): Instant {
  const second = Math.floor(epochMs / SECOND_MS);
  const ms = String(Math.trunc(epochMs - second * SECOND_MS)).padStart(3, "0");
  return `${writeSecond(second)}.${ms}Z` as Instant; // the only place that makes the brand
}

function writeSecond(second: number) {
  const known = writtenSeconds.get(second);
  if (known !== undefined) return known;
  if (writtenSeconds.size >= WRITTEN_AT_MOST) writtenSeconds.clear();
  const text = new Date(second * SECOND_MS).toISOString().slice(0, -".000Z".length);
  writtenSeconds.set(second, text);
  return text;
}

// A decision counts everything from the same moment.
let lastRead = { text: "", ms: 0 };

export function epochMs(at: Instant): number {
  if (at !== lastRead.text) lastRead = { text: at, ms: Date.parse(at) };
  return lastRead.ms;
}

export function later(at: Instant, ms: number): Instant {
  return instant(epochMs(at) + ms);
}

export function msBetween(from: Instant, to: Instant): number {
  return epochMs(to) - epochMs(from);
}

/** The earlier of two instants; the second may be undefined. */
export function earlier(one: Instant, other: Instant | undefined): Instant {
  return other !== undefined && other < one ? other : one;
}
