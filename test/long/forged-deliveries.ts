import { readFlags } from "../proof/flags.ts";
import { forgeDeliveries } from "../proof/reach/forged-deliveries.ts";

// npm run forged:deliveries -- --count 100000
// Signed deliveries of GitHub and of other programs, each altered in one way: not one may be accepted.
const { count } = readFlags("count", 100_000);
const startedMs = performance.now();
const { refused, problems } = await forgeDeliveries(count);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
console.log(`${count} altered deliveries, ${refused} refused, ${problems.length} problems, ${seconds} s`);
if (problems.length > 0) process.exitCode = 1;
