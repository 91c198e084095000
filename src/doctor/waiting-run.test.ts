import { expect, test } from "vitest";
import { overriding } from "../../test/proof/overriding.ts";
import { WorkflowStage } from "../../test/workflow/stage.ts";
import { AGENTS } from "../agents/agents.ts";
import { checkWaitingRuns, listRunsElsewhere } from "./waiting-run.ts";

const ASKING = `
name: ask
steps:
  - { id: which, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true }
`;

test("a workflow that waits for an answer is no problem on its machine", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(ASKING);
  expect(run.status).toBe("awaiting_input");
  const at = { agents: AGENTS, env: {}, host: run.host, stateDir: "/nowhere" };
  expect(await checkWaitingRuns(stage.store, at)).toEqual([]);
});

test("a workflow whose definition is lost is named, with what to do", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(ASKING);
  const store = overriding(stage.store, {
    findEntry: async (kind, id) => (kind === "definition" ? undefined : stage.store.findEntry(kind, id)),
  });
  const [finding] = await checkWaitingRuns(store, { agents: AGENTS, env: {}, host: run.host, stateDir: "/nowhere" });
  expect(finding).toMatchObject({ code: "definition_lost", level: "problem" });
  expect(finding?.text).toMatch(
    /cannot continue: The definition of its workflow is lost.*: askd workflow approve ask$/,
  );
  expect(finding?.fix).toContain(`askd workflow cancel ${run.number}`);
});

test("a workflow of another machine has no session to look for", async () => {
  const stage = new WorkflowStage();
  const { number } = await stage.start(ASKING);
  const [finding] = await listRunsElsewhere(stage.store, "another");
  expect(finding?.fix).toMatch(new RegExp(`: askd worker; or end it: askd workflow cancel ${number}$`));
});
