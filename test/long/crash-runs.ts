import { readFlags } from "../proof/flags.ts";
import type { RunOutcome } from "../proof/run-case.ts";
import { listCases, randomCase } from "../proof/run-list.ts";
import { playRuns } from "../proof/runs.ts";

const AT_ONCE = 6;
const RANDOM = 10;

// npm run crash:runs -- --times 200 --store sqlite|postgres|both --only "worker taken" --part 1/4
// Every point so many times, with workers that die at any moment between them; a part takes each so-manieth point.
const { count, databases, only, part, parts } = readFlags("times", 20);
for (const database of databases) {
  const startedMs = performance.now();
  const points = [...listCases(), ...Array.from({ length: RANDOM }, randomCase)];
  const own = points.filter(({ name }, index) => name.includes(only) && index % parts === part - 1);
  const cases = Array.from({ length: count }, () => own).flat();
  const outcomes = await playRuns(database, cases, { atOnce: AT_ONCE, onOutcome: sayProblems });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const broken = outcomes.filter(({ problems }) => problems.length > 0).length;
  for (const line of sayPoints(outcomes)) console.log(`  ${line}`);
  const longest = Math.max(0, ...outcomes.map(({ takeoverMs }) => takeoverMs ?? 0));
  console.log(`${database}: ${outcomes.length} runs, ${broken} with problems, ${seconds} s`);
  console.log(`${database}: the longest takeover took ${(longest / 1000).toFixed(1)} s`);
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
    const taken = own.flatMap(({ takeoverMs }) => takeoverMs ?? []);
    const after = taken.length === 0 ? "" : `, taken over within ${(Math.max(...taken) / 1000).toFixed(1)} s`;
    return `${name}: ${own.length}, ${[...new Set(ends)].join(", ")}${after}`;
  });
}
