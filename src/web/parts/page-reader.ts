import type { InboxViewer } from "../../core/people/inbox.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, epochMs, msBetween } from "../../core/instant.ts";
import { type Keymap, keyFor } from "./keymap.ts";
import type { Language } from "../../core/text/language.ts";
import { type MessageKey, say } from "../words/words.ts";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The person who reads a page, with their settings. */
export interface PageReader extends InboxViewer {
  scope: "human" | "admin" | "agent" | "system";
  language: Language;
  /** Their time zone; undefined until the browser has sent it. */
  zone: string | undefined;
  now: Instant;
  theme: Theme;
  /** Single-key shortcuts are on. */
  hasKeys: boolean;
  /** Keys that the reader changed, by default key. */
  keymap: Keymap;
  /** Token that proves a form comes from one of our pages. */
  csrf: string;
}

/** A message in the reader's language. */
export function tell(
  reader: Pick<PageReader, "language">,
  key: MessageKey,
  values?: Record<string, string | number>,
): string {
  return say(reader.language, key, values);
}

/** The label of a shortcut, as this reader has set it. */
export function tellKey({ keymap }: Pick<PageReader, "keymap">, key: string): string {
  return keyFor(keymap, key).toUpperCase();
}

const UNITS = [
  ["unit.d", DAY_MS],
  ["unit.h", HOUR_MS],
  ["unit.m", MINUTE_MS],
  ["unit.s", SECOND_MS],
] as const;

/** Formats a duration by its largest units: `5h 12m`, or `5h` with one. */
export function tellSpan(reader: Pick<PageReader, "language">, ms: number, most: 1 | 2 = 1): string {
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  if (first < 0) return `0${tell(reader, "unit.s")}`;
  const parts: string[] = [];
  let rest = ms;
  for (const [key, unitMs] of UNITS.slice(first, first + most)) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    // Minutes are exact enough without seconds.
    if (count > 0 && !(parts.length > 0 && unitMs === SECOND_MS)) parts.push(`${count}${tell(reader, key)}`);
  }
  return parts.join(" ");
}

/** Formats a duration that stands alone: whole days in words, anything else like `tellSpan`. */
export function tellDays(reader: Pick<PageReader, "language">, ms: number): string {
  const n = ms / DAY_MS;
  if (n < 1 || !Number.isInteger(n)) return tellSpan(reader, ms, 2);
  return tell(reader, n === 1 ? "days.one" : "days", { n });
}

/** Formats a moment in the reader's time zone: `14:00` today, `Tue 14:00` within a week, else with the date. */
export function tellClock(reader: Pick<PageReader, "language" | "zone" | "now">, at: Instant): string {
  const zone = reader.zone ?? "UTC";
  const time = format(reader.language, zone, "time", at);
  const day = (moment: Instant) => format(reader.language, zone, "day", moment);
  const named = reader.zone === undefined ? `${time} UTC` : time;
  if (day(at) === day(reader.now)) return named;
  const isNear = Math.abs(msBetween(reader.now, at)) < 6 * DAY_MS;
  return `${isNear ? format(reader.language, zone, "weekday", at) : day(at)} ${named}`;
}

/** The last midnight in the reader's time zone. */
export function startOfDay({ language, zone = "UTC", now }: Pick<PageReader, "language" | "zone" | "now">): number {
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

function format(language: Language, zone: string, shape: keyof typeof SHAPES, at: Instant) {
  const name = `${language} ${zone} ${shape}`;
  let found = formats.get(name);
  if (!found) {
    found = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { ...SHAPES[shape], timeZone: zone });
    formats.set(name, found);
  }
  return found.format(new Date(at));
}

/** True if a text names a time zone that this machine knows. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z0-9_+/-]{1,64}$/.test(text)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // Intl has no other check
  }
}
