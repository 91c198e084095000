import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, epochMs, later, msBetween } from "../core/instant.ts";

const UNITS: ReadonlyArray<readonly [short: string, long: string, ms: number]> = [
  ["d", "day", DAY_MS],
  ["h", "hour", HOUR_MS],
  ["m", "minute", MINUTE_MS],
  ["s", "second", SECOND_MS],
];
const WEEK_MS = 7 * DAY_MS;

/** A time span by its largest unit: `2h`, `40s`. */
export function sayAge(ms: number): string {
  const unit = UNITS.find(([, , unitMs]) => ms >= unitMs);
  return unit ? `${Math.floor(ms / unit[2])}${unit[0]}` : "0s";
}

/** How long ago that was: `2h ago`, or `just now`. */
export function sayAgo(at: Instant, now: Instant): string {
  const ms = msBetween(at, now);
  return ms < SECOND_MS ? "just now" : `${sayAge(ms)} ago`;
}

/** The same in words: `2 hours ago`. */
export function spellAgo(at: Instant, now: Instant): string {
  const ms = msBetween(at, now);
  const unit = UNITS.find(([, , unitMs]) => ms >= unitMs);
  if (!unit) return "just now";
  const count = Math.floor(ms / unit[2]);
  return `${count} ${unit[1]}${count === 1 ? "" : "s"} ago`;
}

/** A moment on the reader's clock: `14:00` today, `Tue 14:00` within a week, else with the date. */
export function sayClock(at: Instant, now: Instant, timeZone: string): string {
  const parts = partsIn(timeZone, at);
  const time = `${parts.hour}:${parts.minute}`;
  const today = partsIn(timeZone, now);
  if (parts.date === today.date) return time;
  return Math.abs(msBetween(now, at)) < WEEK_MS ? `${parts.weekday} ${time}` : `${parts.date} ${time}`;
}

/** A moment for a log line: `2026-11-15 14:02:07` on the reader's clock. */
export function sayMoment(at: Instant, timeZone: string): string {
  const parts = partsIn(timeZone, at);
  return `${parts.date} ${parts.hour}:${parts.minute}:${parts.second}`;
}

/** Midnight on the reader's clock. */
export function startOfDay(now: Instant, timeZone: string): Instant {
  const parts = partsIn(timeZone, now);
  const sinceMs = Number(parts.hour) * HOUR_MS + Number(parts.minute) * MINUTE_MS + Number(parts.second) * SECOND_MS;
  return later(now, -sinceMs - (epochMs(now) % SECOND_MS));
}

interface ClockParts {
  date: string;
  weekday: string;
  hour: string;
  minute: string;
  second: string;
}

function partsIn(timeZone: string, at: Instant): ClockParts {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  const found = new Map(format.formatToParts(new Date(at)).map((part) => [part.type, part.value]));
  const get = (type: Intl.DateTimeFormatPartTypes): string => found.get(type) ?? "";
  return {
    date: `${get("year")}-${get("month")}-${get("day")}`,
    weekday: get("weekday"),
    hour: get("hour"),
    minute: get("minute"),
    second: get("second"),
  };
}
