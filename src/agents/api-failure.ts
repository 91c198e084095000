import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, instant } from "../core/instant.ts";
import { type RunResult, USAGE_LIMIT } from "../core/run/run-lifecycle.ts";

/** Statuses of a model's API that pass: it is overloaded, limits requests, or its gateway lost the login for a moment. */
const PASSING: ReadonlySet<number> = new Set([401, 408, 409, 429]);
const SERVER_ERROR = 500;
const PASSING_WORDS =
  /\b(?:401|408|429|5\d\d)\b|overloaded|rate.?limit|too many requests|stream disconnected|connection (?:error|reset)|ECONNRESET|ETIMEDOUT/i;
const LIMIT_WORDS =
  /usage limit|limit reached|hit your (?:\w+ )?limit|quota (?:exceeded|will reset)|exhausted your .*quota/i;
/** `Claude AI usage limit reached|1763400000`, in seconds since 1970. */
const ENDS_AT = /\|(\d{10})\b/;
/** `try again in 2 days 3 hours`, `reset after 1h2m3s`. */
const ENDS_IN = /(?:again in|retry in|reset after|resets? in)\s+((?:\d+\s*[a-z]+[\s,]*(?:and\s+)?)+)/i;
const UNITS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/** Classifies a failed request to the model: empty if the failure does not pass by itself. */
export function readApiFailure(said: string, status?: number): Pick<RunResult, "reason" | "retry"> {
  if (LIMIT_WORDS.test(said)) return { reason: USAGE_LIMIT, retry: limitEnd(said) };
  const isPassing = status === undefined ? PASSING_WORDS.test(said) : PASSING.has(status) || status >= SERVER_ERROR;
  return isPassing ? { retry: {} } : {};
}

function limitEnd(said: string): NonNullable<RunResult["retry"]> {
  const seconds = ENDS_AT.exec(said)?.[1];
  if (seconds !== undefined) return { at: instant(Number(seconds) * SECOND_MS) };
  const span = ENDS_IN.exec(said)?.[1];
  if (span === undefined) return {};
  const parts = [...span.matchAll(/(\d+)\s*([a-z])/gi)];
  return {
    afterMs: parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 0), 0),
  };
}
