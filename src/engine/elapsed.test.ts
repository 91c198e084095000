import { expect, test } from "vitest";
import type { RunId } from "../core/id.ts";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The elapsed times in the events of a run, by type. */
async function elapsed(scene: Scene, runId: RunId): Promise<Record<string, unknown>> {
  const kept = await scene.engine.readChain(runId);
  return Object.fromEntries(
    kept.flatMap(({ event }) => {
      const ms = event.detail?.["waited_ms"] ?? event.detail?.["suspended_ms"];
      return ms === undefined ? [] : [[event.type, ms]];
    }),
  );
}

async function parked(scene: Scene, raw: Record<string, unknown> = {}) {
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input(raw), AGENT, { runId: run.id });
  await scene.pass(MINUTE);
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  return { run, question };
}

test("the event that closes a question says how long it waited, and the one that resumes a run how long it was parked", async () => {
  const scene = new Scene();
  const { run, question } = await parked(scene);
  await scene.pass(HOUR);
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(MINUTE);
  await scene.engine.startRun(run.id, AGENT);
  expect(await elapsed(scene, run.id)).toEqual({
    "question.answered": HOUR + MINUTE,
    "run.resumed": HOUR + MINUTE,
  });
});

test("a reply that can be undone counts from when it was given", async () => {
  const scene = new Scene();
  const { run, question } = await parked(scene);
  await scene.engine.answer(question.id, said("1", { undoMs: 5_000 }), ADA);
  await scene.pass(5_000);
  expect(await elapsed(scene, run.id)).toEqual({ "question.answered": MINUTE });
});

test("a question that times out and the run that ends with it say how long they waited", async () => {
  const scene = new Scene();
  const { run } = await parked(scene, { timeout: "2h" });
  await scene.pass(2 * HOUR);
  expect(await elapsed(scene, run.id)).toEqual({
    "question.timed_out": 2 * HOUR + MINUTE,
    "run.failed": 2 * HOUR,
  });
});

test("a run made for one ask is suspended from the ask until its answer is there", async () => {
  const scene = new Scene();
  const { run, question } = await scene.ask();
  await scene.pass(HOUR);
  await scene.engine.answer(question.id, said("1"), ADA);
  expect(await elapsed(scene, run.id)).toEqual({ "question.answered": HOUR, "run.completed": HOUR });
});

test("a run whose agent ends with an answer still to be given was not suspended", async () => {
  const scene = new Scene();
  const first = await parked(scene);
  await scene.engine.answer(first.question.id, said("1"), ADA);
  await scene.engine.startRun(first.run.id, AGENT);
  await scene.engine.given(first.question.id, "seen");
  await scene.pass(HOUR);
  const next = await scene.engine.ask(scene.input({ question: "JWT?" }), AGENT, { runId: first.run.id });
  await scene.engine.answer(next.question.id, said("1"), ADA);
  await scene.engine.endRun(first.run.id, { status: "completed" }, AGENT);
  await scene.pass(HOUR);
  await scene.engine.startRun(first.run.id, AGENT);
  const kept = await scene.engine.readChain(first.run.id);
  const resumed = kept.filter(({ event }) => event.type === "run.resumed");
  expect(resumed.map(({ event }) => event.detail?.["suspended_ms"])).toEqual([0, undefined]);
});
