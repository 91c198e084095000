import { z } from "zod";
import { parseDuration, formatDuration } from "../core/text/duration.ts";
import { redact } from "../core/secret/redact.ts";
import { parseQuietHours } from "../core/people/quiet-hours.ts";

const LONGEST_TEXT = 2_000;

// Every message states the expected value: people see nothing else.

/** A table; each of its keys may be left out. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, error?: string) {
  return z.object(shape, error).partial();
}

/** A duration such as `3m`, within bounds. */
export function duration(leastMs: number, mostMs: number, example: string) {
  const error = `write a duration from ${formatDuration(leastMs)} to ${formatDuration(mostMs)}, such as "${example}"`;
  return z.string(error).refine((text) => isWithin(text, leastMs, mostMs), error);
}

/** A whole number within bounds. */
export function count(least: number, most: number) {
  const error = `write a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

/** A fraction of one, such as 0.3. */
export function fraction() {
  const error = "write a number from 0 to 1, such as 0.5";
  return z.number(error).min(0, error).max(1, error);
}

export function flag() {
  return z.boolean("write true or false");
}

export function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, { error: `write one of: ${names.map((name) => `"${name}"`).join(", ")}` });
}

/** Any text. */
export function text(what: string) {
  const error = `write ${what} in quotes`;
  return z.string(error).min(1, error).max(LONGEST_TEXT, error);
}

/** The name of an environment variable, not its value. */
export function variable() {
  const error = 'write the name of an environment variable, such as "GITHUB_TOKEN"';
  return z
    .string(error)
    .regex(/^[A-Za-z_]\w{0,99}$/, error)
    .refine((name) => redact(name, []) === name, `${error}; this looks like the secret itself`);
}

/** The file that holds a secret. */
export function secretFile() {
  return absoluteFile("a file that only you can read");
}

/** An absolute path: every process must find the same file. */
export function absoluteFile(what: string) {
  const error = `write the absolute path of ${what}`;
  return z.string(error).regex(/^(\/|[A-Za-z]:[\\/])/, error);
}

/** An address of a channel; other machines require https. */
export function address() {
  const error = "write an address that starts with https://";
  return z.string(error).refine(isSafeAddress, error);
}

/** The address of a server, without a path: its pages are at the root. */
export function origin() {
  const error = 'write an address without a path, such as "https://askd.example.com"';
  return address().refine((given) => isOrigin(given), error);
}

function isOrigin(given: string) {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  return url !== undefined && url.pathname === "/" && url.search === "" && url.hash === "";
}

/** A time range such as `22:00-07:00`. */
export function hours() {
  const error = 'write a part of the day, such as "22:00-07:00" or "22:00-07:00 Europe/Berlin"';
  return z.string(error).refine((text) => parseQuietHours(text) !== undefined, error);
}

/** A command as a list of arguments, the program first; no shell is involved. */
export function commandWords(example: string) {
  const error = `write a list of words, such as ${example}`;
  return z
    .array(z.string(error).max(LONGEST_TEXT, error), error)
    .min(1, error)
    .max(100, error)
    .refine(([program]) => program !== "", error);
}

function isWithin(given: string, leastMs: number, mostMs: number) {
  try {
    const ms = parseDuration(given);
    return ms >= leastMs && ms <= mostMs;
  } catch {
    return false; // parseDuration refuses what is no duration
  }
}

function isSafeAddress(given: string) {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || url.password !== "") return false;
  return (
    url.protocol === "https:" || (url.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
  );
}
