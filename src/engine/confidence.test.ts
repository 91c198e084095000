import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { findBroken, readAll } from "../../test/proof/promise.ts";
import { MCP, Scene, said } from "../../test/scene.ts";
import { replyTo } from "../core/door/hook.ts";
import { HOUR_MS } from "../core/instant.ts";
import { outcomeMessage } from "../core/run/agent-message.ts";
import type { Rules } from "../core/rules.ts";
import { resultOf } from "../server/mcp/result.ts";

const OPTIONS = ["Redis (recommended)", "Memcached"];

function aScene(below: "ask" | "skip" | "block", over: Partial<Rules["confidence"]> = {}) {
  return new Scene({ rules: { confidence: { act: 0.85, ask: 0.5, below, ...over } } });
}

/** Asks with this confidence in a run whose agent is alive. */
async function asked(scene: Scene, confidence: number, over: Record<string, unknown> = {}) {
  const { id } = await scene.startedRun();
  const asking = scene.input({ confidence, options: OPTIONS, ...over });
  return scene.engine.ask(asking, { ...AGENT, runId: id }, { runId: id });
}

describe("an agent that is surer than the upper limit", () => {
  test("goes on with what it recommends, and is told that a policy chose it", async () => {
    const { question, content, run } = await asked(aScene("block"), 0.85);
    expect(question).toMatchObject({ status: "answered", answer: { policy: "confidence", by: { channel: "policy" } } });
    expect(run.status).toBe("running");
    const message = outcomeMessage({ question, content, run }, "mark");
    expect(message).toContain('Policy "confidence" applies');
    expect(message).toContain("Redis");
  });

  test("asks people if there is no upper limit", async () => {
    const { question } = await asked(aScene("block", { act: undefined }), 1);
    expect(question.status).toBe("pending");
  });
});

describe("an agent between the limits", () => {
  test.each([0.5, 0.7, 0.84])("asks people at %d", async (confidence) => {
    expect((await asked(aScene("skip"), confidence)).question.status).toBe("pending");
  });
});

describe("an agent below the lower limit", () => {
  test("asks people if that is what happens below", async () => {
    expect((await asked(aScene("ask"), 0.1)).question.status).toBe("pending");
  });

  test("ends its run as skipped, and is stopped", async () => {
    const scene = aScene("skip");
    const { question, run } = await asked(scene, 0.3);
    expect(question).toMatchObject({ status: "cancelled", reason: "low_confidence", policy: "skip" });
    expect(run).toMatchObject({ status: "skipped", reason: "low_confidence", owes: [] });
    expect(await scene.jobs()).toContain("stop");
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("blocks its run until a person resumes it", async () => {
    const scene = aScene("block");
    const { question, run } = await asked(scene, 0.3);
    expect(question).toMatchObject({ status: "cancelled", reason: "low_confidence", policy: "block" });
    expect(run).toMatchObject({ status: "blocked", reason: "low_confidence", owes: [] });
    expect(run.endedAt).toBeUndefined();
    expect(await scene.jobs()).toContain("stop");
    expect(await scene.engine.resumeRun(run.id, ADA)).toMatchObject({ status: "resuming" });
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("blocks the run of a session that askd did not start, which may ask again", async () => {
    const scene = aScene("block");
    const session = { run: { session: "s1", host: "here", agent: "claude" } };
    const first = await scene.engine.ask(scene.input({ confidence: 0.2, options: OPTIONS }), AGENT, session);
    expect(first.run).toMatchObject({ status: "blocked", reason: "low_confidence" });
    const again = scene.input({ question: "And this?", confidence: 0.6, options: OPTIONS });
    const second = await scene.engine.ask(again, AGENT, { runId: first.run.id });
    expect(second).toMatchObject({ question: { status: "pending" } });
    await scene.engine.answer(second.question.id, said("1"), ADA);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test.each(["block", "skip"] as const)(
    "leaves a trail in order where its run owes an earlier outcome: %s",
    async (below) => {
      const scene = aScene(below);
      const first = await scene.engine.ask(scene.input({ timeout: "1m", on_timeout: "proceed" }, MCP), AGENT);
      await scene.pass(HOUR_MS);
      const again = scene.input({ question: "And this?", confidence: 0.2, options: OPTIONS });
      const { run } = await scene.engine.ask(again, AGENT, { runId: first.run.id });
      expect(run.status).toBe(below === "block" ? "blocked" : "skipped");
      expect((await scene.engine.verify()).problems).toEqual([]);
    },
  );

  test("calls back although its run is blocked, and the trail is in order", async () => {
    const scene = aScene("block");
    const callback = {
      url: "http://127.0.0.1:9/answer",
      secret: "whsec_c2VjcmV0LW9mLXRoZS1jYWxsYmFjay1vZi0zMi1ieXRlcw==",
    };
    await scene.engine.ask(scene.input({ confidence: 0.2, options: OPTIONS }), AGENT, { run: { callback } });
    expect(await scene.jobs()).toContain("callback");
    expect(findBroken(await readAll(scene.store))).toEqual([]);
  });

  test("is told over MCP and in a hook to stop, not to go on without an answer", async () => {
    const read = await asked(aScene("block"), 0.3);
    const result = resultOf(read, "mark");
    expect(result.structuredContent).toMatchObject({
      status: "cancelled",
      reason: "low_confidence",
      policy: "block",
      stop_session: true,
      stop_reason: "low_confidence",
    });
    const [part] = result.content;
    const text = part?.type === "text" ? part.text : "";
    expect(text).toContain("30 %");
    expect(text).toContain("Stop now");
    expect(text).not.toContain("go on without");
    const call = { is: "question", key: "k", isSubagent: false } as unknown as Parameters<typeof replyTo>[0]; // only its kind is read
    expect(replyTo(call, read)).toMatchObject({ do: "deny", why: expect.stringContaining(text) });
  });

  test.each([
    ["an approval", { kind: "approval", options: [{ value: "allow", label: "Allow", recommended: true }, "Deny"] }],
    ["a high risk", { risk: "high" }],
    ["named approvers", { approvals: { need: 1, from: ["ada"] } }],
  ])("still asks people about %s", async (_what, over) => {
    const scene = aScene("skip");
    await scene.know("ada");
    expect((await asked(scene, 0.1, over)).question.status).toBe("pending");
  });

  test("still asks the person who asked back", async () => {
    const scene = aScene("skip");
    const first = await asked(scene, 0.6);
    await scene.engine.answer(
      first.question.id,
      { ...said("Why?"), outcome: "clarify", answer: undefined, note: "Why?" },
      ADA,
    );
    const again = scene.input({ question: "Because. Redis?", confidence: 0.1, options: OPTIONS });
    const second = await scene.engine.ask(again, { ...AGENT, runId: first.run.id }, { runId: first.run.id });
    expect(second.question.status).toBe("pending");
  });
});

test("statistics count what was decided by confidence, and what was stopped by it", async () => {
  const scene = aScene("skip");
  for (const confidence of [0.9, 0.95, 0.2, 0.6]) await asked(scene, confidence);
  scene.skip(1);
  const stats = await scene.engine.stats({});
  expect(stats).toMatchObject({ asked: 4, byPolicy: 2, byConfidence: 2, lowConfidence: 1, cancelled: 1, timedOut: 0 });
});
