import type { PageCall } from "./deps.ts";

/** Reads the offset of a page of a list from the address. */
export function readPageOffset(context: PageCall): number | undefined {
  const from = Number(context.req.query("from") ?? Number.NaN);
  return Number.isSafeInteger(from) && from >= 0 ? from : undefined;
}
