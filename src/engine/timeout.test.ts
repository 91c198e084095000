import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";

const HOUR = 3_600_000;

async function parked(scene: Scene, raw: Record<string, unknown>) {
  const run = await scene.startedRun();
  const asked = await scene.engine.ask(scene.input({ timeout: "1h", ...raw }), AGENT, { runId: run.id });
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  return asked;
}

describe("at the deadline", () => {
  test("fail ends the run for want of an answer", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, {});
    await scene.pass(HOUR);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "timeout", policy: "fail", handover: { state: "void" } },
      run: { status: "failed", reason: "input_timeout", owes: [] },
    });
  });

  test("skip ends the run as skipped", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "skip" });
    await scene.pass(HOUR);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "timeout", policy: "skip" },
      run: { status: "skipped" },
    });
  });

  test("default answers with what the ask declared, labelled as policy, and resumes", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "default", default_answer: "Memcached" });
    await scene.pass(HOUR);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: {
        status: "timeout",
        policy: "default",
        answer: { policy: "default", items: { "1": { values: ["Memcached"] } } },
        handover: { state: "owed" },
      },
      run: { status: "resuming", owes: [question.id] },
    });
    expect(await scene.jobs()).toContain("resume");
  });

  test("proceed lets the run go on without an answer", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "proceed" });
    await scene.pass(HOUR);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "timeout", policy: "proceed" },
      run: { status: "resuming" },
    });
  });

  test("wait never comes to an end", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "wait" });
    await scene.pass(400 * 24 * HOUR);
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  });

  test("defer sets the run aside, and an answer without force takes it up again", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "defer" });
    await scene.pass(HOUR);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "pending" },
      run: { status: "deferred" },
    });
    await scene.pass(100 * HOUR);
    const answered = await scene.engine.answer(question.id, said("1"), ADA);
    expect(answered).toMatchObject({ question: { status: "answered" }, run: { status: "resuming" } });
  });

  test("escalate goes from step to step and then does what the chain says", async () => {
    const scene = new Scene();
    const steps = [
      { after: "30m", to: ["lena"], channels: ["slack"] },
      { after: "10m", to: ["@platform"], channels: [] },
    ];
    const { question, run } = await parked(scene, { on_timeout: { type: "escalate", steps, then: "skip" } });
    await scene.pass(HOUR);
    expect((await scene.engine.read(question.id)).question).toMatchObject({
      status: "pending",
      to: ["lena"],
      notify: [{ channel: "slack" }],
      escalated: 1,
    });
    await scene.pass(30 * 60_000);
    expect((await scene.engine.read(question.id)).question).toMatchObject({
      status: "pending",
      to: ["platform"],
      escalated: 2,
    });
    await scene.pass(10 * 60_000);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "timeout", policy: "skip" },
      run: { status: "skipped" },
    });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.filter((type) => type === "question.escalated")).toHaveLength(2);
  });
});

test("a deadline that passed while nothing ran is met at the next start, and never early", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({ timeout: "2s" });
  await scene.pass(1_999);
  expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  await scene.pass(1_000_000);
  expect((await scene.engine.read(question.id)).question.status).toBe("timeout");
});

test("extend moves the deadline, claim and snooze do not", async () => {
  const scene = new Scene();
  const { question } = await parked(scene, {});
  await scene.engine.extend(question.id, HOUR, ADA);
  await scene.engine.claim(question.id, ADA);
  await scene.pass(HOUR);
  expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  await scene.engine.snooze(question.id, "2026-01-01T20:00:00.000Z" as typeof scene.now, ADA);
  await scene.pass(HOUR);
  expect((await scene.engine.read(question.id)).question.status).toBe("timeout");
});

test("people are reminded at half and nine tenths of the time, and not once somebody is on it", async () => {
  const scene = new Scene({ rules: { reach: [{ name: "webhook", person: undefined, isPersonal: false }] } });
  const { question, run } = await scene.ask({ timeout: "10h" });
  await scene.pass(5 * HOUR);
  await scene.engine.claim(question.id, ADA);
  await scene.pass(4 * HOUR);
  const reminded = (await scene.engine.readChain(run.id)).filter(({ event }) => event.type === "question.reminded");
  expect(reminded.map(({ event }) => event.detail)).toEqual([{ told: true }, { told: false }]);
});

describe("a forced answer", () => {
  test.each(["decide", "clarify"] as const)("can be to %s: it is not taken for an answer", async (outcome) => {
    const scene = new Scene();
    const { question } = await parked(scene, { accepts: ["answer", "decide", "clarify"] });
    await scene.pass(HOUR);
    const { run, question: forced } = await scene.engine.answer(
      question.id,
      said("which one?", { force: true, outcome }),
      ADA,
    );
    expect(forced).toMatchObject({ status: "timeout", forced: { answer: { outcome, items: {} } } });
    expect(run).toMatchObject({
      status: "resuming",
      ...(outcome === "clarify" && { clarifying: question.id }),
    });
  });

  test("after a timeout is its own record and takes the run up again", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, {});
    await scene.pass(HOUR);
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toThrow(
      /timed out 0s ago and the run failed \(input_timeout\)/,
    );
    const forced = await scene.engine.answer(question.id, said("1", { force: true }), ADA);
    expect(forced).toMatchObject({
      question: {
        status: "timeout",
        forced: { answer: { items: { "1": { values: ["Redis"] } } }, handover: { state: "owed" } },
      },
      run: { status: "resuming", owes: [question.id] },
    });
    await expect(scene.engine.answer(question.id, said("2", { force: true }), ADA)).rejects.toMatchObject({
      code: "not_pending",
    });
  });

  test("to a script's question completes its run: the answer is there to be read", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ timeout: "1h" });
    await scene.pass(HOUR);
    const forced = await scene.engine.answer(question.id, said("1", { force: true }), ADA);
    expect(forced).toMatchObject({
      question: { status: "timeout", forced: { handover: { state: "given" } } },
      run: { status: "completed" },
    });
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("is refused once the run has gone on", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { on_timeout: "default", default_answer: "1" });
    await scene.pass(HOUR);
    await expect(scene.engine.answer(question.id, said("2", { force: true }), ADA)).rejects.toMatchObject({
      code: "not_pending",
      hint: expect.stringContaining("amend"),
    });
  });
});
