import { parseArgs } from "node:util";
import { z } from "zod";
import { Database, withPlace } from "../proof/place.ts";
import { buildVariant, scaleWaits } from "../proof/variant.ts";
import { sayWalk } from "../proof/walk/report.ts";
import { walk } from "../proof/walk/walk.ts";

// npm run walk -- --store sqlite|postgres --steps 20000 [--kill] [--seed 7]
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { store: text, steps: text, seed: text, kill: { type: "boolean" } } });
const Count = z.coerce.number().int().nonnegative();
const database = Database.parse(values.store ?? "sqlite");
const steps = Count.parse(values.steps ?? "20000");
const seed = Count.parse(values.seed ?? String(Date.now() % 1_000_000));
const kill = values.kill ?? false;
const startedMs = performance.now();
const variant = await buildVariant(scaleWaits(0.1));
try {
  await withPlace(database, async (place) => {
    const since = (): string => ((performance.now() - startedMs) / 1000).toFixed(1);
    const progress = (so: { steps: number; faults: number }): void =>
      console.error(`${so.steps} of ${steps} steps, ${so.faults} faults, ${since()} s`);
    const walked = await walk({ place, variant, seed, steps, kill, progress });
    const seconds = since();
    for (const line of sayWalk(walked)) console.log(line);
    const { length } = walked.ledger.faults;
    console.log(
      `${database}${kill ? " with kills" : ""}: seed ${seed}, ${walked.ledger.steps} steps, ${length} faults, ${seconds} s`,
    );
    if (length > 0) process.exitCode = 1;
  });
} finally {
  variant.remove();
}
// A client that lost its server can keep a connection open; the walk is over all the same.
process.exit();
