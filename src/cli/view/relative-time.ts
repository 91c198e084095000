import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, epochMs, later, msBetween } from "../../core/instant.ts";

const UNITS: ReadonlyArray<readonly [short: string, long: string, ms: number]> = [
  ["d", "day", DAY_MS],
  ["h", "hour", HOUR_MS],
  ["m", "minute", MINUTE_MS],
  ["s", "second", SECOND_MS],
];
const WEEK_MS = 7 * DAY_MS;
const WEEKS = ["w", "week", WEEK_MS] as const;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** A duration in its largest unit: `2h`, `40s`. */
export function sayAge(ms: number): string {
  const unit = UNITS.find(([, , unitMs]) => ms >= unitMs);
  return unit ? `${Math.floor(ms / unit[2])}${unit[0]}` : "0s";
}

/** The age of a moment: `2h ago`, or `just now`. */
export function sayAgo(at: Instant, now: Instant): string {
  const ms = msBetween(at, now);
  return ms < SECOND_MS ? "just now" : `${sayAge(ms)} ago`;
}

/** The same in words: `2 hours ago`. */
export function spellAgo(at: Instant, now: Instant): string {
  const ms = msBetween(at, now);
  const unit = ms >= 2 * WEEK_MS ? WEEKS : UNITS.find(([, , unitMs]) => ms >= unitMs);
  if (!unit) return "just now";
  const count = Math.floor(ms / unit[2]);
  return `${count} ${unit[1]}${count === 1 ? "" : "s"} ago`;
}

/** How far the reader's clock is ahead of UTC at a moment. */
export type ClockOffset = (at: Instant) => number;

/** A moment on the reader's clock: `Tue 14:00` within a week, else with the date. */
export function sayClock(at: Instant, now: Instant, ahead: ClockOffset): string {
  const shown = shift(at, ahead);
  const time = shown.slice(11, 16);
  if (Math.abs(msBetween(now, at)) >= WEEK_MS) return `${shown.slice(0, 10)} ${time}`;
  return `${WEEKDAYS[new Date(shown).getUTCDay()] ?? ""} ${time}`;
}

/** A moment for a log line: `2026-11-15 14:02:07` on the reader's clock. */
export function sayMoment(at: Instant, ahead: ClockOffset): string {
  return shift(at, ahead).slice(0, 19).replace("T", " ");
}

/** Midnight on the reader's clock. */
export function startOfDay(now: Instant, ahead: ClockOffset): Instant {
  return later(now, -(epochMs(shift(now, ahead)) % DAY_MS));
}

/** The moment whose UTC digits are what the reader's clock shows. The time zones of `Intl` take 20 ms to load. */
function shift(at: Instant, ahead: ClockOffset) {
  return later(at, ahead(at));
}
