import { z } from "zod";

/** A moment in UTC, in one fixed format, so that comparing the strings compares the times. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .brand<"Instant">();
export type Instant = z.infer<typeof Instant>;

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The moment that many milliseconds after the epoch. */
export function instant(epochMs: number): Instant {
  return new Date(epochMs).toISOString() as Instant; // the only place that makes the brand
}

export function epochMs(at: Instant): number {
  return Date.parse(at);
}

export function later(at: Instant, ms: number): Instant {
  return instant(epochMs(at) + ms);
}

export function msBetween(from: Instant, to: Instant): number {
  return epochMs(to) - epochMs(from);
}

/** The earlier of two moments, where one of them may not exist. */
export function earlier(one: Instant, other: Instant | undefined): Instant {
  return other !== undefined && other < one ? other : one;
}
