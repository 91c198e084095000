import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";

const MANY = 120;

test("more runs than this process does at a time go on one after the other, and none is put off", async () => {
  const stage = new WorkflowStage();
  const workflow = await stage.approve("name: many\nsteps: [{ id: one, tool: shell, input: { argv: [one] } }]");
  const starts = Array.from({ length: MANY }, () =>
    stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA),
  );
  await Promise.all(starts);
  await stage.doDue(); // the clock stands still: what is put off is not due
  expect(stage.ran).toHaveLength(MANY);
  const runs = await stage.store.listRuns({ statuses: ["queued"], order: "oldest", limit: 1 });
  expect(runs).toEqual([]);
});
