import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { said } from "../../../test/scene.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { HOUR_MS } from "../../core/instant.ts";

const question = (action: string) =>
  `{ question: Which?, options: [Red, Blue], timeoutHours: 1, timeoutAction: ${action} }`;

const PARALLEL = (action: string) => `
name: two
steps:
  - id: both
    parallel:
      - { id: one, tool: post_question, input: ${question(action)}, suspend: true }
      - { id: other, tool: post_question, input: ${question(action)}, suspend: true }
`;

const EACH = (action: string) => `
name: each
steps:
  - { id: all, for_each: { in: [a, b], at_once: 2 }, tool: post_question, input: ${question(action)}, suspend: true }
`;

test.each([
  ["two branches that fail", PARALLEL("fail"), "failed"],
  ["two branches that are skipped", PARALLEL("skip"), "skipped"],
  ["two items that are skipped", EACH("skip"), "skipped"],
] as const)(
  "a late answer to one of %s is refused with the command that asks again, for nobody would use it",
  async (_what, yaml, status) => {
    const stage = new WorkflowStage();
    const run = await stage.start(yaml);
    await stage.pass(2 * HOUR_MS);
    expect(await stage.run(run.id)).toMatchObject({ status });
    const [branch] = await stage.children(run);
    if (branch?.lastQuestionId === undefined) throw new Error("it asked nothing");
    const late = stage.engine.answer(branch.lastQuestionId, { ...said("Red"), force: true }, ADA);
    await expect(late).rejects.toMatchObject({
      code: "not_pending",
      hint: `Ask again with its workflow: askd workflow retry ${branch.number}`,
    });
    expect(await stage.run(branch.id)).toMatchObject({ status });

    // The retry of a branch is that of the run which it belongs to.
    expect(await stage.workflows.retry(branch.id, undefined, ADA)).toMatchObject({ id: run.id });
    await stage.doDue();
    const again = (await stage.runs()).filter(({ pendingId }) => pendingId !== undefined);
    expect(again).toHaveLength(2);
    for (const each of again) await stage.answer(each, "Red");
    expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  },
);

test("a late answer to the agent of a step is refused in the same way", async () => {
  const stage = new WorkflowStage({ rules: { onTimeout: "skip" } });
  const run = await stage.start(`name: one\nsteps: [{ id: fix, tool: agent, input: { prompt: Fix } }]`);
  const child = await stage.askByAgent("Which branch?");
  if (child.pendingId === undefined) throw new Error("it asked nothing");
  await stage.pass(25 * HOUR_MS);
  expect(await stage.run(run.id)).toMatchObject({ status: "skipped" });
  const late = stage.engine.answer(child.pendingId, { ...said("main"), force: true }, ADA);
  await expect(late).rejects.toMatchObject({ hint: expect.stringContaining(`askd workflow retry ${child.number}`) });
  expect(await stage.workflows.retry(child.id, undefined, ADA)).toMatchObject({ id: run.id });
});
