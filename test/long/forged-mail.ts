import { parseArgs } from "node:util";
import { bringForged } from "../channels/forged-mail.ts";

// npm run forged:mail -- --count 100000 --seed 7
// Forged and mutated mails, to a question of high risk and to one of medium risk: not one may count.
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { count: text, seed: text } });
const count = Number(values.count ?? 100_000);
const seed = Number(values.seed ?? Date.now() % 100_000);
if (!(count > 0) || Number.isNaN(seed)) throw new Error("--count and --seed take numbers");
for (const risk of ["high", "medium"] as const) {
  const startedAt = Date.now();
  const { brought, read, accepted, control } = await bringForged(count / 2, seed, risk);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(
    `${risk} risk: ${brought} forged mails (seed ${seed}) in ${seconds} s: ${read} were read as replies, ${accepted} accepted; genuine: ${control}\n`,
  );
  if (accepted > 0 || control !== "answered") process.exitCode = 1;
}
