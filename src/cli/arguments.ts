import { findNearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";
import { oneLine } from "./view/sanitise.ts";

/** The only argument of a command that needs exactly one. */
export function requireOneArgument(positionals: readonly string[], usage: string): string {
  const [first, second] = positionals;
  if (first !== undefined && second === undefined) return first;
  throw wrongUsage(first === undefined ? sayMissing(usage) : `Unexpected argument "${second}"`, usage);
}

/** The only argument of a command that takes one or none. */
export function optionalArgument(positionals: readonly string[], usage: string): string | undefined {
  if (positionals.length > 1) throw wrongUsage(`Unexpected argument "${positionals[1]}"`, usage);
  return positionals[0];
}

/** Names the first argument in the usage: `<id> is missing`. */
function sayMissing(usage: string) {
  const wanted = /<[^>]+>/.exec(usage)?.[0] ?? usage.split(" ")[1] ?? "Something";
  return `${wanted.replace(/[[\]]/g, "")} is missing`;
}

/** The refusal of arguments that start with an unknown verb, or continue after a known one. */
export function unknownVerb([typed, ...rest]: readonly string[], usage: string): Refusal {
  const [name = "", list = ""] = usage.split(" ");
  const verbs = list.replace(/[[\]]/g, "").split("|");
  if (typed === undefined) return wrongUsage(`A verb is missing: ${sayOr(verbs)}`, usage);
  if (verbs.includes(typed)) return wrongUsage(`Unexpected argument "${oneLine(rest[0] ?? typed)}"`, usage);
  const meant = findNearest(typed, verbs);
  return new Refusal("bad_input", `There is no "askd ${name} ${oneLine(typed)}"`, {
    hint: meant ? `Did you mean: askd ${name} ${meant}` : `Usage: askd ${usage}`,
  });
}

function sayOr(words: readonly string[]) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

export function wrongUsage(problem: string, usage: string): Refusal {
  return new Refusal("bad_input", problem, { hint: `Usage: askd ${usage}` });
}

/** The value of a flag that takes a whole number from 1. */
export function readPositiveInteger(text: string, flag: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count >= 1) return count;
  throw new Refusal("bad_input", `--${flag} takes a whole number from 1`);
}
