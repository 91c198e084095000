import { readFlags } from "../proof/flags.ts";
import { listCases, playRuns } from "../proof/runs.ts";

// npm run crash:runs -- --only "worker taken"
const { databases, only } = readFlags("times", 1);
for (const database of databases) {
  const cases = listCases().filter(({ name }) => name.includes(only));
  const outcomes = await playRuns(database, cases, {
    atOnce: 6,
    onOutcome: ({ name, status, starts, reclaimMs, problems }) => {
      console.log(
        `${problems.length ? "BAD" : "ok "} ${name}: ${status}, ${starts} starts, reclaim ${reclaimMs?.toFixed(0) ?? "-"}`,
      );
      for (const problem of problems) console.log(`      ${problem}`);
    },
  });
  console.log(database, outcomes.length, outcomes.filter(({ problems }) => problems.length > 0).length, "bad");
}
