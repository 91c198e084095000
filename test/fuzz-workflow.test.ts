import { expect, test } from "vitest";
import { fuzzWorkflows } from "./proof/workflow/fuzz.ts";

// npm run fuzz:workflow is the long form.
test("generated and mutated workflows, expressions and schedules neither crash the reader nor reach a prototype", () => {
  const { inputs, valid, problems } = fuzzWorkflows(200, 7);
  expect(problems).toEqual([]);
  expect(inputs).toBe(200);
  expect(valid).toBeGreaterThan(2);
});
