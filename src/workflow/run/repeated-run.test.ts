import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { said } from "../../../test/scene.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { MINUTE_MS } from "../../core/instant.ts";

const ASK = `
  - { id: which, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true }
  - { id: paint, tool: shell, input: { argv: [paint, "{{ run.id }}"] } }
`;

/** A run that failed, and one that took its place since and waits for an answer. */
async function replaced(rule: string) {
  let fails = true;
  const stage = new WorkflowStage({ script: () => ({ exitCode: fails ? 1 : 0, stdout: "", stderr: "" }) });
  const first = await stage.start(`name: paint\n${rule}\nsteps:${ASK}`);
  expect(await stage.answer(first, "Red")).toMatchObject({ status: "failed" });
  fails = false;
  const second = await stage.start(`name: paint\n${rule}\nsteps:${ASK}`);
  expect(second.status).toBe("awaiting_input");
  return { stage, first, second };
}

test.each(["concurrency: { key: wall }", "max_running: 1"])(
  "with %s, a repeated run waits for the live one that took its place",
  async (rule) => {
    const { stage, first, second } = await replaced(rule);
    await stage.workflows.retry(first.id, "paint", ADA);
    await stage.doDue();
    expect(stage.ran).toHaveLength(1);
    expect(await stage.run(first.id)).toMatchObject({ status: "resuming" });
    expect(await stage.answer(second, "Blue")).toMatchObject({ status: "completed" });
    await stage.pass(MINUTE_MS);
    expect(await stage.run(first.id)).toMatchObject({ status: "completed" });
    expect(stage.ran.map(([, id]) => id)).toEqual([first.id, second.id, first.id]);
  },
);

test("of two repeated runs with one key the older one goes first", async () => {
  const stage = new WorkflowStage({
    script: () => ({ exitCode: stage.ran.length <= 2 ? 1 : 0, stdout: "", stderr: "" }),
  });
  const yaml =
    "name: paint\nconcurrency: { key: wall }\nsteps: [{ id: paint, tool: shell, input: { argv: ['{{ run.id }}'] } }]";
  const [one, two] = [await stage.start(yaml), await stage.start(yaml)];
  await stage.workflows.retry(two.id, undefined, ADA);
  await stage.workflows.retry(one.id, undefined, ADA);
  await stage.doDue();
  await stage.pass(MINUTE_MS);
  expect((await stage.run(two.id)).status).toBe("completed");
  expect(stage.ran.flat()).toEqual([one.id, two.id, one.id, two.id]);
});

test("an answer after the deadline waits for the run that took the place of the skipped one", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: paint\nconcurrency: { key: wall }\nsteps:${ASK.replace("options", "timeoutHours: 1, timeoutAction: skip, options")}`;
  const first = await stage.start(yaml);
  const { pendingId } = first;
  await stage.pass(61 * MINUTE_MS);
  expect(await stage.run(first.id)).toMatchObject({ status: "skipped" });
  const second = await stage.start(yaml);
  if (pendingId === undefined) throw new Error("nothing was asked");
  await stage.engine.answer(pendingId, { ...said("Red"), force: true }, ADA);
  await stage.doDue();
  expect(stage.ran).toEqual([]);
  await stage.answer(second, "Blue");
  await stage.pass(MINUTE_MS);
  expect(await stage.run(first.id)).toMatchObject({ status: "completed" });
});

test("a run that goes on after its end no longer has the reason of that end", async () => {
  const yaml = `name: paint\nsteps:${ASK.replace("options", "timeoutHours: 1, timeoutAction: fail, options")}`;
  const stage = new WorkflowStage();
  const answered = await stage.start(yaml);
  const repeated = await stage.start(yaml);
  await stage.pass(61 * MINUTE_MS);
  for (const { id } of [answered, repeated]) {
    expect((await stage.run(id)).result?.summary).toBe("Step which: Nobody answered in time");
  }
  if (answered.pendingId === undefined) throw new Error("nothing was asked");
  await stage.engine.answer(answered.pendingId, { ...said("Red"), force: true }, ADA);
  expect((await stage.workflows.retry(repeated.id, undefined, ADA)).result).toBeUndefined();
  await stage.doDue();
  const done = await stage.run(answered.id);
  expect([done.status, done.result]).toEqual(["completed", undefined]);
  const asking = await stage.run(repeated.id);
  expect([asking.status, asking.result]).toEqual(["awaiting_input", undefined]);
});
