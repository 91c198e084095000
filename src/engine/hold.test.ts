import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { MCP, Scene, pendingOf, said } from "../../test/scene.ts";
import { later } from "../core/instant.ts";

async function held(scene: Scene, raw: Record<string, unknown> = {}) {
  const run = await scene.startedRun();
  return scene.engine.ask(scene.input({ hold: "3m", ...raw }), AGENT, { runId: run.id });
}

test("whoever waits is woken by the answer", async () => {
  const scene = new Scene();
  const { question } = await held(scene);
  const waiting = scene.engine.wait(question.id, { until: later(scene.now, 180_000) });
  await scene.engine.answer(question.id, said("1"), ADA);
  expect((await waiting).question.status).toBe("answered");
});

test("waiting ends with its window, and with its signal, without an outcome", async () => {
  const scene = new Scene();
  const { question } = await held(scene);
  const over = await scene.engine.wait(question.id, { until: scene.now });
  expect(over.question.status).toBe("pending");
  const stop = new AbortController();
  const waiting = scene.engine.wait(question.id, { until: later(scene.now, 180_000), signal: stop.signal });
  stop.abort();
  expect((await waiting).question.status).toBe("pending");
});

test("a held answer is owed until the holder gives it, and the run goes on running", async () => {
  const scene = new Scene();
  const { question } = await held(scene);
  const answered = await scene.engine.answer(question.id, said("1"), ADA);
  expect(answered).toMatchObject({
    question: { handover: { state: "owed" } },
    run: { status: "running", owes: [question.id] },
  });
  expect((await scene.engine.handOver(question.id)).question).toMatchObject({
    handover: { state: "handing", epoch: 1 },
  });
  const given = await scene.engine.given(question.id, "tool result");
  expect(given).toMatchObject({
    question: { handover: { state: "given", witness: "tool result" } },
    run: { status: "running", owes: [] },
  });
});

test("nothing is handed over or given before there is an outcome, and nothing twice", async () => {
  const scene = new Scene();
  const { question, run } = await held(scene);
  await scene.engine.handOver(question.id);
  expect((await scene.engine.given(question.id, "tool result")).question).toMatchObject({ status: "pending" });
  expect(await scene.jobs()).toContain("watch");
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.engine.given(question.id, "tool result");
  const { version } = (await scene.engine.given(question.id, "tool result")).question;
  expect(version).toBe(3);
  const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
  expect(types.slice(-3)).toEqual(["question.asked", "question.answered", "question.given"]);
});

describe("when the window ends", () => {
  test("the question is parked and the run still runs until its process is seen gone", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    const ended = await scene.engine.endHold(question.id, "window");
    expect(pendingOf(ended).hold).toBeUndefined();
    expect(ended.run.status).toBe("running");
    expect(await scene.jobs()).toContain("stop");
    const parked = await scene.engine.endRun(run.id, { status: "failed", reason: "agent_error" }, AGENT);
    expect(parked).toMatchObject({ status: "awaiting_input" });
    expect((await scene.engine.answer(question.id, said("1"), ADA)).run.status).toBe("resuming");
  });

  test("an ask that declared so is told to proceed", async () => {
    const scene = new Scene();
    const { question } = await held(scene, { after_hold: "proceed" });
    const ended = await scene.engine.endHold(question.id, "window");
    expect(ended.question).toMatchObject({ status: "timeout", policy: "proceed", handover: { state: "owed" } });
  });

  test("a caller that is gone is told nothing: its question is parked in any case", async () => {
    const scene = new Scene();
    const { question } = await held(scene, { after_hold: "proceed" });
    const ended = await scene.engine.endHold(question.id, "gone");
    expect(pendingOf(ended).hold).toBeUndefined();
  });

  test("an approval is never told to proceed", async () => {
    const scene = new Scene();
    const { question } = await held(scene, { after_hold: "proceed", kind: "approval", options: ["allow", "deny"] });
    expect((await scene.engine.endHold(question.id, "window")).question.status).toBe("pending");
  });

  test("a caller that died without a word is noticed", async () => {
    const scene = new Scene();
    const { question } = await held(scene);
    await scene.pass(180_000);
    expect((await scene.engine.read(question.id)).question).toHaveProperty("hold");
    await scene.pass(15_000);
    expect((await scene.engine.read(question.id)).question).not.toHaveProperty("hold");
  });

  test("a script that died while it waited leaves an answer that can be read", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ hold: "3m" });
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(15_000);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { handover: { state: "given", witness: "stored" } },
      run: { status: "completed" },
    });
  });
});

describe("a call that goes on with a question", () => {
  const SESSION = { run: { agent: "opencode", host: "here", session: "mcp:1" }, askedAs: "ada asks about caches" };
  const ask = (scene: Scene, raw: Record<string, unknown>, holder: string) =>
    scene.engine.ask(scene.input(raw), AGENT, { ...SESSION, holder });
  const call = (holder: string, over: object = {}) => ({
    ...({ windowMs: 60_000, after: "park", holder } as const),
    ...over,
  });

  test("takes it from one that is gone, and from no other", async () => {
    const scene = new Scene();
    const { question } = await ask(scene, { hold: "3m" }, "first");
    expect(question).toMatchObject({ hold: { holder: "first" } });
    const refused = await scene.engine.hold(question.id, call("second"));
    expect(refused).toMatchObject({ isNew: false, question: { hold: { holder: "first", windowMs: 180_000 } } });
    const taken = await scene.engine.hold(question.id, call("second", { gone: "first" }));
    expect(taken).toMatchObject({ isNew: true, question: { hold: { holder: "second", windowMs: 60_000 } } });
    expect(await scene.engine.hold(question.id, call("third", { gone: "first" }))).toMatchObject({ isNew: false });
    await scene.pass(75_000);
    expect((await scene.engine.read(question.id)).run.status).toBe("awaiting_input");
  });

  test("holds what was parked, in the session of its own connection", async () => {
    const scene = new Scene();
    const { question, run } = await ask(scene, {}, "first");
    expect(run).toMatchObject({ status: "awaiting_input", session: "mcp:1" });
    const taken = await scene.engine.hold(question.id, call("second", { session: "mcp:2" }));
    expect(taken).toMatchObject({ isNew: true, run: { status: "running", session: "mcp:2", asked: 1 } });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-2)).toEqual(["question.held", "run.started"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("has a deferred run go on at once, and as untaken if the call dies with the answer", async () => {
    const scene = new Scene();
    const { question } = await ask(scene, { timeout: "1m", on_timeout: "defer" }, "first");
    await scene.pass(61_000);
    expect((await scene.engine.read(question.id)).run.status).toBe("deferred");
    const taken = await scene.engine.hold(question.id, call("second", { session: "mcp:2" }));
    expect(taken).toMatchObject({ isNew: true, run: { status: "running" } });
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.handOver(question.id);
    await scene.pass(16_000);
    expect((await scene.engine.read(question.id)).run).toMatchObject({ status: "resuming", owes: [question.id] });
  });

  test("gives no other name to a session that its client named", async () => {
    const scene = new Scene();
    const { question } = await scene.engine.ask(scene.input(), AGENT, { run: { session: "s-1" } });
    const taken = await scene.engine.hold(question.id, call("second", { session: "mcp:2" }));
    expect(taken.run.session).toBe("s-1");
  });

  test("finds what was asked under its name and is open: what has an answer first, then the oldest", async () => {
    const scene = new Scene();
    const asked = [];
    for (const session of ["mcp:1", "mcp:2", "mcp:3", "mcp:4"]) {
      asked.push(await scene.engine.ask(scene.input(), AGENT, { ...SESSION, run: { session } }));
    }
    const [first, second, third, fourth] = asked.map(({ question }) => question.id);
    if (!first || !second || !third || !fourth) throw new Error("all were asked");
    await scene.engine.answer(third, said("1"), ADA);
    await scene.engine.cancel(second, {}, ADA);
    const found = await scene.engine.findAsked(SESSION.askedAs);
    expect(found.map(({ question }) => question.id)).toEqual([third, first, fourth]);
    await scene.engine.given(third, "mcp");
    expect((await scene.engine.findAsked(SESSION.askedAs)).map(({ question }) => question.id)).toEqual([first, fourth]);
    expect(await scene.engine.findAsked("somebody else")).toEqual([]);
  });

  test("is remembered when many ask the same at once", async () => {
    const scene = new Scene();
    const sessions = Array.from({ length: 8 }, (_, index) => `mcp:${index}`);
    const asked = await Promise.all(
      sessions.map((session) => scene.engine.ask(scene.input(), AGENT, { ...SESSION, run: { session } })),
    );
    const found = await scene.engine.findAsked(SESSION.askedAs);
    expect(found.map(({ question }) => question.id).sort()).toEqual(asked.map(({ question }) => question.id).sort());
  });
});

describe("a program that asked over REST and never came back", () => {
  const API = { via: "api" };

  test("leaves a question that is parked and a run that waits", async () => {
    const scene = new Scene();
    const poll = await scene.startedRun({ giveBack: "poll" });
    const asked = await Promise.all([
      scene.ask({ hold: "3m" }, API),
      scene.engine.ask(scene.input({ hold: "3m" }, API), AGENT, { runId: poll.id }),
    ]);
    await scene.pass(195_000);
    for (const { question } of asked) {
      const read = await scene.engine.read(question.id);
      expect(pendingOf(read).hold).toBeUndefined();
      expect(read.run.status).toBe("awaiting_input");
    }
  });

  test("leaves an answer that is owed, and its run is not shown as running", async () => {
    const scene = new Scene();
    const poll = await scene.startedRun({ giveBack: "poll" });
    const asked = await Promise.all([
      scene.ask({ hold: "3m" }, API),
      scene.engine.ask(scene.input({ hold: "3m" }, API), AGENT, { runId: poll.id }),
    ]);
    for (const { question } of asked) await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(15_000);
    for (const { question } of asked) {
      expect(await scene.engine.read(question.id)).toMatchObject({
        question: { handover: { state: "owed" } },
        run: { status: "resuming", giveBack: "poll", owes: [question.id] },
      });
    }
    const given = await Promise.all(asked.map(({ question }) => scene.engine.given(question.id, "read")));
    expect(given.map(({ run }) => run.status)).toEqual(["completed", "running"]);
    expect(await scene.jobs()).toEqual(["seal"]);
  });
});

describe("a run", () => {
  test("that ends with an outcome owed goes back to its agent", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    await scene.engine.answer(question.id, said("1"), ADA);
    expect(await scene.engine.endRun(run.id, { status: "completed" }, AGENT)).toMatchObject({ status: "resuming" });
    expect(await scene.jobs()).toContain("resume");
  });

  test("that was cancelled takes its question with it, and later answers are refused", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    expect(await scene.engine.cancelRun(run.id, ADA)).toMatchObject({ status: "cancelled", epoch: 2 });
    expect((await scene.engine.read(question.id)).question).toMatchObject({
      status: "cancelled",
      reason: "run_cancelled",
    });
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({
      code: "not_pending",
      exitCode: 6,
    });
    expect(await scene.jobs()).toEqual(["stop"]);
  });

  test("that was cancelled with an answer on its way leaves that answer as it was, with one outcome in the trail", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.cancelRun(run.id, ADA);
    expect((await scene.engine.read(question.id)).question).toMatchObject({
      status: "answered",
      handover: { state: "void", reason: "run_cancelled" },
    });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(["question.answered", "question.delivery_failed", "run.cancelled"]);
  });

  test("goes on when its agent cancels the question, and ends when a person does", async () => {
    const scene = new Scene();
    const one = await held(scene);
    expect((await scene.engine.cancel(one.question.id, {}, AGENT)).run.status).toBe("running");
    const other = await held(scene);
    expect((await scene.engine.cancel(other.question.id, { reason: "not now" }, ADA)).run).toMatchObject({
      status: "cancelled",
      reason: "not now",
    });
    const third = await held(scene);
    const told = await scene.engine.cancel(third.question.id, { resume: "Leave caching out" }, ADA);
    expect(told).toMatchObject({
      question: { status: "cancelled", note: "Leave caching out", handover: { state: "owed" } },
      run: { status: "running" },
    });
  });

  test("keeps its answer when it was stored without resuming, until it is resumed", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
    const stored = await scene.engine.answer(question.id, said("1", { resume: false }), ADA);
    expect(stored.run).toMatchObject({ status: "awaiting_input", owes: [question.id] });
    expect(await scene.engine.resumeRun(run.id, ADA)).toMatchObject({ status: "resuming" });
    expect(await scene.jobs()).toContain("resume");
  });

  test("takes a correction along with the resume that is under way", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene);
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
    await scene.engine.answer(question.id, said("1"), ADA);
    const amended = await scene.engine.amend(question.id, "Memcached after all", ADA);
    expect(amended.run).toMatchObject({ status: "resuming", owes: [question.id] });
    const given = await scene.engine.given(question.id, "prompt");
    expect(given.question.amendments).toMatchObject([{ handover: { state: "given" } }]);
    expect(given.run.status).toBe("running");
  });
});

test("asks through other doors are given when they are read, not when they are answered", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({}, MCP);
  const answered = await scene.engine.answer(question.id, said("1"), ADA);
  expect(answered).toMatchObject({ question: { handover: { state: "owed" } }, run: { status: "resuming" } });
  expect((await scene.engine.given(question.id, "read")).run.status).toBe("completed");
});

test("an agent that asks again itself is left alone at the end of its window, and its question waits", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const input = scene.input({ hold: "3m", after_hold: "keep", key: "k" });
  const { question } = await scene.engine.ask(input, AGENT, { runId: run.id });
  const kept = await scene.engine.endHold(question.id, "window");
  expect(pendingOf(kept).hold).toBeUndefined();
  expect(kept.run.status).toBe("running");
  expect(await scene.jobs()).not.toContain("stop");
  await scene.engine.answer(question.id, said("1"), ADA);
  expect((await scene.engine.ask(input, AGENT, { runId: run.id })).question).toMatchObject({ status: "answered" });
});

test("an agent whose run was taken over neither asks nor takes an answer", async () => {
  const scene = new Scene();
  const { id: runId, epoch } = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input({ key: "k" }), AGENT, { runId, epoch });
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.engine.startRun(runId, AGENT);
  const stale = { code: "stale_epoch" };
  await expect(scene.engine.ask(scene.input({ key: "l" }), AGENT, { runId, epoch })).rejects.toMatchObject(stale);
  await expect(scene.engine.handOver(question.id, epoch)).rejects.toMatchObject(stale);
  expect((await scene.engine.read(question.id)).question).toMatchObject({ handover: { state: "owed" } });
  expect((await scene.engine.handOver(question.id, epoch + 1)).question).toMatchObject({
    handover: { state: "handing", epoch: epoch + 1 },
  });
});

test("the process of an agent that somebody else started is kept as it was last seen", async () => {
  const scene = new Scene();
  const seen = { pid: 42, startedAt: "boot:1", isAttended: false };
  const first = await scene.engine.ask(scene.input({ key: "k" }), AGENT, { run: { session: "s-1" }, seen });
  expect(first.run.seen).toEqual(seen);
  await scene.engine.answer(first.question.id, said("1"), ADA);
  const again = { ...seen, pid: 43 };
  const next = await scene.engine.ask(scene.input({ key: "l" }), AGENT, { runId: first.run.id, seen: again });
  expect(next.run.seen).toEqual(again);
});

describe("a second call that waits for a parked question", () => {
  const SEEN = { pid: 4712, startedAt: "boot:4712" };

  async function parked(scene: Scene) {
    const raw = { hold: "3m", key: "k1" };
    const run = { session: "s1", agent: "claude", giveBack: "poll" as const };
    const first = await scene.engine.ask(scene.input(raw), AGENT, { run, seen: { pid: 4711, startedAt: "boot:4711" } });
    await scene.engine.endHold(first.question.id, "window");
    await scene.pass(60_000);
    const again = () => scene.engine.ask(scene.input(raw), AGENT, { runId: first.run.id, seen: SEEN });
    return { id: first.question.id, again };
  }

  test("holds it from now on, and is what is seen of its agent", async () => {
    const scene = new Scene();
    const { id, again } = await parked(scene);
    expect(pendingOf(await scene.engine.read(id)).hold).toBeUndefined();
    const second = await again();
    expect(second.isNew).toBe(false);
    expect(pendingOf(second).hold).toMatchObject({ until: later(scene.now, 180_000) });
    expect(second.run.seen).toEqual(SEEN);
    expect(pendingOf(await scene.engine.read(id)).hold).toBeDefined();
  });

  test("leaves a hold alone that somebody else has", async () => {
    const scene = new Scene();
    const { again } = await parked(scene);
    const { hold } = pendingOf(await again());
    await scene.pass(1_000);
    expect(pendingOf(await again()).hold).toEqual(hold);
  });

  test("takes no hold of a run that is to be started again", async () => {
    const scene = new Scene();
    const { question, run } = await held(scene, { key: "k1" });
    await scene.engine.endHold(question.id, "window");
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
    const again = await scene.engine.ask(scene.input({ hold: "3m", key: "k1" }), AGENT, { runId: run.id });
    expect(pendingOf(again).hold).toBeUndefined();
  });
});
