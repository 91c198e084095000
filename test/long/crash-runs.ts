import { readFlags } from "../proof/flags.ts";
import type { RunOutcome } from "../proof/run-case.ts";
import { listCases, playRuns, randomCase } from "../proof/runs.ts";

const AT_ONCE = 6;
const RANDOM = 10;

// npm run crash:runs -- --times 200 --store sqlite|postgres|both --only "worker taken"
// Every point so many times, with workers that die at any moment between them.
const { count, databases, only } = readFlags("times", 20);
for (const database of databases) {
  const startedMs = performance.now();
  const rounds = Array.from({ length: count }, () => [...listCases(), ...Array.from({ length: RANDOM }, randomCase)]);
  const cases = rounds.flat().filter(({ name }) => name.includes(only));
  const outcomes = await playRuns(database, cases, { atOnce: AT_ONCE, onOutcome: sayProblems });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const broken = outcomes.filter(({ problems }) => problems.length > 0).length;
  for (const line of sayPoints(outcomes)) console.log(`  ${line}`);
  console.log(`${database}: ${outcomes.length} runs, ${broken} with problems, ${seconds} s`);
  if (broken > 0) process.exitCode = 1;
}

function sayProblems({ name, problems }: RunOutcome): void {
  for (const problem of problems) console.log(`  ${name}: ${problem}`);
}

/** One line for each point: how often, how it ended, and how long until another worker had the run. */
function sayPoints(outcomes: readonly RunOutcome[]): string[] {
  return [...new Set(outcomes.map(({ name }) => name))].map((name) => {
    const own = outcomes.filter((outcome) => outcome.name === name);
    const ends = own.map(({ status, starts }) => `${status} (epoch ${starts})`);
    const reclaimed = own.flatMap(({ reclaimMs }) => reclaimMs ?? []).toSorted((one, other) => one - other);
    const longest = reclaimed.at(-1);
    const after = longest === undefined ? "" : `, reclaimed within ${(longest / 1000).toFixed(1)} s`;
    return `${name}: ${own.length}, ${[...new Set(ends)].join(", ")}${after}`;
  });
}
