import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Carried } from "../../test/carried.ts";
import { Scene, pendingOf, said } from "../../test/scene.ts";
import { AnswerInput } from "../core/answer/answer-input.ts";
import type { QuestionId } from "../core/id.ts";
import type { Actor } from "../core/people/actor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../core/instant.ts";
import type { RunResult } from "../core/run/run-lifecycle.ts";
import { answerText } from "../core/answer/match.ts";
import { viewCheck } from "../core/api/view.ts";

const KILLED: RunResult = { status: "failed", reason: "agent_killed" };

describe("an answer that comes while the agent still lives", () => {
  test.each([1, 2, 3])("is brought by the next start, also to question %i of a run", async (count) => {
    const at = await new Carried().start();
    for (let nth = 1; nth <= count; nth += 1) {
      const id = await at.asks(`Question ${nth}?`);
      await at.engine.answer(id, said("1"), ADA);
      const ended = await at.end();
      expect(ended.status).toBe("resuming");
      await at.start();
      expect(await at.told()).toContain(`Question ${nth}?`);
      if (nth > 1) expect(await at.told()).not.toContain(`Question ${nth - 1}?`);
    }
  });

  test("is brought at once after an earlier answer was given in the same start", async () => {
    const at = await new Carried().start();
    const first = await at.asks("First?", { hold: "3m" });
    await at.engine.answer(first, said("1"), ADA);
    await at.engine.handOver(first);
    await at.engine.given(first, "transcript");
    const second = await at.asks("Second?", { hold: "3m" });
    await at.engine.endHold(second, "window");
    await at.engine.answer(second, said("2"), ADA);
    expect(await at.end()).toMatchObject({ status: "resuming", starts: 0 });
    const job = (await at.store.listJobs(10)).find(({ kind }) => kind === "resume");
    expect(job?.dueAt).toBe(at.now);
  });

  test("waits for a person if it was stored without resuming, however the agent ends", async () => {
    const at = await new Carried().start();
    const id = await at.asks("Which?");
    await at.engine.answer(id, said("1", { resume: false }), ADA);
    expect(await at.end(KILLED)).toMatchObject({ status: "awaiting_input", owes: [id] });
    await at.pass(HOUR_MS);
    expect((await at.run()).status).toBe("awaiting_input");
    expect(await at.engine.resumeRun(at.id, ADA)).toMatchObject({ status: "resuming" });
    await at.start();
    expect(await at.states(id)).toEqual(["handing"]);
  });
});

test("an answer stored without resuming that a live call took waits for a person when the agent is killed over it", async () => {
  const at = await new Carried().start();
  const first = await at.asks("First?", { hold: "1m" });
  await at.engine.answer(first, { ...said("1"), resume: false }, ADA);
  await at.engine.handOver(first, 1);
  expect(await at.end(KILLED)).toMatchObject({ status: "awaiting_input", owes: [first] });
  await at.engine.resumeRun(at.id, ADA);
  await at.start();
  expect(await at.told()).toContain("You may have been told this already");
  expect(await at.end(KILLED)).toMatchObject({ status: "resuming" });
});

describe("a question that somebody else asks in the name of a run", () => {
  const asks = async (at: Carried) =>
    (await at.engine.ask(at.input({ question: "Cat or dog?" }), AGENT, { runId: at.id })).question.id;

  test("leaves a parked run parked, and its answer brings the agent all that it is owed", async () => {
    const at = await new Carried().start();
    const first = await at.asks("Red or blue?");
    await at.end();
    await at.engine.answer(first, said("1", { resume: false }), ADA);
    const second = await asks(at);
    expect(await at.run()).toMatchObject({ status: "awaiting_input", pendingId: second });
    await at.engine.answer(second, said("1"), ADA);
    expect(await at.run()).toMatchObject({ status: "resuming", owes: [first, second] });
    await at.start();
    expect(await at.told()).toContain("Red or blue?");
    expect(await at.told()).toContain("Cat or dog?");
  });

  test("does not keep an agent from being started with the answer that it waits for", async () => {
    const at = await new Carried().start();
    const first = await at.asks("Red or blue?");
    await at.end();
    await at.engine.answer(first, said("1"), ADA);
    const second = await asks(at);
    expect((await at.run()).status).toBe("resuming");
    await at.start();
    expect(await at.states(first)).toEqual(["handing"]);
    await at.engine.answer(second, said("1"), ADA);
    expect((await at.end()).status).toBe("resuming");
    await at.start();
    expect(await at.told()).toContain("Cat or dog?");
  });

  test("waits where nothing was started yet", async () => {
    const at = new Carried();
    const run = await at.engine.createRun({ agent: "claude", host: "here", giveBack: "worker" }, AGENT);
    await at.engine.ask(at.input({ question: "Cat or dog?" }), AGENT, { runId: run.id });
    expect((await at.engine.findRun(run.id))?.status).toBe("queued");
  });
});

describe("an answer counts as given when", () => {
  async function handed() {
    const at = await new Carried().start();
    const first = await at.asks("First?");
    await at.end();
    await at.engine.answer(first, said("1"), ADA);
    await at.start();
    return { at, first };
  }

  test("the agent asks again in the start that was handed it", async () => {
    const { at, first } = await handed();
    const second = await at.asks("Second?");
    expect(await at.states(first, second)).toEqual(["given", "pending"]);
    const given = (await at.engine.readChain(at.id)).find(({ event }) => event.type === "question.given");
    expect(given?.event).toMatchObject({ questionId: first, detail: { witness: "asked_again" } });
    await at.end(KILLED);
    await at.engine.answer(second, said("2"), ADA);
    await at.start();
    expect(await at.told()).not.toContain("First?");
  });

  test("the agent asks again after a person asked back", async () => {
    const at = await new Carried().start();
    const first = await at.asks("First?");
    await at.end();
    await at.engine.answer(first, said("Which load?", { outcome: "clarify" }), ADA);
    await at.start();
    const second = await at.asks("With 10k/s: first?");
    await at.end(KILLED);
    await at.engine.answer(second, said("1"), ADA);
    await at.start();
    expect(await at.told()).not.toContain("Which load?");
    expect(await at.states(first, second)).toEqual(["given", "handing"]);
  });

  test("not when the agent is killed in silence: it is told again, and that it may have heard it", async () => {
    const { at, first } = await handed();
    expect(await at.told()).not.toContain("may have been told this already");
    expect(await at.end(KILLED)).toMatchObject({ status: "resuming", starts: 1 });
    await at.start();
    expect(await at.states(first)).toEqual(["handing"]);
    expect(await at.told()).toMatch(/^You may have been told this already/);
  });

  test("not for ever: after five starts in silence the run fails, and a person can resume it with the answer", async () => {
    const { at, first } = await handed();
    for (let starts = 1; starts < 5; starts += 1) {
      expect(await at.end(KILLED)).toMatchObject({ status: "resuming", starts });
      await at.start();
    }
    expect(await at.end(KILLED)).toMatchObject({ status: "failed", reason: "resume_failed" });
    expect(await at.states(first)).toEqual(["void"]);
    expect(await at.engine.resumeRun(at.id, ADA)).toMatchObject({ status: "resuming", owes: [first] });
    await at.start();
    expect(await at.told()).toMatch(/^You may have been told this already[^]*First\?/);
  });

  test("not when a start returns it to be told later: the next one says that it may have been heard before", async () => {
    const { at, first } = await handed();
    await at.end(KILLED);
    await at.start();
    await at.returnToOwed(first);
    expect(await at.states(first)).toEqual(["owed"]);
    await at.end(KILLED);
    await at.start();
    expect(await at.told()).toMatch(/^You may have been told this already/);
  });
});

describe("a correction", () => {
  test("is told alone once the answer was given", async () => {
    const at = await new Carried().start();
    const first = await at.asks("First?");
    await at.end();
    await at.engine.answer(first, said("1"), ADA);
    await at.start();
    await at.engine.given(first, "transcript");
    await at.engine.amend(first, "Memcached after all", ADA);
    expect(await at.end()).toMatchObject({ status: "resuming" });
    await at.start();
    const told = await at.told();
    expect(told).toContain("Memcached after all");
    expect(told).not.toContain("A person answered your question");
  });

  test("that comes while the answer is on its way is not given with it", async () => {
    const at = await new Carried().start();
    const first = await at.asks("First?");
    await at.end();
    await at.engine.answer(first, said("1"), ADA);
    await at.start();
    await at.engine.amend(first, "Memcached after all", ADA);
    expect(await at.told()).not.toContain("Memcached after all");
    const { question } = await at.engine.given(first, "transcript");
    expect(question).toMatchObject({ handover: { state: "given" }, amendments: [{ handover: { state: "owed" } }] });
    expect((await at.run()).owes).toEqual([first]);
    expect(await at.end()).toMatchObject({ status: "resuming" });
  });

  test("that waits is not delivered when the next question times out, and the trail says so", async () => {
    const at = await new Carried().start();
    const first = await at.asks("First?", { hold: "3m" });
    await at.engine.answer(first, said("1"), ADA);
    await at.engine.handOver(first);
    await at.engine.given(first, "transcript");
    await at.engine.amend(first, "Memcached after all", ADA);
    await at.asks("Second?", { timeout: "2m" });
    await at.pass(2 * MINUTE_MS);
    expect(await at.run()).toMatchObject({ status: "failed", reason: "input_timeout", owes: [] });
    const { question } = await at.engine.read(first);
    expect(question.amendments).toMatchObject([{ handover: { state: "void", reason: "input_timeout" } }]);
    const chain = await at.engine.readChain(at.id);
    const ofFirst = chain.filter(({ event }) => event.questionId === first).map(({ event }) => event);
    expect(ofFirst.map(({ type }) => type).slice(-2)).toEqual(["question.amended", "question.delivery_failed"]);
    expect(ofFirst.at(-2)?.detail).toMatchObject({ queued: true });
    expect((await at.engine.verify()).problems).toEqual([]);
  });
});

test("a run that has ended takes no question of a script", async () => {
  const at = await new Carried().start();
  await at.end();
  await expect(at.engine.ask(at.input({}, { via: "cli" }), ADA, { runId: at.id })).rejects.toMatchObject({
    code: "run_ended",
  });
  expect((await at.run()).status).toBe("completed");
});

describe("the session of an agent that askd did not start", () => {
  const SESSION = { run: { agent: "codex", host: "here", session: "t1", giveBack: "poll" as const } };

  test.each(["cancelled by a person", "skipped"])("asks again after a question that was %s", async (how) => {
    const scene = new Scene();
    const first = await scene.engine.ask(
      scene.input({ timeout: "1m", on_timeout: "skip", hold: "30s" }),
      AGENT,
      SESSION,
    );
    if (how === "skipped") await scene.pass(MINUTE_MS);
    else await scene.engine.cancel(first.question.id, { reason: "not now" }, ADA);
    const next = scene.input({ question: "Another?" });
    const second = await scene.engine.ask(next, AGENT, { runId: first.run.id });
    expect(second).toMatchObject({ question: { status: "pending" }, run: { id: first.run.id } });
  });

  test("can no longer ask once a person has cancelled the whole of it", async () => {
    const scene = new Scene();
    const first = await scene.engine.ask(scene.input(), AGENT, SESSION);
    await scene.engine.cancelRun(first.run.id, ADA);
    await expect(
      scene.engine.ask(scene.input({ question: "Another?" }), AGENT, { runId: first.run.id }),
    ).rejects.toMatchObject({ code: "run_ended" });
  });
});

describe("a question that continues another", () => {
  async function askedBack(scene: Scene, raw: Record<string, unknown>) {
    const session = { run: { agent: "codex", host: "here", session: "t1" } };
    const first = await scene.engine.ask(scene.input({ timeout: "2m" }), AGENT, session);
    await scene.pass(2 * MINUTE_MS - SECOND_MS);
    await scene.engine.answer(first.question.id, said("Why?", { outcome: "clarify" }), ADA);
    return scene.engine.ask(scene.input({ question: "Because: which?", ...raw }), AGENT, { runId: first.run.id });
  }

  test("has as much time as the first had, from when it is asked", async () => {
    const scene = new Scene();
    const second = await askedBack(scene, {});
    expect(pendingOf(second).dueAt).toBe(later(scene.now, 2 * MINUTE_MS));
    await scene.pass(MINUTE_MS);
    expect((await scene.engine.read(second.question.id)).question.status).toBe("pending");
  });

  test("has its own time and policy where it declares them", async () => {
    const scene = new Scene();
    const second = await askedBack(scene, { timeout: "8h", on_timeout: "skip" });
    expect(pendingOf(second)).toMatchObject({ dueAt: later(scene.now, 8 * HOUR_MS), onTimeout: { do: "skip" } });
  });

  test("does not keep a default answer that none of its options fits", async () => {
    const scene = new Scene();
    const session = { run: { agent: "codex", host: "here", session: "t1" } };
    const input = scene.input({ on_timeout: "default", default_answer: "Redis", allow_text: false });
    const first = await scene.engine.ask(input, AGENT, session);
    await scene.engine.answer(first.question.id, said("Why?", { outcome: "clarify" }), ADA);
    const next = scene.input({ question: "Yes or no?", options: ["Yes", "No"], allow_text: false });
    const second = await scene.engine.ask(next, AGENT, { runId: first.run.id });
    expect(second.question.onTimeout.do).toBe("fail");
  });
});

describe("an undo window", () => {
  test("keeps that the answer is stored without resuming the run", async () => {
    const at = await new Carried().start();
    const id = await at.asks("Which?");
    await at.end();
    await at.engine.answer(id, said("1", { resume: false, undoMs: 5_000 }), ADA);
    await at.pass(5_000);
    expect(await at.run()).toMatchObject({ status: "awaiting_input", owes: [id] });
  });

  test("that reaches over the deadline gives back the time that was left", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({ timeout: "1m" });
    await scene.pass(MINUTE_MS - 2_000);
    await scene.engine.answer(question.id, said("1", { undoMs: 10_000 }), ADA);
    await scene.pass(5_000);
    const undone = await scene.engine.undo(question.id, ADA);
    expect(pendingOf(undone).dueAt).toBe(later(scene.now, 2_000));
    await scene.pass(1_000);
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  });

  test("holds for the vote that decides, and undoing takes that vote back", async () => {
    const scene = new Scene();
    await scene.know("ada", "bob");
    const { question } = await scene.ask({ approvals: { need: 2 } });
    const bob = { ...ADA, id: "bob" };
    await scene.engine.answer(question.id, said("1"), ADA);
    const settling = await scene.engine.answer(question.id, said("1", { undoMs: 5_000, resume: false }), bob);
    expect(pendingOf(settling).settling).toMatchObject({ isHeldBack: true });
    expect(pendingOf(await scene.engine.undo(question.id, bob)).votes.map(({ by }) => by.id)).toEqual(["ada"]);
    await scene.engine.answer(question.id, said("1", { undoMs: 5_000 }), bob);
    await scene.pass(5_000);
    expect((await scene.engine.read(question.id)).question.status).toBe("answered");
  });
});

test.each<[string, (at: Carried, id: QuestionId) => Promise<unknown>]>([
  ["runs resume", (at) => at.engine.resumeRun(at.id, ADA)],
  ["a second correction that resumes", (at, id) => at.engine.amend(id, "and a TTL", ADA, { resume: true })],
])("a correction that was recorded after the end goes along with the next start: %s", async (_, resume) => {
  const at = await new Carried().start();
  const id = await at.asks("Which?");
  await at.end();
  await at.engine.answer(id, said("1"), ADA);
  await at.start();
  await at.engine.given(id, "transcript");
  await at.end({ status: "failed", reason: "agent_error" });
  await at.engine.amend(id, "Valkey after all", ADA);
  expect(await at.correctionStates(id)).toEqual(["void"]);
  await resume(at, id);
  await at.start();
  expect((await at.correctionStates(id))[0]).toBe("handing");
  const told = await at.told();
  expect(told).toContain("Correction:\n<%>\nValkey after all\n</%>");
  expect(told).not.toContain("Answer:\n");
  await at.engine.given(id, "transcript");
  expect(new Set(await at.correctionStates(id))).toEqual(new Set(["given"]));
  expect((await at.run()).owes).toEqual([]);
  expect((await at.engine.verify()).problems).toEqual([]);
});

describe("what was voided with the run goes along when a person takes the run up again", () => {
  /** First? has its answer and a queued correction, Kept? an answer that is only stored, and Late? was never answered. */
  async function timedOut() {
    const at = await new Carried().start();
    const first = await at.asks("First?", { hold: "3m" });
    await at.engine.answer(first, said("1"), ADA);
    await at.engine.handOver(first);
    await at.engine.given(first, "transcript");
    const kept = await at.asks("Kept?");
    await at.engine.answer(kept, said("2", { resume: false }), ADA);
    await at.engine.amend(first, "Valkey after all", ADA);
    const late = await at.asks("Late?", { timeout: "2m" });
    await at.pass(2 * MINUTE_MS);
    expect(await at.run()).toMatchObject({ status: "failed", reason: "input_timeout", owes: [] });
    expect(await at.states(kept, late)).toEqual(["void", "void"]);
    await at.end(KILLED);
    return { at, first, kept, late };
  }

  test("by an answer after the deadline", async () => {
    const { at, first, kept, late } = await timedOut();
    const forced = await at.engine.answer(late, said("1", { force: true }), ADA);
    expect(new Set(forced.run.owes)).toEqual(new Set([first, kept, late]));
    await at.start();
    const told = await at.told();
    for (const words of ["Valkey after all", "Kept?", "Late?"]) expect(told).toContain(words);
    expect(told).not.toContain("First?\n");
    await at.asks("Next?");
    expect(await at.states(kept)).toEqual(["given"]);
    expect(await at.correctionStates(first)).toEqual(["given"]);
    expect((await at.engine.read(late)).question).toMatchObject({
      handover: { state: "void", reason: "input_timeout" },
      forced: { handover: { state: "given" } },
    });
    expect((await at.engine.verify()).problems).toEqual([]);
  });

  test("by a correction that resumes it", async () => {
    const { at, first, kept, late } = await timedOut();
    await at.engine.amend(kept, "and a TTL", ADA, { resume: true });
    expect(new Set((await at.run()).owes)).toEqual(new Set([first, kept]));
    await at.start();
    const told = await at.told();
    for (const words of ["Valkey after all", "Kept?", "and a TTL"]) expect(told).toContain(words);
    expect(await at.states(late)).toEqual(["void"]);
    expect((await at.engine.verify()).problems).toEqual([]);
  });

  test("by a correction that resumes a run which did not take its answer", async () => {
    const at = await new Carried().start();
    const id = await at.asks("Which?");
    await at.end();
    await at.engine.answer(id, said("1"), ADA);
    for (let starts = 0; starts < 5; starts += 1) {
      await at.start();
      await at.end(KILLED);
    }
    expect(await at.run()).toMatchObject({ status: "failed", reason: "resume_failed" });
    await at.engine.amend(id, "and a TTL", ADA, { resume: true });
    await at.start();
    const told = await at.told();
    expect(told).toContain("A person answered your question");
    expect(told).toContain("and a TTL");
    expect((await at.engine.verify()).problems).toEqual([]);
  });

  test("by runs resume, after an ask that was too unsure", async () => {
    const at = await new Carried({ rules: { confidence: { act: undefined, ask: 0.5, below: "skip" } } }).start();
    const kept = await at.asks("Kept?");
    await at.engine.answer(kept, said("2", { resume: false }), ADA);
    const unsure = await at.asks("Unsure?", { confidence: 0.1 });
    expect(await at.run()).toMatchObject({ status: "skipped", reason: "low_confidence" });
    await at.end(KILLED);
    expect(await at.engine.resumeRun(at.id, ADA)).toMatchObject({ status: "resuming", owes: [kept] });
    expect(await at.states(unsure)).toEqual(["void"]);
    await at.start();
    expect(await at.told()).toContain("Kept?");
    expect((await at.engine.verify()).problems).toEqual([]);
  });

  describe("only if whoever takes it up may answer each question that goes along:", () => {
    const BOB = { ...ADA, id: "bob" };
    const LENA = { ...ADA, id: "lena" };

    /** Kept? is for those who decide, and its answer is only stored; First? and Late? are for everybody. */
    async function withKept() {
      const at = await new Carried().start();
      await at.know({ id: "lena", groups: ["deciders"] }, "bob");
      const first = await at.asks("First?", { hold: "3m" });
      await at.engine.answer(first, said("1"), BOB);
      await at.engine.handOver(first);
      await at.engine.given(first, "transcript");
      const kept = await at.asks("Kept?", { approvals: { from: ["deciders"] } });
      await at.engine.answer(kept, said("2", { resume: false }), LENA);
      const late = await at.asks("Late?", { timeout: "2m" });
      await at.pass(2 * MINUTE_MS);
      await at.end(KILLED);
      return { at, first, kept, late };
    }

    test.each<[string, (asked: Awaited<ReturnType<typeof withKept>>, by: Actor) => Promise<unknown>]>([
      ["an answer after the deadline", ({ at, late }, by) => at.engine.answer(late, said("1", { force: true }), by)],
      ["a correction", ({ at, first }, by) => at.engine.amend(first, "Valkey", by, { resume: true })],
    ])("%s", async (_, take) => {
      const asked = await withKept();
      const { at, kept } = asked;
      await expect(take(asked, BOB)).rejects.toMatchObject({ code: "not_permitted" });
      expect(await at.run()).toMatchObject({ status: "failed", owes: [] });
      expect(await at.states(kept)).toEqual(["void"]);
      await take(asked, LENA);
      expect(await at.states(kept)).toEqual(["owed"]);
      expect((await at.engine.verify()).problems).toEqual([]);
    });
  });

  test("in the session of an agent that askd did not start", async () => {
    const scene = new Scene();
    const session = { run: { agent: "codex", host: "here", session: "t1", giveBack: "poll" as const } };
    const first = await scene.engine.ask(scene.input({}, { via: "api" }), AGENT, session);
    await scene.engine.answer(first.question.id, said("1"), ADA);
    await scene.engine.given(first.question.id, "read");
    const input = scene.input({ question: "Late?", timeout: "2m" }, { via: "api" });
    const late = await scene.engine.ask(input, AGENT, { runId: first.run.id });
    await scene.engine.amend(first.question.id, "Valkey after all", ADA);
    await scene.pass(2 * MINUTE_MS);
    const forced = await scene.engine.answer(late.question.id, said("1", { force: true }), ADA);
    expect(forced.run).toMatchObject({ status: "resuming", owes: [first.question.id, late.question.id] });
    const { amendments } = (await scene.engine.read(first.question.id)).question;
    expect(amendments).toMatchObject([{ handover: { state: "owed" } }]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });
});

test("a completed run is resumed for a correction that was recorded after its end, and only for that", async () => {
  const at = await new Carried().start();
  const id = await at.asks("Which?");
  await at.end();
  await at.engine.answer(id, said("1"), ADA);
  await at.start();
  await at.engine.given(id, "transcript");
  await at.end();
  await expect(at.engine.resumeRun(at.id, ADA)).rejects.toMatchObject({ code: "bad_input" });
  await at.engine.amend(id, "Valkey after all", ADA);
  expect((await at.engine.resumeRun(at.id, ADA)).status).toBe("resuming");
  await at.start();
  expect(await at.told()).toContain("Valkey after all");
});

test("a question that is withdrawn with words is told as such, and the words as a note", async () => {
  const at = await new Carried().start();
  const id = await at.asks("Which?");
  await at.end();
  await at.engine.cancel(id, { reason: "not needed", resume: "do not deploy now" }, ADA);
  expect((await at.engine.read(id)).question).toMatchObject({ status: "cancelled", note: "do not deploy now" });
  await at.start();
  const told = await at.told();
  expect(told).toContain('was withdrawn by ada (reason: "not needed"). No answer will come.');
  expect(told).toContain("Note, which is not an answer:\n<%>\ndo not deploy now\n</%>");
});

test("words beside chosen options are kept, shown and told with them", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({ options: ["redis", "disk"], multiple: true });
  const items = { "1": { values: ["redis", "disk"], text: "and tape" } };
  const { question: closed, content } = await scene.engine.answer(question.id, AnswerInput.parse({ items }), ADA);
  expect(closed).toMatchObject({ answer: { items } });
  expect(answerText(content, items)).toBe("redis, disk — and tape");
  expect(viewCheck({ question: closed, content })).toMatchObject({ answer: "redis,disk,and tape", answers: items });
});
