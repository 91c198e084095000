import { nearest } from "../core/text/nearest.ts";
import { Refusal } from "../core/refusal.ts";
import { oneLine } from "./view/sanitise.ts";

/** The one thing that a command needs to be told. */
export function requireOne(positionals: readonly string[], usage: string): string {
  const [first, second] = positionals;
  if (first !== undefined && second === undefined) return first;
  throw wrongUsage(first === undefined ? sayMissing(usage) : `"${second}" is too much`, usage);
}

/** At most one thing. */
export function atMostOne(positionals: readonly string[], usage: string): string | undefined {
  if (positionals.length > 1) throw wrongUsage(`"${positionals[1]}" is too much`, usage);
  return positionals[0];
}

/** Names the first thing that the usage wants: `<id> is missing`. */
function sayMissing(usage: string): string {
  const wanted = /<[^>]+>/.exec(usage)?.[0] ?? usage.split(" ")[1] ?? "Something";
  return `${wanted.replace(/[[\]]/g, "")} is missing`;
}

/** What is so with words of which the first is none of the verbs that the usage names, or the rest are too many. */
export function noVerb([typed, ...rest]: readonly string[], usage: string): Refusal {
  const [name = "", list = ""] = usage.split(" ");
  const verbs = list.replace(/[[\]]/g, "").split("|");
  if (typed === undefined) return wrongUsage(`Say what to do: ${sayOr(verbs)}`, usage);
  if (verbs.includes(typed)) return wrongUsage(`"${oneLine(rest[0] ?? typed)}" is too much`, usage);
  const meant = nearest(typed, verbs);
  return new Refusal("bad_input", `There is no "askd ${name} ${oneLine(typed)}"`, {
    hint: meant ? `Did you mean: askd ${name} ${meant}` : `Usage: askd ${usage}`,
  });
}

function sayOr(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

export function wrongUsage(problem: string, usage: string): Refusal {
  return new Refusal("bad_input", problem, { hint: `Usage: askd ${usage}` });
}
