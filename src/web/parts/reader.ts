import type { Looker } from "../../core/people/inbox.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, epochMs, msBetween } from "../../core/instant.ts";
import { type Keymap, keyFor } from "./keymap.ts";
import { type Key, type Language, say } from "../words/words.ts";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Who reads a page, and how they want to read it. */
export interface Reader extends Looker {
  scope: "human" | "admin" | "agent" | "system";
  language: Language;
  /** Their time zone, as soon as their browser has said it. */
  zone: string | undefined;
  now: Instant;
  theme: Theme;
  /** Single keys do something. */
  hasKeys: boolean;
  /** Keys that the reader changed, by what they are otherwise. */
  keymap: Keymap;
  /** Proves that a form is from our own page. */
  csrf: string;
}

/** Words in the reader's language. */
export function tell(reader: Pick<Reader, "language">, key: Key, values?: Record<string, string | number>): string {
  return say(reader.language, key, values);
}

/** How the key for something is shown to this reader. */
export function tellKey({ keymap }: Pick<Reader, "keymap">, key: string): string {
  return keyFor(keymap, key).toUpperCase();
}

const UNITS = [
  ["unit.d", DAY_MS],
  ["unit.h", HOUR_MS],
  ["unit.m", MINUTE_MS],
  ["unit.s", SECOND_MS],
] as const;

/** A time span by its largest units: `5h 12m`, or `5h` with one. */
export function tellSpan(reader: Pick<Reader, "language">, ms: number, most: 1 | 2 = 1): string {
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  if (first < 0) return `0${tell(reader, "unit.s")}`;
  const parts: string[] = [];
  let rest = ms;
  for (const [key, unitMs] of UNITS.slice(first, first + most)) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    // Minutes need no seconds beside them.
    if (count > 0 && !(parts.length > 0 && unitMs === SECOND_MS)) parts.push(`${count}${tell(reader, key)}`);
  }
  return parts.join(" ");
}

/** A time span by itself: whole days in words, for `1 T` would say little; else as in a sentence. */
export function tellDays(reader: Pick<Reader, "language">, ms: number): string {
  const n = ms / DAY_MS;
  if (n < 1 || !Number.isInteger(n)) return tellSpan(reader, ms, 2);
  return tell(reader, n === 1 ? "days.one" : "days", { n });
}

/** A moment on the reader's clock: `14:00` today, `Tue 14:00` within a week, else with the date. */
export function tellClock(reader: Pick<Reader, "language" | "zone" | "now">, at: Instant): string {
  const zone = reader.zone ?? "UTC";
  const time = format(reader.language, zone, "time", at);
  const day = (moment: Instant): string => format(reader.language, zone, "day", moment);
  const named = reader.zone === undefined ? `${time} UTC` : time;
  if (day(at) === day(reader.now)) return named;
  const isNear = Math.abs(msBetween(reader.now, at)) < 6 * DAY_MS;
  return `${isNear ? format(reader.language, zone, "weekday", at) : day(at)} ${named}`;
}

/** Midnight on the reader's clock, before now. */
export function startOfDay({ language, zone = "UTC", now }: Pick<Reader, "language" | "zone" | "now">): number {
  const [hour = 0, minute = 0] = format(language, zone, "time", now).split(":").map(Number);
  const nowMs = epochMs(now);
  return nowMs - hour * HOUR_MS - minute * MINUTE_MS - (nowMs % MINUTE_MS);
}

const SHAPES = {
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  weekday: { weekday: "short" },
  day: { day: "numeric", month: "short", year: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(language: Language, zone: string, shape: keyof typeof SHAPES, at: Instant): string {
  const name = `${language} ${zone} ${shape}`;
  let found = formats.get(name);
  if (!found) {
    found = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { ...SHAPES[shape], timeZone: zone });
    formats.set(name, found);
  }
  return found.format(new Date(at));
}

/** Says whether a text names a time zone that this machine knows. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z0-9_+/-]{1,64}$/.test(text)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // the only way to ask
  }
}
