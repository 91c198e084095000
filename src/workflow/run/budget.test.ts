import { expect, test } from "vitest";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { DAY_MS, HOUR_MS } from "../../core/instant.ts";

/** An agent, a question that may wait for days, and another agent. */
const WAITING = `
steps:
  - { id: look, tool: agent, input: { prompt: Look } }
  - { id: ask, tool: post_question, input: { question: Go on?, timeoutHours: 72 }, suspend: true }
  - { id: work, tool: agent, input: { prompt: Work } }
`;

test("a run that waited for days still counts what its agents cost before", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`name: slow\nbudget: { per_run: 5 }${WAITING}`);
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 5 });
  await stage.endAgent({ costUsd: 3 });
  stage.skip(2 * DAY_MS);
  await stage.answer(run, "yes");
  expect(stage.agents).toHaveLength(2);
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 2 });
});

test("a run whose agents have used up its budget before it waited starts no other agent", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`name: slow\nbudget: { per_run: 5 }${WAITING}`);
  await stage.endAgent({ costUsd: 5 });
  stage.skip(2 * DAY_MS);
  expect(await stage.answer(run, "yes")).toMatchObject({ status: "failed", reason: "budget_used" });
  expect(stage.agents).toHaveLength(1);
});

test("the agents of a branch and the runs that they start count for the whole run", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`
name: nested
budget: { per_run: 5 }
steps:
  - id: both
    parallel: [{ id: one, steps: [{ id: look, tool: agent, input: { prompt: Look } }] }]
  - { id: work, tool: agent, input: { prompt: Work } }
`);
  await stage.endAgent({ costUsd: 4 });
  expect(await stage.run(run.id)).toMatchObject({ status: "running" });
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([5, 1]);
});

test("what an agent costs today counts for the day, however old its run is", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: daily\nbudget: { per_day: 5 }${WAITING}`;
  const old = await stage.start(yaml);
  await stage.endAgent({ costUsd: 4 });
  stage.skip(2 * DAY_MS);
  await stage.answer(old, "yes");
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 5 }); // the other day is over
  await stage.endAgent({ costUsd: 3 });
  await stage.start(yaml);
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 2 });
  await stage.endAgent({ costUsd: 2 });
  expect(await stage.start(yaml)).toMatchObject({ status: "failed", reason: "budget_used" });
  await stage.pass(DAY_MS);
  expect((await stage.start(yaml)).status).toBe("running");
  expect(stage.failures).toEqual([]);
});

test("an agent that works over midnight counts for each day with what it cost on it", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: long\nbudget: { per_day: 10 }${WAITING}`;
  await stage.start(yaml);
  const meter = await stage.meter();
  await meter.keep([{ since: "process", costUsd: 4 }], stage.now);
  stage.skip(13 * HOUR_MS);
  await meter.keep([{ since: "process", costUsd: 7 }], stage.now);
  // Another worker takes it over and counts from the beginning.
  const again = await stage.meter({});
  await again.keep([{ since: "process", costUsd: 7 }], stage.now);
  await stage.endAgent();
  await stage.start(yaml);
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 7 });
});

test("agents of another workflow count for their own budget", async () => {
  const stage = new WorkflowStage();
  await stage.start(`name: one\nbudget: { per_day: 5 }${WAITING}`);
  await stage.endAgent({ costUsd: 4 });
  await stage.start(`name: other\nbudget: { per_day: 5 }${WAITING}`);
  expect(stage.agents.at(-1)).toMatchObject({ budgetUsd: 5 });
});

const BRANCHES = `
steps:
  - id: both
    parallel:
      - { id: one, tool: agent, input: { prompt: One } }
      - { id: two, tool: agent, input: { prompt: Two } }
      - { id: three, tool: shell, input: { argv: [npm, test] } }
  - { id: work, tool: agent, input: { prompt: Work } }
`;

test("agents of branches that work at the same time share the budget of their run", async () => {
  const stage = new WorkflowStage();
  await stage.start(`name: wide\nbudget: { per_run: 6 }${BRANCHES}`);
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([3, 3]);
  await stage.endAgents({ costUsd: 1 });
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([3, 3, 4]);
});

test("items that work at the same time share the budget of the day", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`
name: many
budget: { per_day: 6 }
inputs: { files: { type: list, default: [a, b, c] } }
steps:
  - { id: each, tool: agent, for_each: { in: "{{ inputs.files }}", at_once: 2 }, input: { prompt: "{{ item }}" } }
`);
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([3, 3]);
  await stage.endAgent({ costUsd: 1 });
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([3, 3, 2]);
  expect(await stage.run(run.id)).toMatchObject({ status: "running" });
});

test("an agent of another run gets nothing of what an agent that works may still spend today", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: daily\nbudget: { per_run: 4, per_day: 6 }${WAITING}`;
  await stage.start(yaml);
  await (await stage.meter()).keep([{ since: "process", costUsd: 1 }], stage.now);
  await stage.start(yaml);
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([4, 2]);
  const third = await stage.start(yaml);
  expect(third).toMatchObject({ status: "failed", reason: "budget_used" });
  expect(third.result?.summary).toContain("reserved for agents that work now");
});

test("an agent that waits for an answer keeps no other run from working", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: daily\nbudget: { per_day: 6 }${WAITING}`;
  await stage.start(yaml);
  await stage.askByAgent("Which?");
  await stage.start(yaml);
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([6, 6]);
});

test("a workflow with the same name in another project has a budget of its own", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: daily\nbudget: { per_day: 5 }${WAITING}`;
  await stage.start(yaml);
  await stage.endAgent({ costUsd: 4 });
  const workflow = await stage.approve(yaml, { dir: "/other", file: "test.yml" });
  await stage.start(yaml, { workflow });
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([5, 5]);
});

test("an agent that the settings limit to less reserves no more than that", async () => {
  const stage = new WorkflowStage({ outside: { findAgentBudget: (agent) => (agent === "claude" ? 2 : undefined) } });
  const yaml = `name: daily\nbudget: { per_day: 5 }${WAITING}`;
  for (let runs = 0; runs < 3; runs += 1) await stage.start(yaml);
  expect(stage.agents.map(({ budgetUsd }) => budgetUsd)).toEqual([2, 2, 1]);
});
