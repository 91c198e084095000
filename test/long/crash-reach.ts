import { readFlags } from "../proof/flags.ts";
import type { ReachOutcome } from "../proof/reach/reach-case.ts";
import { listBuiltCases, listReachCases } from "../proof/reach/reach-list.ts";
import { ChannelName } from "../proof/reach/reach-task.ts";
import { playReaches } from "../proof/reach/reaches.ts";

const AT_ONCE = 3;

// npm run crash:reach -- --times 20 --store sqlite|postgres|both --channel telegram --only "send taken" --part 1/4
// Kills the process that brings messages at every step; a part takes each so-manieth step. With --built it is the built
// askd worker, which the services kill when a message arrives; that waits 30 s after each kill.
const { count, databases, only, channel, isBuilt, part, parts } = readFlags("times", 20);
for (const database of databases) {
  const startedMs = performance.now();
  const points = ChannelName.options
    .filter((name) => name.includes(channel))
    .flatMap(isBuilt ? listBuiltCases : listReachCases);
  const own = points.filter(({ name }, index) => name.includes(only) && index % parts === part - 1);
  const outcomes = await playReaches(database, own, { times: count, atOnce: AT_ONCE, isBuilt, onOutcome: sayProblems });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const broken = outcomes.filter(({ problems }) => problems.length > 0);
  for (const line of sayPoints(outcomes)) console.log(`  ${line}`);
  for (const outcome of broken.filter(({ name }) => name.endsWith("in the end"))) sayProblems(outcome);
  console.log(
    `${database}: ${outcomes.length} kills at ${own.length} points, ${broken.length} with problems, ${seconds} s`,
  );
  if (broken.length > 0) process.exitCode = 1;
}

function sayProblems({ name, problems }: ReachOutcome): void {
  for (const problem of problems) console.log(`  ${name}: ${problem}`);
}

/** One line for each point: how often, and how often something was sent a second time. */
function sayPoints(outcomes: readonly ReachOutcome[]): string[] {
  return [...new Set(outcomes.map(({ name }) => name))].map((name) => {
    const own = outcomes.filter((outcome) => outcome.name === name);
    const repeated = own.reduce((sum, outcome) => sum + outcome.repeated, 0);
    return `${name}: ${own.length}${repeated === 0 ? "" : `, ${repeated} sent a second time`}`;
  });
}
