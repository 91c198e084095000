import { expect, test } from "vitest";
import { listStepCases, playSteps } from "./proof/steps.ts";

/** Places inside of keyed, repeatable and other steps, and boundaries, one in a branch; npm run crash:workflow has all. */
const SHORT: ReadonlySet<string> = new Set([
  "inside comment",
  "inside again",
  "called once",
  "committed pr",
  "wide: committing second",
  "outside: inside tool",
]);

test("comments, labels and pull requests happen once, whenever the process of a workflow dies", async () => {
  const cases = listStepCases().filter(({ name }) => SHORT.has(name));
  const outcomes = await playSteps("sqlite", cases, { atOnce: cases.length });
  expect(outcomes.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
  expect(outcomes).toHaveLength(SHORT.size);
}, 240_000);
