import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { HOUR_MS } from "../core/instant.ts";

describe("a correction for an asker that askd did not start", () => {
  const SESSION = { run: { agent: "codex", host: "here", session: "t1", giveBack: "poll" as const } };

  test("that no outcome takes along comes too late when the last one is given, and the trail says so", async () => {
    const scene = new Scene();
    const { run, question } = await scene.engine.ask(scene.input({}, { via: "api" }), AGENT, SESSION);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.given(question.id, "read");
    const next = await scene.engine.ask(scene.input({ question: "Another?" }), AGENT, { runId: run.id });
    await scene.engine.amend(question.id, "Memcached after all", ADA);
    await scene.engine.answer(next.question.id, said("1"), ADA);
    const last = await scene.engine.given(next.question.id, "read");
    expect(last.run).toMatchObject({ status: "completed", owes: [] });
    const { amendments } = (await scene.engine.read(question.id)).question;
    expect(amendments).toMatchObject([{ handover: { state: "void", reason: "run_ended" } }]);
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(["question.given", "question.delivery_failed", "run.completed"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("that comes between the hand-over of the answer and its arrival is not counted as given with it", async () => {
    const scene = new Scene();
    const { run, question } = await scene.engine.ask(scene.input({}, { via: "api" }), AGENT, SESSION);
    await scene.engine.answer(question.id, said("1"), ADA);
    const { run: handed } = await scene.engine.handOver(question.id);
    await scene.engine.amend(question.id, "Memcached after all", ADA);
    const last = await scene.engine.given(question.id, "read", handed.epoch);
    expect(last.question).toMatchObject({
      handover: { state: "given" },
      amendments: [{ handover: { state: "void", reason: "run_ended" } }],
    });
    expect(last.run).toMatchObject({ status: "completed", owes: [] });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(["question.given", "question.delivery_failed", "run.completed"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("comes too late as well when the last question is withdrawn", async () => {
    const scene = new Scene();
    const { run, question } = await scene.engine.ask(scene.input({}, { via: "api" }), AGENT, SESSION);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.given(question.id, "read");
    const next = await scene.engine.ask(scene.input({ question: "Another?" }), AGENT, { runId: run.id });
    await scene.engine.amend(question.id, "Memcached after all", ADA);
    const last = await scene.engine.cancel(next.question.id, { reason: "not needed" }, ADA);
    expect(last.run).toMatchObject({ status: "completed", owes: [] });
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("cannot resume a run that nobody can start", async () => {
    const scene = new Scene();
    const { question } = await scene.engine.ask(scene.input({}, { via: "api" }), AGENT, SESSION);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.given(question.id, "read");
    await expect(scene.engine.amend(question.id, "Memcached after all", ADA, { resume: true })).rejects.toMatchObject({
      code: "bad_input",
      hint: expect.stringContaining("Without --resume"),
    });
    expect((await scene.engine.read(question.id)).run.status).toBe("completed");
  });
});

describe("an answer that a session did not fetch before it asked the next question", () => {
  const SESSION = { run: { agent: "codex", host: "here", session: "t1", giveBack: "poll" as const } };

  test.each([
    { how: "in time", force: false },
    { how: "after the deadline", force: true },
  ])("still waits for somebody to bring it once the next one was given, if it came $how", async ({ force }) => {
    const scene = new Scene();
    const { run, question } = await scene.engine.ask(scene.input({ timeout: "1h" }, { via: "api" }), AGENT, SESSION);
    if (force) await scene.pass(2 * HOUR_MS);
    await scene.engine.answer(question.id, said("1", { force }), ADA);
    const input = scene.input({ question: "Another?", hold: "3m" }, { via: "api" });
    const next = await scene.engine.ask(input, AGENT, { runId: run.id });
    await scene.engine.answer(next.question.id, said("1"), ADA);
    const given = await scene.engine.given(next.question.id, "read");
    expect(given.run).toMatchObject({ status: "resuming", owes: [question.id] });
    expect((await scene.engine.given(question.id, "read")).run).toMatchObject({ status: "completed", owes: [] });
    expect((await scene.engine.verify()).problems).toEqual([]);
  });
});
