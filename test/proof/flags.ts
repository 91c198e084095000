import { parseArgs } from "node:util";
import { z } from "zod";
import { Database } from "./place.ts";

/** The flags of a long proof. */
interface ProofFlags {
  count: number;
  databases: Database[];
  only: string;
  channel: string;
  isBuilt: boolean;
  part: number;
  parts: number;
}

/** Reads `--name 500`, `--store sqlite|postgres|both`, `--only words`, `--channel name`, `--built` and `--part 1/4` of a long proof. */
export function readFlags(name: string, usual: number): ProofFlags {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { [name]: text, store: text, only: text, channel: text, part: text, built: { type: "boolean" } },
  });
  const [part = 1, parts = 1] = (values["part"] ?? "1/1").split("/").map(Number);
  if (!(part >= 1 && part <= parts)) throw new Error("--part takes one of all parts, such as 1/4");
  const count = z.coerce
    .number()
    .int()
    .positive()
    .parse(values[name] ?? usual);
  const store = values["store"] ?? "both";
  const only = z.string().parse(values["only"] ?? "");
  const channel = z.string().parse(values["channel"] ?? "");
  const databases = store === "both" ? [...Database.options] : [Database.parse(store)];
  return { count, only, channel, isBuilt: values["built"] === true, part, parts, databases };
}
