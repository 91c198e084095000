import { crash } from "../proof/crash.ts";
import { readFlags } from "../proof/flags.ts";

// npm run crash -- --kills 500 --store sqlite|postgres|both
const { count, databases } = readFlags("kills", 500);
for (const database of databases) {
  const startedMs = performance.now();
  const { kills, acknowledged, runs, events, problems } = await crash(database, count);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const total = Object.values(acknowledged).reduce((sum, each) => sum + each, 0);
  console.log(`${database}: ${kills} kills, ${total} acknowledged, ${runs} runs, ${events} events, ${seconds} s`);
  console.log(`  acknowledged: ${JSON.stringify(acknowledged)}`);
  for (const problem of problems) console.log(`  ${problem}`);
  console.log(`  ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
