/** The most characters that one filled value may have, written as JSON. */
export const MOST_VALUE_CHARS = 1_000_000;
const MOST_VALUE_DEPTH = 64;

/** A filled template, or a value that is to be written as JSON, is too large. */
export class ValueTooLarge extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "ValueTooLarge";
  }
}

/**
 * Refuses a value that would be too large as JSON. It stops counting there, so it is fast for any value, also for a list
 * that names one large text many times.
 */
export function requireSize(value: unknown, most: number = MOST_VALUE_CHARS): number {
  return most - countDown(value, most, most, 0);
}

function countDown(value: unknown, left: number, most: number, depth: number): number {
  if (depth > MOST_VALUE_DEPTH) throw new ValueTooLarge(`a value is nested at most ${MOST_VALUE_DEPTH} deep`);
  let rest = left - sizeOfSelf(value);
  if (rest < 0) throw new ValueTooLarge(`a value has at most ${most} characters`);
  if (Array.isArray(value)) {
    for (const member of value) rest = countDown(member, rest, most, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) rest = countDown(member, rest - key.length - 3, most, depth + 1);
  }
  return rest;
}

function sizeOfSelf(value: unknown) {
  if (typeof value === "string") return value.length + 2;
  return typeof value === "object" && value !== null ? 2 : 6;
}
