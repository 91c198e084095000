import { Refusal } from "../core/refusal.ts";

/** A whole number that a flag was given. */
export function readCount(text: string, flag: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count >= 1) return count;
  throw new Refusal("bad_input", `--${flag} takes a whole number from 1`);
}
