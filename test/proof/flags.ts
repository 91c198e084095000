import { parseArgs } from "node:util";
import { z } from "zod";
import { Database } from "./place.ts";

/** Reads `--name 500`, `--store sqlite|postgres|both` and `--only words` of a long proof. */
export function readFlags(name: string, usual: number): { count: number; databases: Database[]; only: string } {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { [name]: text, store: text, only: text } });
  const count = z.coerce
    .number()
    .int()
    .positive()
    .parse(values[name] ?? usual);
  const store = values["store"] ?? "both";
  const only = z.string().parse(values["only"] ?? "");
  return { count, only, databases: store === "both" ? [...Database.options] : [Database.parse(store)] };
}
