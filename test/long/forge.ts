import { readFlags } from "../proof/flags.ts";
import { forge } from "../proof/reach/forge.ts";

// npm run forge -- --count 100000 --store sqlite|postgres|both
// Altered, invented and repeated replies: not one may count.
const { count, databases } = readFlags("count", 100_000);
for (const database of databases) {
  const startedMs = performance.now();
  const { brought, problems } = await forge(database, count);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  for (const [kind, times] of Object.entries(brought)) console.log(`  ${kind}: ${times}`);
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  console.log(`${database}: ${count} forged, ${problems.length} problems, ${seconds} s`);
  if (problems.length > 0) process.exitCode = 1;
}
