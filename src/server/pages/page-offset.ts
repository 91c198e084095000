import type { Call } from "./deps.ts";

/** How many come before the part of a list that an address names. */
export function readFrom(context: Call): number | undefined {
  const from = Number(context.req.query("from") ?? Number.NaN);
  return Number.isSafeInteger(from) && from >= 0 ? from : undefined;
}
