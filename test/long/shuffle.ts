import { parseArgs } from "node:util";
import { z } from "zod";
import { Database } from "../proof/place.ts";
import { shuffle } from "../proof/reach/shuffle.ts";

const Count = z.coerce.number().int().positive();

// npm run shuffle -- --actions 10000 --times 10 --store sqlite|postgres|both
// Acts of people, each brought so many times in any order to two listeners: each counts once.
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { actions: text, times: text, store: text } });
const store = values.store ?? "both";
for (const database of store === "both" ? Database.options : [Database.parse(store)]) {
  const startedMs = performance.now();
  const shuffled = await shuffle(database, Count.parse(values.actions ?? 10_000), Count.parse(values.times ?? 10));
  const { actions, deliveries, answers, problems } = shuffled;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  console.log(
    `${database}: ${actions} acts brought ${deliveries} times, ${answers} answers, ${problems.length} problems, ${seconds} s`,
  );
  if (problems.length > 0) process.exitCode = 1;
}
