import { engineOn } from "../../src/app.ts";
import { idsFrom } from "../../src/core/id.ts";
import type { Store } from "../../src/store/store.ts";
import { readWorkflow } from "../../src/workflow/definition/read-workflow.ts";
import { StepRunner } from "../../src/workflow/run/step-runner.ts";
import { Workflows } from "../../src/workflow/run/workflows.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import type { StepOutside } from "../../src/workflow/tool/tool.ts";
import { ADA } from "../builders.ts";
import { ROOMY } from "../scene.ts";
import { randomBytes } from "node:crypto";

/** The machine of the workflows, on which {@link workflowEngine} does their steps. */
const HOST = "here";
/** A run that waits for its two branches, each of which waits for a person; a schedule starts another one some day. */
const YAML = `
name: choose
triggers: [{ schedule: "0 6 1 1 *" }]
steps:
  - id: both
    parallel:
      - { id: colour, tool: post_question, input: { question: Which colour?, timeoutHours: 24 }, suspend: true }
      - { id: shape, tool: post_question, input: { question: Which shape?, timeoutHours: 24 }, suspend: true }
    output: chosen
`;

const outside: StepOutside = {
  openTracker: () => Promise.resolve(undefined),
  openTree: () => Promise.resolve({ dir: "/tree", branch: undefined }),
  publishTree: () => Promise.resolve(false),
  runProgram: () => Promise.resolve({ exitCode: 0, stdout: "", stderr: "" }),
  request: () => Promise.reject(new Error("nothing is there")),
  prepareAgent: ({ agent }) => Promise.resolve({ agent }),
  findAgentBudget: () => undefined,
  mcpServers: [],
  env: {},
};

/** An engine that does the steps of workflows on this store, with nothing outside. */
export function workflowEngine(store: Store): { engine: LocalEngine; doSteps: () => Promise<void> } {
  const ids = idsFrom(Date.now, randomBytes);
  const worker = ids.worker();
  const steps = new StepRunner({
    worker,
    outside,
    readSecrets: () => ({}),
    stopPrograms: () => Promise.resolve(),
  });
  const engine = engineOn(store, { rules: ROOMY, ids, worker, steps, host: HOST });
  const doSteps = async () => {
    for (;;) {
      const done = await engine.doDue();
      const isBusy = steps.count > 0;
      await steps.leave(); // a step goes on beside the worker
      if (done === 0 && !isBusy) return;
    }
  };
  return { engine, doSteps };
}

/** Leaves a workflow in the store that waits for its branches, which wait for people. */
export async function fillWithWorkflow(store: Store): Promise<void> {
  const { engine, doSteps } = workflowEngine(store);
  const workflows = new Workflows(engine.inside);
  const { definition, hash } = readWorkflow(YAML, "choose.yml");
  if (!definition || hash === undefined) throw new Error("the workflow is wrong");
  const input = { name: "choose", host: HOST, dir: "/project", file: "choose.yml", definition: hash };
  const workflow = await workflows.approve(input, definition, ADA);
  const issue = { repo: "acme/shop", number: 7 };
  await workflows.start({ workflow, cause: { type: "manual" }, inputs: {}, issue, once: "delivery-1" }, ADA);
  await doSteps();
  const runs = await store.listRuns({ order: "newest", limit: 3 });
  const states = runs.map(({ status }) => status).join(", ");
  if (states !== "awaiting_input, awaiting_input, running") throw new Error(`the runs are ${states}`);
}
