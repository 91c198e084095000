import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, instant } from "../core/instant.ts";
import { type RunResult, USAGE_LIMIT } from "../core/run/run-lifecycle.ts";

/** Statuses of a model's API that pass: it is overloaded, limits requests, or its gateway lost the login for a moment. */
const PASSING: ReadonlySet<number> = new Set([401, 408, 409, 429]);
const SERVER_ERROR = 500;
const PASSING_WORDS =
  /overloaded|rate.?limit|too many requests|stream disconnected|connection (?:error|reset)|ECONNRESET|ETIMEDOUT/i;
/** A status as agents print it: a number alone may count anything. */
const PASSING_STATUS = new RegExp(
  [
    /(?:\bstatus|\b(?:status|error|response)[ _]?code|"code"|\bHTTP(?:\/[\d.]+)?|\bAPI ?error)["']?\s*[:=]?\s*(?:401|408|429|5\d\d)\b/,
    /\b(?:401|408|429|5\d\d) (?:unauthorized|request timeout|internal server|bad gateway|service unavailable|gateway time-?out)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);
const LIMIT_WORDS =
  /usage limit|(?<!rate )limit reached|hit your (?:[\w-]+ )*limit|quota (?:exceeded|will reset)|exhausted your .*quota/i;
/** `Claude AI usage limit reached|1763400000`, in seconds since 1970. */
const ENDS_AT = /\|(\d{10})\b/;
/** `try again in 2 days 3 hours`, `reset after 1h2m3s`. */
const ENDS_IN = /(?:again in|retry in|reset after|resets? in)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)/i;
/** `resets 3pm (Europe/Berlin)`, `will reset at 3:45 pm`, `resets Oct 9, 3pm`, `try again at Feb 3rd, 2027 5:05 PM`. */
const ENDS_ON =
  /(?:resets?|again)(?: at| on)? (?:(?<month>[a-z]{3})[a-z]* (?<day>\d{1,2})(?:st|nd|rd|th)?,?(?: (?<year>\d{4}),?)?(?: at)? )?(?<hour>\d{1,2})(?::(?<minute>\d{2}))? ?(?<half>[ap]m)?\b(?: \((?<zone>[\w/+-]+)\))?/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const UNITS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/** Classifies a failed request to the model: empty if the failure does not pass by itself. */
export function readApiFailure(
  said: string,
  status?: number,
  nowMs: number = Date.now(),
): Pick<RunResult, "reason" | "retry"> {
  if (LIMIT_WORDS.test(said)) return { reason: USAGE_LIMIT, retry: limitEnd(said, nowMs) };
  const isPassing =
    status === undefined
      ? PASSING_WORDS.test(said) || PASSING_STATUS.test(said)
      : PASSING.has(status) || status >= SERVER_ERROR;
  return isPassing ? { retry: {} } : {};
}

function limitEnd(said: string, nowMs: number): NonNullable<RunResult["retry"]> {
  const seconds = ENDS_AT.exec(said)?.[1];
  if (seconds !== undefined) return { at: instant(Number(seconds) * SECOND_MS) };
  const span = ENDS_IN.exec(said)?.[1];
  if (span !== undefined) return { afterMs: spanMs(span) };
  const clock = ENDS_ON.exec(said)?.groups;
  return clock ? { at: instant(nextMs(clock, nowMs)) } : {};
}

function spanMs(span: string): number {
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)\s*([a-z])/gi)];
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 0), 0);
}

/** The next time that a clock shows this: in the zone that was named, else in this machine's. */
function nextMs(clock: Partial<Record<string, string>>, nowMs: number): number {
  const { month, day, year, minute = "0", half, zone } = clock;
  const hour = (Number(clock["hour"]) % (half ? 12 : 24)) + (half?.toLowerCase() === "pm" ? 12 : 0);
  const offsetMs = zoneOffsetMs(nowMs, zone);
  const here = new Date(nowMs + offsetMs);
  const wanted = new Date(here);
  // The end of that minute: agents leave out the seconds, and at its beginning the limit may still hold.
  wanted.setUTCHours(hour, Number(minute) + 1, 0, 0);
  if (month !== undefined && day !== undefined)
    wanted.setUTCFullYear(Number(year ?? here.getUTCFullYear()), MONTHS.indexOf(month.toLowerCase()), Number(day));
  if (wanted <= here && month === undefined) wanted.setUTCDate(wanted.getUTCDate() + 1);
  if (wanted <= here && year === undefined && month !== undefined) wanted.setUTCFullYear(here.getUTCFullYear() + 1);
  // The clock may be put forward or back until then.
  return wanted.getTime() - zoneOffsetMs(wanted.getTime() - offsetMs, zone);
}

/** How far the clock of a zone is ahead of UTC. */
function zoneOffsetMs(atMs: number, zone: string | undefined): number {
  const wholeMs = Math.floor(atMs / SECOND_MS) * SECOND_MS;
  try {
    const shown = new Date(wholeMs).toLocaleString("sv-SE", { timeZone: zone });
    return Date.parse(`${shown.replace(" ", "T")}Z`) - wholeMs;
  } catch {
    return 0; // a zone that is not known here
  }
}
