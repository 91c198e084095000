import { expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { MCP, Scene, said } from "../../test/scene.ts";
import { DEFAULT_LIMITS } from "../core/rules.ts";

test("the agent of a session that withdraws a question can ask the next", async () => {
  const scene = new Scene();
  const first = await scene.engine.ask(scene.input({ key: "k" }), AGENT, { run: { session: "s-1" } });
  const { run } = await scene.engine.cancel(first.question.id, {}, { ...AGENT, runId: first.run.id });
  expect(run.status).toBe("completed");
  const next = await scene.engine.ask(scene.input({ key: "l" }), AGENT, { runId: run.id });
  expect(next.question.status).toBe("pending");
});

test("an ask without a run makes one, named from the question, that waits", async () => {
  const scene = new Scene();
  const { run, question, isNew } = await scene.ask();
  expect(run).toMatchObject({
    number: 1,
    name: "redis-or-memcached",
    status: "awaiting_input",
    implicit: true,
    giveBack: "poll",
  });
  expect(question).toMatchObject({ status: "pending", dueAt: "2026-01-02T12:00:00.000Z", onTimeout: { do: "fail" } });
  expect(isNew).toBe(true);
});

test("a held ask leaves its run running", async () => {
  const scene = new Scene();
  const { run, question } = await scene.ask({ hold: "10m" });
  expect(run.status).toBe("running");
  expect(question).toMatchObject({ hold: { until: "2026-01-01T12:10:00.000Z", after: "park" } });
});

test("with the client's key the same ask is the same question for ever, also after its answer was given", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const input = scene.input({ key: "toolu_1" });
  const first = await scene.engine.ask(input, AGENT, { runId: run.id });
  await scene.engine.answer(first.question.id, said("1"), ADA);
  await scene.engine.handOver(first.question.id);
  await scene.engine.given(first.question.id, "test");
  const again = await scene.engine.ask(input, AGENT, { runId: run.id });
  expect(again).toMatchObject({ isNew: false, question: { id: first.question.id, status: "answered" } });
});

test("the same key with other words is refused", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.engine.ask(scene.input({ key: "k" }), AGENT, { runId: run.id });
  const other = scene.input({ key: "k", question: "Something else?" });
  await expect(scene.engine.ask(other, AGENT, { runId: run.id })).rejects.toMatchObject({ code: "key_reused" });
});

test("without a key the same words are the same question while it is open, and a new one afterwards", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  const second = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  expect(second.question.id).toBe(first.question.id);
  await scene.engine.answer(first.question.id, said("1"), ADA);
  const owed = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  expect(owed.question).toMatchObject({ id: first.question.id, status: "answered" });
  await scene.engine.handOver(first.question.id);
  await scene.engine.given(first.question.id, "test");
  const fresh = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  expect(fresh.question.id).not.toBe(first.question.id);
});

test("an answered approval is never reused", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const input = scene.input({ kind: "approval", question: "Run rm -r build?", options: ["allow", "deny"] });
  const first = await scene.engine.ask(input, AGENT, { runId: run.id });
  await scene.engine.answer(first.question.id, said("allow"), ADA);
  const second = await scene.engine.ask(input, AGENT, { runId: run.id });
  expect(second.question.id).not.toBe(first.question.id);
});

test("an ask with a key and no run finds its question again", async () => {
  const scene = new Scene();
  const first = await scene.ask({ key: "nightly" });
  const second = await scene.ask({ key: "nightly" });
  expect(second).toMatchObject({ isNew: false, question: { id: first.question.id } });
});

test("ten callers with one key get one question", async () => {
  const scene = new Scene();
  const asked = await Promise.all(Array.from({ length: 10 }, () => scene.ask({ key: "once" })));
  expect(new Set(asked.map(({ question }) => question.id)).size).toBe(1);
  expect(asked.filter(({ isNew }) => isNew)).toHaveLength(1);
});

test("a second, different question of a run is refused with the id of the first", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  const other = scene.engine.ask(scene.input({ question: "And the port?" }), AGENT, { runId: run.id });
  await expect(other).rejects.toMatchObject({
    code: "already_pending",
    hint: `Look for its answer with: check_answer ${first.question.id} (it holds); then ask again`,
  });
});

test("limits on asks per run and per minute are named", async () => {
  const limits = { ...DEFAULT_LIMITS, asksPerMinute: 2, asksPerRun: 3, pending: 2, repliesPerMinute: 100 };
  const scene = new Scene({ rules: { limits } });
  const run = await scene.startedRun();
  const askOne = async (question: string) => {
    const asked = await scene.engine.ask(scene.input({ question }), AGENT, { runId: run.id });
    await scene.engine.answer(asked.question.id, said("x"), ADA);
    await scene.engine.given(asked.question.id, "test");
  };
  await askOne("one?");
  await askOne("two?");
  await expect(askOne("three?")).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 60_000 });
  await scene.pass(61_000);
  await askOne("three?");
  await scene.pass(61_000);
  await expect(askOne("four?")).rejects.toMatchObject({ code: "too_many" });
});

test("a store with too many waiting questions takes no more until one is answered", async () => {
  const scene = new Scene({ rules: { limits: { ...DEFAULT_LIMITS, pending: 2 } } });
  const first = await scene.ask();
  await scene.ask();
  await expect(scene.ask()).rejects.toMatchObject({ code: "too_many" });
  await scene.engine.answer(first.question.id, said("1"), ADA);
  expect((await scene.ask()).question.status).toBe("pending");
});

test("a sure agent goes on with what it recommends, and that is written down as a policy's answer", async () => {
  const scene = new Scene({ rules: { confidence: { act: 0.8, ask: 0.5, below: "ask" } } });
  const { question } = await scene.ask({ confidence: 85, options: ["Redis (recommended)", "Memcached"] });
  expect(question).toMatchObject({
    status: "answered",
    answer: { policy: "confidence", items: { "1": { values: ["Redis"] } } },
  });
  const risky = await scene.ask({ confidence: 0.95, risk: "high", options: ["Drop (recommended)", "Keep"] });
  expect(risky.question.status).toBe("pending");
});

test("what channels may show has no secrets, what is kept is what was asked", async () => {
  const scene = new Scene();
  const input = scene.input({ context: "export DB=hunter2hunter2 and ghp_abcdefghijklmnopqrstuvwxyz0123456789" }, MCP);
  const { content } = await scene.engine.ask(input, AGENT, { secrets: ["hunter2hunter2"] });
  expect(content.context).toContain("hunter2hunter2");
  expect(content.shared?.context).toBe("export DB=[redacted] and [redacted]");
});
