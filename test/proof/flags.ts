import { parseArgs } from "node:util";
import { z } from "zod";
import { Database } from "./place.ts";

/** Reads `--name 500` and `--store sqlite|postgres|both` of a long proof. */
export function readFlags(name: string, usual: number): { count: number; databases: Database[] } {
  const { values } = parseArgs({ options: { [name]: { type: "string" }, store: { type: "string" } } });
  const count = z.coerce
    .number()
    .int()
    .positive()
    .parse(values[name] ?? usual);
  const store = values["store"] ?? "both";
  return { count, databases: store === "both" ? [...Database.options] : [Database.parse(store)] };
}
