import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { type NewMachine, moveWorkflow } from "./move-workflow.ts";

const TWO = `
name: two
steps:
  - id: both
    parallel:
      - { id: one, tool: post_question, input: { question: One?, options: [Red, Blue] }, suspend: true }
      - { id: other, tool: post_question, input: { question: Other?, options: [Red, Blue] }, suspend: true }
    output: both
  - { id: paint, tool: shell, input: { argv: [paint, "{{ both.one.answer }}", "{{ both.other.answer }}"] } }
`;

const here: NewMachine = { host: "here", hasBranch: () => Promise.resolve(false) };

test("a run moves with its branches, whichever of them is named, and goes on with their answers", async () => {
  const there = new WorkflowStage({ host: "build-7~3fa91c" });
  const whole = await there.start(TWO);
  const stage = new WorkflowStage({ store: there.store, seed: "here" });
  await stage.approve(TWO, { dir: "/elsewhere", file: "test.yml" });
  const [, branch, other] = await stage.runs();
  if (!branch || !other) throw new Error("it has no branches");
  expect(branch).toMatchObject({ host: "build-7~3fa91c", status: "awaiting_input" });

  const moved = await moveWorkflow(branch, here, ADA, stage.engine.inside);
  expect(moved).toMatchObject({ run: { id: branch.id, host: "here", dir: "/elsewhere" }, hasTree: false, agents: [] });
  await stage.doDue();
  expect(await stage.run(whole.id)).toMatchObject({ host: "here", status: "running", workflow: { isWaiting: true } });
  await stage.answer(branch, "Red");
  await stage.answer(other, "Blue");
  expect(await stage.run(whole.id)).toMatchObject({ status: "completed" });
  expect([there.ran, stage.ran]).toEqual([[], [["paint", "Red", "Blue"]]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a run is not moved to a machine on which nobody has approved its definition, or without the branch that it worked on", async () => {
  const there = new WorkflowStage({ host: "build-7~3fa91c" });
  const first = "steps:\n  - { id: build, tool: shell, input: { argv: [make] } }";
  const run = await there.start(TWO.replace("steps:", first));
  const stage = new WorkflowStage({ store: there.store, seed: "here" });
  const move = () => moveWorkflow(run, here, ADA, stage.engine.inside);
  await expect(move()).rejects.toMatchObject({ code: "not_permitted", hint: expect.stringContaining("approve two") });
  await stage.approve(TWO);
  await expect(move()).rejects.toMatchObject({ code: "not_permitted" });
  await stage.approve(TWO.replace("steps:", first));
  await expect(move()).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("is not in /project"),
  });
  expect(await stage.runs()).toMatchObject([{ host: run.host }, { host: run.host }, { host: run.host }]);
});
