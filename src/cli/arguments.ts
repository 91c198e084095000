import { Refusal } from "../core/refusal.ts";

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

export function wrongUsage(problem: string, usage: string): Refusal {
  return new Refusal("bad_input", problem, { hint: `Usage: askd ${usage}` });
}
