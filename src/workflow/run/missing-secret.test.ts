import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";

test.each([
  ["the environment", `{ argv: [deploy], env: { TOK: "{{ secrets.MYSEC }}" } }`],
  ["an argument", `{ argv: [deploy, "{{ secrets.MYSEC }}"] }`],
  ["a part of a text", `{ argv: [deploy, "--token={{ secrets.MYSEC }}"] }`],
])("a step whose secret has no value in this worker fails and names it, in %s", async (_where, input) => {
  const secrets: Record<string, string> = { OTHER: "s3cr3t" };
  const stage = new WorkflowStage({ secrets });
  const run = await stage.start(`name: ship\nsteps: [{ id: deploy, tool: shell, input: ${input} }]`);
  expect(run).toMatchObject({ status: "failed", reason: "missing_secret" });
  expect(run.result?.summary).toContain("MYSEC");
  expect(stage.ran).toEqual([]);

  secrets["MYSEC"] = "now it is there";
  await stage.workflows.retry(run.id, undefined, ADA);
  await stage.doDue();
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  expect(stage.ran).toHaveLength(1);
});
