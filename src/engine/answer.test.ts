import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { MCP, Scene, pendingOf, said } from "../../test/scene.ts";
import { type Actor, agentActor, elicitationChannel, onBehalfOf } from "../core/people/actor.ts";
import { HOUR_MS, later } from "../core/instant.ts";

const LENA: Actor = { scope: "human", id: "lena", channel: "slack", strength: "person" };

test("an answer closes the question with who, how and when", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  const done = await scene.engine.answer(question.id, said("1", { note: "for pub/sub" }), ADA);
  expect(done.question).toMatchObject({
    status: "answered",
    answer: { outcome: "answer", items: { "1": { values: ["Redis"] } }, note: "for pub/sub", by: ADA, at: scene.now },
    handover: { state: "given", witness: "stored" },
  });
  expect(done.run).toMatchObject({ status: "completed", owes: [] });
  expect(await scene.jobs()).toEqual([]);
});

test("of many people answering at once one wins and the others are told who, what and when", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  const people = Array.from({ length: 50 }, (_, index): Actor => ({ ...LENA, id: `p${index}` }));
  const results = await Promise.allSettled(people.map((by) => scene.engine.answer(question.id, said("2"), by)));
  const winners = results.filter((result) => result.status === "fulfilled");
  expect(winners).toHaveLength(1);
  const { question: closed } = await scene.engine.read(question.id);
  const winner = closed.status === "answered" ? closed.answer.by.id : "";
  for (const result of results) {
    if (result.status === "rejected")
      expect(String(result.reason.message)).toBe(`already answered by ${winner} 0s ago (Slack): "Memcached"`);
  }
});

test("what an agent tries that only a person may changes nothing and is written down", async () => {
  const scene = new Scene();
  const { question, run } = await scene.ask();
  const by: Actor = { ...AGENT, runId: run.id };
  const refused = { code: "not_permitted" };
  await expect(scene.engine.answer(question.id, said("1"), by)).rejects.toMatchObject(refused);
  await expect(scene.engine.extend(question.id, 60_000, by)).rejects.toMatchObject(refused);
  const chain = await scene.engine.readChain(run.id);
  expect(chain.slice(-2).map(({ event }) => event)).toMatchObject([
    { type: "question.refused", by, detail: { tried: "An agent cannot answer a question; a person has to" } },
    { type: "question.refused", by, detail: { tried: "An agent cannot extend a question; a person has to" } },
  ]);
  expect((await scene.engine.read(question.id)).question).toEqual(question);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("tries beyond the first ten are counted in the trail, and never fill it", async () => {
  const scene = new Scene();
  const { question, run } = await scene.ask();
  const by: Actor = { ...AGENT, runId: run.id };
  const tries = 120;
  for (let count = 0; count < tries; count += 1) {
    const verb =
      count % 2 === 0 ? scene.engine.answer(question.id, said("1"), by) : scene.engine.extend(question.id, 60_000, by);
    await expect(verb).rejects.toMatchObject({ code: "not_permitted" });
  }
  const told = (await scene.engine.readChain(run.id)).flatMap(({ event }) =>
    event.type === "question.refused" ? [event.detail?.["tries"]] : [],
  );
  expect(told).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("a late reply changes nothing and is written down", async () => {
  const scene = new Scene();
  const { question, run } = await scene.ask();
  await scene.engine.answer(question.id, said("1"), LENA);
  await scene.pass(240_000);
  const late = scene.engine.answer(question.id, said("2"), ADA);
  await expect(late).rejects.toMatchObject({
    code: "not_pending",
    message: 'already answered by lena 4m ago (Slack): "Redis"',
  });
  const chain = await scene.engine.readChain(run.id);
  expect(chain.at(-1)?.event).toMatchObject({ type: "question.late_reply", by: ADA });
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("an agent can never answer, extend, undo or force", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  const tries = [
    scene.engine.answer(question.id, said("1"), AGENT),
    scene.engine.answer(question.id, said("1", { force: true, confirmed: true }), AGENT),
    scene.engine.extend(question.id, 1000, AGENT),
    scene.engine.undo(question.id, AGENT),
    scene.engine.amend(question.id, "no", AGENT),
    scene.engine.claim(question.id, AGENT),
    scene.engine.comment(question.id, "hello", AGENT),
  ];
  for (const tried of await Promise.allSettled(tries))
    expect(tried).toMatchObject({ reason: { code: "not_permitted" } });
  expect((await scene.engine.read(question.id)).question.status).toBe("pending");
});

test("you decide and ask back reach only an asker that can take them", async () => {
  const scene = new Scene();
  const script = await scene.ask();
  await expect(
    scene.engine.answer(script.question.id, said("why?", { outcome: "clarify" }), ADA),
  ).rejects.toMatchObject({ code: "outcome_not_accepted" });
  const decided = await scene.engine.answer(script.question.id, said("", { outcome: "decide" }), ADA);
  expect(decided.question).toMatchObject({ status: "answered", answer: { outcome: "decide", items: {} } });
});

test("asking back resumes the agent to explain, and its next question continues the thread", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input({ to: ["ada"], timeout: "8h" }), AGENT, { runId: run.id });
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  const asked = await scene.engine.answer(
    first.question.id,
    said("Which load do you expect?", { outcome: "clarify" }),
    ADA,
  );
  expect(asked.run).toMatchObject({ status: "resuming", clarifying: first.question.id });
  await scene.engine.handOver(first.question.id);
  await scene.engine.given(first.question.id, "test");
  await scene.pass(3_600_000);
  const second = await scene.engine.ask(scene.input({ question: "10k/s: Redis or Memcached?" }), AGENT, {
    runId: run.id,
  });
  expect(second.question).toMatchObject({
    thread: first.question.id,
    to: ["ada"],
    dueAt: later(scene.now, 8 * HOUR_MS),
  });
});

describe("high risk", () => {
  test("needs a confirmation, and a proven identity once there is a way to give one", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ risk: "high" });
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({
      code: "needs_confirmation",
    });
    await scene.engine.answer(question.id, said("1", { confirmed: true }), ADA);

    const team = new Scene({ rules: { personChannel: true } });
    const risky = await team.ask({ risk: "high" });
    await expect(team.engine.answer(risky.question.id, said("1", { confirmed: true }), ADA)).rejects.toMatchObject({
      code: "needs_person",
    });
    expect((await team.engine.answer(risky.question.id, said("1"), LENA)).question.status).toBe("answered");
  });
});

describe("what is known of who answers", () => {
  const known = (strength: Actor["strength"], channel = "api"): Actor => ({ ...ADA, strength, channel });
  const yes = said("1", { confirmed: true });

  test.each([
    ["none", "refused", "refused"],
    ["bearer", "refused", "refused"],
    ["local", "taken", "refused"],
    ["person", "taken", "taken"],
  ] as const)("%s: high risk is %s, and %s once a channel proves people", async (strength, alone, withChannel) => {
    for (const [expected, personChannel] of [
      [alone, false],
      [withChannel, true],
    ] as const) {
      const scene = new Scene({ rules: { personChannel } });
      const { question } = await scene.ask({ risk: "high" });
      const answering = scene.engine.answer(question.id, yes, known(strength));
      if (expected === "taken") expect((await answering).question.status).toBe("answered");
      else {
        await expect(answering).rejects.toMatchObject({ code: "needs_person" });
        const { event } = (await scene.engine.readChain(question.runId)).at(-1)!;
        expect(event).toMatchObject({ type: "question.refused", by: { strength } });
        expect((await scene.engine.verify()).problems).toEqual([]);
      }
    }
  });

  test("neither a veto nor one of several votes at high risk is taken from somebody of whom only a link is known", async () => {
    const scene = new Scene();
    const approvals = { need: 2, from: ["ada", "lena"], veto: true };
    const { question } = await scene.ask({ risk: "high", kind: "approval", options: undefined, approvals });
    for (const choice of ["allow", "deny"]) {
      const given = said(choice, { confirmed: true });
      await expect(scene.engine.answer(question.id, given, known("bearer"))).rejects.toMatchObject({
        code: "needs_person",
      });
    }
    expect(pendingOf(await scene.engine.read(question.id)).votes).toEqual([]);
  });

  test("an approval is never given in a form of an MCP client, whatever the client is said to prove", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ kind: "approval", options: undefined, risk: "low" });
    for (const strength of ["bearer", "local", "person"] as const) {
      const by = known(strength, elicitationChannel("Cursor"));
      await expect(scene.engine.answer(question.id, yes, by)).rejects.toMatchObject({ code: "needs_person" });
    }
    expect((await scene.engine.answer(question.id, yes, known("bearer", "link"))).question.status).toBe("answered");
  });
});

describe("undo", () => {
  test("takes a reply back inside its window; afterwards the reply closes the question", async () => {
    const scene = new Scene();
    const { question } = await scene.ask();
    const settling = await scene.engine.answer(question.id, said("1", { undoMs: 5_000 }), ADA);
    expect(settling.question).toMatchObject({ status: "pending", settling: { until: "2026-01-01T12:00:05.000Z" } });
    await expect(scene.engine.answer(question.id, said("2"), LENA)).rejects.toMatchObject({ code: "settling" });
    const undone = pendingOf(await scene.engine.undo(question.id, ADA));
    expect(undone.settling).toBeUndefined();
    await scene.engine.answer(question.id, said("2", { undoMs: 5_000 }), LENA);
    await scene.pass(5_000);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ status: "answered", answer: { by: LENA } });
    await expect(scene.engine.undo(question.id, LENA)).rejects.toMatchObject({ code: "not_pending" });
  });

  test("a reply that settles over the deadline counts", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ timeout: "2s" });
    await scene.pass(1_000);
    await scene.engine.answer(question.id, said("1", { undoMs: 5_000 }), ADA);
    await scene.pass(2_000);
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
    await scene.pass(3_000);
    expect((await scene.engine.read(question.id)).question.status).toBe("answered");
  });
});

describe("approvals", () => {
  const approval = {
    kind: "approval",
    question: "Deploy?",
    options: ["allow", "deny"],
    approvals: { need: 2, from: ["ada", "lena", "mika"], veto: true },
  };
  const MIKA: Actor = { ...LENA, id: "mika" };

  test("close when enough people agree, and a later vote replaces the earlier", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena", "mika");
    const { question } = await scene.ask({ ...approval, approvals: { need: 2, from: ["ada", "lena", "mika"] } });
    expect((await scene.engine.answer(question.id, said("deny"), ADA)).question.status).toBe("pending");
    await scene.engine.answer(question.id, said("allow"), ADA);
    const closed = await scene.engine.answer(question.id, said("allow"), LENA);
    expect(closed.question).toMatchObject({ status: "answered", answer: { items: { "1": { values: ["allow"] } } } });
    await expect(scene.engine.answer(question.id, said("deny"), MIKA)).rejects.toMatchObject({ code: "not_pending" });
  });

  test("a veto closes as denied, and nobody else may vote", async () => {
    const scene = new Scene();
    const { question } = await scene.ask(approval);
    await expect(scene.engine.answer(question.id, said("allow"), { ...LENA, id: "mallory" })).rejects.toMatchObject({
      code: "not_permitted",
    });
    await scene.engine.answer(question.id, said("allow"), ADA);
    const vetoed = await scene.engine.answer(question.id, said("deny"), LENA);
    expect(vetoed.question).toMatchObject({ status: "answered", answer: { items: { "1": { values: ["deny"] } } } });
  });

  test("an unreachable quorum is told and fails closed at its deadline", async () => {
    const scene = new Scene();
    const { question, run } = await scene.ask({
      ...approval,
      approvals: { need: 2, from: ["ada", "lena"] },
      timeout: "1h",
    });
    await scene.engine.answer(question.id, said("allow"), ADA);
    await scene.engine.answer(question.id, said("deny"), LENA);
    expect((await scene.engine.readChain(run.id)).at(-1)?.event.detail).toMatchObject({ unreachable: true });
    await scene.pass(3_600_000);
    expect(await scene.engine.read(question.id)).toMatchObject({
      question: { status: "timeout" },
      run: { status: "failed", reason: "input_timeout" },
    });
  });

  test("votes that one token gives in the names of several people count as one", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena", "mika");
    const { question, run } = await scene.ask({ ...approval, approvals: { need: 2, from: ["ada", "lena", "mika"] } });
    const bridge = { ...ADA, id: "bridge" };
    for (const name of ["ada", "lena", "mika"]) {
      const { question: after } = await scene.engine.answer(question.id, said("allow"), onBehalfOf(bridge, name));
      expect(after).toMatchObject({ status: "pending", votes: [{ by: { onBehalfOf: name, strength: "bearer" } }] });
    }
    // The last of them was in mika's name: her own vote takes its place.
    expect((await scene.engine.answer(question.id, said("allow"), MIKA)).question.status).toBe("pending");
    expect((await scene.engine.answer(question.id, said("deny"), onBehalfOf(bridge, "mika"))).question).toMatchObject({
      status: "pending",
      votes: [{ by: MIKA }],
    });
    expect((await scene.engine.answer(question.id, said("allow"), onBehalfOf(bridge, "ada"))).question.status).toBe(
      "answered",
    );
    const tallies = (await scene.engine.readChain(run.id)).flatMap(({ event }) =>
      event.type === "question.voted" ? [event.detail?.["votes"]] : [],
    );
    expect(tallies).toEqual([1, 1, 1, 1, 0, 2]);
  });

  test("without options they are approved or denied, and words never approve", async () => {
    const scene = new Scene();
    const raw = { kind: "approval", question: "Drop users_v1?", options: undefined };
    const { question } = await scene.ask(raw);
    for (const words of ["yes, go ahead", "ok", "fine"]) {
      await expect(scene.engine.answer(question.id, said(words), ADA)).rejects.toMatchObject({
        code: "no_such_option",
      });
    }
    const denied = await scene.engine.answer(question.id, said("deny", { note: "not today" }), ADA);
    expect(denied.question).toMatchObject({ status: "answered", answer: { items: { "1": { values: ["deny"] } } } });
    const own = await scene.ask({ ...raw, question: "Deploy?", options: ["Proceed", "Stop"], allow_text: true });
    await expect(scene.engine.answer(own.question.id, said("fine by me"), ADA)).rejects.toMatchObject({
      code: "no_such_option",
    });
  });

  test("asking back about an approval is a question back, whatever the asker said that it accepts", async () => {
    const scene = new Scene();
    const raw = { kind: "approval", question: "Run it?", options: ["allow", "deny"], accepts: ["answer"] };
    const { question } = await scene.ask(raw, MCP);
    const back = await scene.engine.answer(question.id, said("why?", { outcome: "clarify" }), ADA);
    expect(back.question).toMatchObject({
      status: "answered",
      answer: { outcome: "clarify", items: {}, note: "why?" },
    });
    expect(back.run.clarifying).toBe(question.id);
  });
});

test("one person may reply ten times a minute to one question", async () => {
  const scene = new Scene({ rules: { limits: { ...new Scene().rules.limits, repliesPerMinute: 10 } } });
  const { question } = await scene.ask({ allow_text: false });
  for (let count = 0; count < 10; count += 1) {
    await expect(scene.engine.answer(question.id, said("nonsense"), ADA)).rejects.toMatchObject({
      code: "no_such_option",
    });
  }
  await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({ code: "rate_limited" });
  expect((await scene.engine.answer(question.id, said("1"), LENA)).question.status).toBe("answered");
});

test("refused attempts of an agent that uses a person's credential do not count as replies of that person", async () => {
  const scene = new Scene({ rules: { limits: { ...new Scene().rules.limits, repliesPerMinute: 2 } } });
  const { question } = await scene.ask();
  const agent = agentActor(ADA, question.runId);
  const codes: unknown[] = [];
  for (let count = 0; count < 3; count += 1) {
    codes.push(await scene.engine.answer(question.id, said("1"), agent).catch((error: unknown) => error));
  }
  expect(codes).toMatchObject([{ code: "not_permitted" }, { code: "not_permitted" }, { code: "rate_limited" }]);
  expect((await scene.engine.answer(question.id, said("1"), ADA)).question.status).toBe("answered");
});

test("a correction after the end is not delivered unless the run is taken up again for it", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  await expect(scene.engine.amend(question.id, "no, the other", ADA)).rejects.toMatchObject({ code: "not_pending" });
  await scene.engine.answer(question.id, said("1"), ADA);
  const amended = await scene.engine.amend(question.id, "no, the other", ADA);
  expect(amended.question.amendments).toMatchObject([
    { text: "no, the other", handover: { state: "void", reason: "run_ended" } },
  ]);
});

test("claim, release, assign, snooze, extend and comment change what they say and nothing else", async () => {
  const scene = new Scene();
  const { question } = await scene.ask();
  await scene.engine.claim(question.id, ADA);
  await expect(scene.engine.claim(question.id, LENA)).rejects.toThrow("ada has claimed this question");
  await scene.engine.release(question.id, ADA);
  await scene.engine.assign(question.id, ["lena"], ADA);
  await scene.engine.snooze(question.id, "2026-01-01T13:00:00.000Z" as typeof scene.now, ADA);
  await scene.engine.extend(question.id, 3_600_000, ADA);
  const read = await scene.engine.comment(question.id, "I know this one", LENA);
  expect(read.question).toMatchObject({
    status: "pending",
    to: ["lena"],
    snoozedUntil: "2026-01-01T13:00:00.000Z",
    dueAt: "2026-01-02T13:00:00.000Z",
    comments: [{ by: LENA, text: "I know this one" }],
    version: 7,
  });
  expect(read.question.claim).toBeUndefined();
});
