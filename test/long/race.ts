import { readFlags } from "../proof/flags.ts";
import { raceProcesses } from "../proof/process-race.ts";

// npm run race -- --rounds 1000 --store sqlite|postgres|both
const { count, databases } = readFlags("rounds", 1000);
for (const database of databases) {
  const startedMs = performance.now();
  const { rounds, answers, slowestMs, problems } = await raceProcesses(database, count);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${database}: ${rounds} rounds, ${answers} answers, slowest ${slowestMs.toFixed(0)} ms, ${seconds} s`);
  for (const problem of problems) console.log(`  ${problem}`);
  console.log(`  ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
