import { z } from "zod";
import { DAY_MS, type Instant, MINUTE_MS, epochMs, instant } from "../instant.ts";
import { isTimeZone, momentsOf, offsetIn } from "../time-zone.ts";

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
  if (all === undefined || (zone !== undefined && !isTimeZone(zone))) return undefined;
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
