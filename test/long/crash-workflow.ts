import { readFlags } from "../proof/flags.ts";
import { listStepCases, playSteps } from "../proof/steps.ts";

const AT_ONCE = 6;

// npm run crash:workflow -- --times 20 --store sqlite|postgres|both --only "inside" --part 1/4
// Every boundary between steps and every place inside of them, so many times.
const { count, databases, only, part, parts } = readFlags("times", 20);
for (const database of databases) {
  const startedMs = performance.now();
  const own = listStepCases().filter(({ name }, index) => name.includes(only) && index % parts === part - 1);
  const cases = Array.from({ length: count }, () => own).flat();
  const outcomes = await playSteps(database, cases, {
    atOnce: AT_ONCE,
    onOutcome: ({ name, problems }) => problems.forEach((problem) => console.log(`  ${name}: ${problem}`)),
  });
  for (const { name } of own) {
    const ends = outcomes.filter((outcome) => outcome.name === name).map(({ status }) => status);
    console.log(`  ${name}: ${ends.length}, ${[...new Set(ends)].join(", ")}`);
  }
  const broken = outcomes.filter(({ problems }) => problems.length > 0).length;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${database}: ${outcomes.length} runs, ${broken} with problems, ${seconds} s`);
  if (broken > 0) process.exitCode = 1;
}
