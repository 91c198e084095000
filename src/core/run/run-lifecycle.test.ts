import { expect, test } from "vitest";
import { AGENT } from "../../../test/builders.ts";
import { Scene } from "../../../test/scene.ts";

test("a start that reports nothing keeps what the agent reported before", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.engine.endRun(run.id, { status: "failed", reason: "agent_error", summary: "half done" }, AGENT);
  await scene.engine.resumeRun(run.id, { scope: "human", id: "ada", channel: "cli", strength: "local" });
  await scene.engine.startRun(run.id, AGENT);
  const ended = await scene.engine.endRun(run.id, { status: "completed", summary: undefined }, AGENT);
  expect(ended.result).toEqual({ summary: "half done" });
});

test("a run that has ended is called a run when it is refused", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  await expect(scene.engine.startRun(run.id, AGENT)).rejects.toMatchObject({
    message: expect.stringMatching(/^Run #1 /),
  });
});
