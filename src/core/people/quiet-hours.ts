import { z } from "zod";
import { DAY_MS, type Instant, MINUTE_MS, epochMs, instant } from "../instant.ts";

const HOURS = /^([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S{1,64}))?$/;

/** A part of each day in which somebody is not disturbed, in minutes of the day; the end may be on the next day. */
export interface QuietHours {
  from: number;
  to: number;
  /** The time zone, such as `Europe/Berlin`. */
  zone: string;
}

/** The quiet hours of a person: with their time zone, as messages may be sent from anywhere. */
export const PersonalQuietHours = z
  .string()
  .max(100)
  .refine((text) => parseQuietHours(text)?.zone !== undefined);

/** Parses `22:00-07:00 Europe/Berlin`; the zone may be left out. Undefined if it is not that. */
export function parseQuietHours(text: string): { from: number; to: number; zone: string | undefined } | undefined {
  const [all, fromHour, fromMinute, toHour, toMinute, zone] = HOURS.exec(text.trim()) ?? [];
  if (all === undefined || (zone !== undefined && !isZone(zone))) return undefined;
  return { from: Number(fromHour) * 60 + Number(fromMinute), to: Number(toHour) * 60 + Number(toMinute), zone };
}

/** Adds the time zone to hours that name none; other text stays as it is. */
export function inZone(text: string, zone: string): string {
  const hours = parseQuietHours(text);
  return hours && hours.zone === undefined ? `${text.trim()} ${zone}` : text;
}

/** The quiet hours of a person: their own, those in the settings, or the general ones; the latter for shared addresses. */
export function findQuietHours(
  person: { id: string; quiet?: string | undefined } | undefined,
  { general, people }: { general: QuietHours | undefined; people: Readonly<Record<string, QuietHours>> },
): QuietHours | undefined {
  const own = person?.quiet === undefined ? undefined : parseQuietHours(person.quiet);
  if (own?.zone !== undefined) return { ...own, zone: own.zone };
  return (person && people[person.id]) ?? general;
}

/** The end of the quiet hours, if they hold at this time. */
export function quietUntil({ from, to, zone }: QuietHours, now: Instant): Instant | undefined {
  const nowMs = epochMs(now);
  const offsetOf = offsetIn(zone);
  const midnight = Math.floor((nowMs + offsetOf(nowMs)) / DAY_MS) * DAY_MS;
  // Yesterday's may still hold.
  for (const day of [midnight - DAY_MS, midnight]) {
    const endDay = to < from ? day + DAY_MS : day;
    // An hour that comes twice is quiet both times.
    const startMs = Math.min(...momentsOf(day + from * MINUTE_MS, offsetOf));
    const endMs = Math.max(...momentsOf(endDay + to * MINUTE_MS, offsetOf));
    if (startMs <= nowMs && nowMs < endMs && from !== to) return instant(endMs);
  }
  return undefined;
}

/** The moments at which a clock on the wall shows this: one; two when clocks go back; the jump when it is skipped. */
function momentsOf(wallMs: number, offsetOf: (ms: number) => number): number[] {
  const [before, after] = [offsetOf(wallMs - DAY_MS), offsetOf(wallMs + DAY_MS)];
  const moments = [before, after].map((offset) => wallMs - offset).filter((ms) => ms + offsetOf(ms) === wallMs);
  return moments.length > 0 ? moments : [findJump(wallMs - after, wallMs - before, offsetOf)];
}

/** The first moment with the offset of the later one. */
function findJump(earlyMs: number, lateMs: number, offsetOf: (ms: number) => number): number {
  let [low, high] = [earlyMs, lateMs];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetOf(middle) === offsetOf(lateMs)) high = middle;
    else low = middle;
  }
  return high;
}

/** How far the clocks of a zone are ahead of UTC at a time. */
function offsetIn(zone: string): (ms: number) => number {
  const format = formatOf(zone);
  return (ms) => {
    // `1/1/2026, GMT+05:30`; plain GMT in UTC.
    const [, sign = "+", hours = "0", minutes = "0"] = /GMT([+-])(\d+):(\d+)/.exec(format.format(ms)) ?? [];
    return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  };
}

// Making a format takes longer than most decisions, and people live in few zones.
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 100;

function formatOf(zone: string) {
  const known = formats.get(zone);
  if (known) return known;
  if (formats.size >= MOST_FORMATS) formats.clear();
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, format);
  return format;
}

function isZone(zone: string) {
  try {
    return formatOf(zone).format(0) !== "";
  } catch {
    return false; // there is no such zone
  }
}
