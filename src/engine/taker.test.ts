import { expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { later } from "../core/instant.ts";

async function taken(scene: Scene) {
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input({ hold: "3m" }), AGENT, { runId: run.id });
  const stop = new AbortController();
  const options = { until: later(scene.now, 180_000), takes: true, signal: stop.signal };
  return { run, question, stop, waiting: scene.engine.wait(question.id, options) };
}

test("an answer to a caller in this process is committed as on its way, in one commit and one line", async () => {
  const scene = new Scene();
  const { run, question, waiting } = await taken(scene);
  await scene.engine.answer(question.id, said("1"), ADA);
  const read = await waiting;
  expect(read.question).toMatchObject({ handover: { state: "handing", epoch: 1 } });
  expect((await scene.engine.handOver(question.id)).question.version).toBe(read.question.version);
  await scene.engine.given(question.id, "tool result");
  const lines = (await scene.engine.readChain(run.id)).slice(-2).map(({ event }) => [event.type, event.detail]);
  expect(lines).toMatchObject([
    ["question.answered", { handing: 1 }],
    ["question.given", { witness: "tool result" }],
  ]);
});

test("a taker that left has nothing committed in its name", async () => {
  const scene = new Scene();
  const { question, stop, waiting } = await taken(scene);
  stop.abort();
  await waiting;
  const answered = await scene.engine.answer(question.id, said("1"), ADA);
  expect(answered.question).toMatchObject({ handover: { state: "owed" } });
});

test("an outcome on its way to an agent that is gone goes back to it", async () => {
  const scene = new Scene();
  const { run, question, waiting } = await taken(scene);
  await scene.engine.answer(question.id, said("1"), ADA);
  await waiting;
  expect(await scene.engine.endRun(run.id, { status: "failed", reason: "agent_error" }, AGENT)).toMatchObject({
    status: "resuming",
    owes: [question.id],
  });
});
