import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import type { Rules } from "../../core/rules.ts";

const ASKING = `
name: fix
steps:
  - id: check
    tool: post_question
    input: { question: Which way?, options: [{ value: guard, label: Guard, recommended: true }, Other], confidence: CONFIDENCE }
    suspend: true
    output: choice
  - { id: fix, tool: shell, input: { argv: [fix, "{{ choice.answer }}"] } }
on_timeout: { tool: shell, input: { argv: [label] } }
`;

function aStage(below: "skip" | "block") {
  const confidence: Rules["confidence"] = { act: 0.85, ask: 0.5, below };
  return new WorkflowStage({ rules: { confidence } });
}

test("a workflow that is sure enough goes on with what it recommends", async () => {
  const stage = aStage("block");
  expect(await stage.start(ASKING.replace("CONFIDENCE", "90"))).toMatchObject({ status: "completed", owes: [] });
  expect(stage.ran).toEqual([["fix", "guard"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a workflow that is too unsure is skipped without asking, and does not say that nobody answered", async () => {
  const stage = aStage("skip");
  const run = await stage.start(ASKING.replace("CONFIDENCE", "20"));
  expect(run).toMatchObject({ status: "skipped", reason: "low_confidence", owes: [] });
  expect(stage.ran).toEqual([]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a workflow that is too unsure is blocked; a person who repeats the step is asked", async () => {
  const stage = aStage("block");
  const run = await stage.start(ASKING.replace("CONFIDENCE", "20"));
  expect(run).toMatchObject({ status: "blocked", reason: "low_confidence", owes: [] });
  expect(run.endedAt).toBeUndefined();
  await stage.workflows.retry(run.id, undefined, ADA);
  await stage.doDue();
  expect(await stage.run(run.id)).toMatchObject({ status: "awaiting_input" });
  expect(await stage.answer(run, "Other")).toMatchObject({ status: "completed" });
  expect(stage.ran).toEqual([["fix", "Other"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a branch that is too unsure skips the whole run", async () => {
  const stage = aStage("skip");
  const run = await stage.start(`
name: both
steps:
  - id: both
    parallel:
      - { id: one, tool: post_question, input: { question: One?, confidence: 10 }, suspend: true }
on_timeout: { tool: shell, input: { argv: [label] } }
`);
  expect(run).toMatchObject({ status: "skipped", reason: "low_confidence" });
  expect(stage.ran).toEqual([]);
});
