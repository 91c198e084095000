import { type Instant, MINUTE_MS } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import { redact } from "../core/secret/redact.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];
type Field = string | number | boolean | undefined;

/** Logs what happens to the server, one line for each event. */
export type Log = (level: Level, event: string, fields?: Record<string, Field>) => void;

const REPEATED_MS = 10_000;
/** Limits on the characters of a field that are read, and that are written with escapes. */
const LONGEST_FIELD = 8_000;
const LONGEST_WRITTEN = 4_000;
const LONGEST_ESCAPE = 6;
const CUT_MARGIN = 500;
// JSON escapes line ends; terminals also obey these characters.
const CONTROL = /[\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** A log of JSON lines. Input cannot end a line, and anything that looks like a secret is removed. */
export function jsonLog(write: (line: string) => void, { now, least }: { now: () => Instant; least: Level }): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const clean = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cleanField(value)]));
    write(`${escaped({ time: now(), level, event, ...clean })}\n`);
  };
}

/** The error with its stack, for the log only. */
export function sayError(error: unknown): { message: string; stack: string | undefined } {
  return error instanceof Error
    ? { message: error.message, stack: error.stack }
    : { message: String(error), stack: undefined };
}

/**
 * Reports unexpected errors. A refusal in the background, of a store that is away for example, is no bug; the same
 * one again within seconds is no news.
 */
export function reportTo(log: Log): (error: unknown) => void {
  let told = { message: "", atMs: -Infinity };
  return (error) => {
    if (!(error instanceof Refusal)) return log("error", "bug", sayError(error));
    const { code, message } = error;
    const atMs = performance.now();
    if (message === told.message && atMs - told.atMs < REPEATED_MS) return;
    told = { message, atMs };
    log("warn", code, { message });
  };
}

/** The text without secrets, and no longer than is written: one control character becomes six when it is escaped. */
function cleanField(value: Field) {
  if (typeof value !== "string") return value;
  // A secret that is cut in two has no form any more: a part that stands at the very end is left out.
  const clean = redact(value.slice(0, LONGEST_FIELD), []);
  const text = value.length <= LONGEST_FIELD ? clean : clean.slice(0, -CUT_MARGIN);
  if (text.length * LONGEST_ESCAPE <= LONGEST_WRITTEN) return text;
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += Buffer.byteLength(escaped(char)) - 2;
    if (bytes > LONGEST_WRITTEN) return `${text.slice(0, end)}…`;
    end += char.length;
  }
  return text;
}

function escaped(value: unknown) {
  return JSON.stringify(value).replace(CONTROL, escapeChar);
}

function escapeChar(char: string) {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Limits log lines a minute; the next line says how many were left out. */
export class LogLimit {
  readonly #perMinute: number;
  readonly #nowMs: () => number;
  #sinceMs = -Infinity;
  #written = 0;
  #leftOut = 0;

  constructor(perMinute: number, nowMs: () => number) {
    this.#perMinute = perMinute;
    this.#nowMs = nowMs;
  }

  /** Calls `write` if there is room; `leftOut` is undefined where nothing was left out. */
  count(write: (leftOut: number | undefined) => void): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs >= MINUTE_MS) {
      this.#sinceMs = nowMs;
      this.#written = 0;
    }
    if (this.#written >= this.#perMinute) {
      this.#leftOut += 1;
      return;
    }
    this.#written += 1;
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    write(leftOut);
  }
}
