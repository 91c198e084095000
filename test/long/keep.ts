import { readFlags } from "../proof/flags.ts";
import { killWhileKeeping } from "../proof/keep/kills.ts";
import { moveAround } from "../proof/keep/moves.ts";

// npm run keep -- --points 50 --store sqlite|postgres|both --only moves|backup|export|import|restore
const { count, databases, only } = readFlags("points", 50);
const FULL_POINTS = 50;
const startedMs = performance.now();
let killingMs = 0;
const problems: string[] = [];

if (only === "" || only === "moves") {
  const moved = await moveAround({ turns: 200 });
  const { hops, acknowledged, pendingInExports, importedBusy, compared, answered } = moved;
  console.log(
    `moves: ${hops} hops under writes, ${acknowledged} acknowledged, ${pendingInExports} pending questions in exports made meanwhile, ${importedBusy} runs imported from those, ${compared} lines compared, ${answered} answered in the end, ${moved.problems.length} problems`,
  );
  problems.push(...moved.problems);
}

for (const database of only === "moves" ? [] : databases) {
  const fromMs = performance.now();
  const results = await killWhileKeeping(database, count, only);
  killingMs += performance.now() - fromMs;
  for (const { operation, killed, ended, problems: found } of results) {
    console.log(`${database}: ${operation}: ${killed} killed, ${ended} ended before, ${found.length} lost or half`);
    problems.push(...found.map((problem) => `${database}: ${operation}: ${problem}`));
  }
}

if (killingMs > 0 && count < FULL_POINTS) {
  const minutes = (killingMs * (FULL_POINTS / count)) / 60_000;
  console.log(
    `  killing took ${(killingMs / 1000).toFixed(0)} s; --points ${FULL_POINTS} takes about ${minutes.toFixed(0)} min`,
  );
}
for (const problem of problems) console.log(`  ${problem}`);
console.log(`  ${problems.length} problems, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
if (problems.length > 0) process.exitCode = 1;
