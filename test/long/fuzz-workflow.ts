import { parseArgs } from "node:util";
import { fuzzWorkflows } from "../proof/workflow/fuzz.ts";

const SLOWEST_MS = 1_000;

// npm run fuzz:workflow -- --count 100000 --seed 7
// Generated and mutated workflow files, expressions and schedules: none may crash or hang.
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});
const startedMs = performance.now();
const { inputs, valid, problems, slowestMs } = fuzzWorkflows(Number(values.count), Number(values.seed));
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
console.log(
  `seed ${values.seed}: ${inputs} inputs, ${valid} valid workflows, ${problems.length} problems, ${seconds} s, ` +
    `slowest ${slowestMs.toFixed(0)} ms of processor time (at most ${SLOWEST_MS})`,
);
if (problems.length > 0 || slowestMs > SLOWEST_MS) process.exitCode = 1;
