import { describe, expect, test } from "vitest";
import type { QuestionId } from "../../core/id.ts";
import type { Refusal } from "../../core/refusal.ts";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Scene, pendingOf, said } from "../../../test/scene.ts";

const LENA: Actor = { ...ADA, id: "lena" };
const EVE: Actor = { ...ADA, id: "eve" };
const ROOT: Actor = { ...EVE, scope: "admin" };

const GUARDED = { timeout: "1h", approvals: { need: 1, from: ["ada", "lena"] } };

describe("what makes the agent go on is refused to whoever could not answer:", () => {
  test.each([
    ["a person who is not named", EVE],
    ["an admin who is not named", ROOT],
  ])("%s", async (_, by) => {
    const scene = new Scene();
    const { engine } = scene;
    const open = (await scene.ask(GUARDED)).question.id;
    const refused = { code: "not_permitted", message: `This question is for ada, lena. You are eve` };
    await expect(engine.answer(open, said("1"), by)).rejects.toMatchObject(refused);
    await expect(engine.cancel(open, { resume: "approved" }, by)).rejects.toMatchObject(refused);
    expect((await engine.read(open)).question.status).toBe("pending");
    const answered = (await scene.ask(GUARDED)).question.id;
    await engine.answer(answered, said("1"), ADA);
    await expect(engine.amend(answered, "approved", by)).rejects.toMatchObject(refused);
    const late = (await scene.ask(GUARDED)).question.id;
    await scene.pass(3_600_000);
    await expect(engine.answer(late, said("1", { force: true }), by)).rejects.toMatchObject(refused);
    expect((await engine.answer(late, said("1", { force: true }), LENA)).question).toMatchObject({
      status: "timeout",
      forced: { answer: { by: LENA } },
    });
  });

  test("the run of a stored answer is resumed by those only who could have answered", async () => {
    const scene = new Scene();
    const { id } = await scene.startedRun();
    const { question } = await scene.engine.ask(scene.input(GUARDED), AGENT, { runId: id });
    await scene.engine.endRun(id, { status: "completed" }, SYSTEM);
    await scene.engine.answer(question.id, said("1", { resume: false }), ADA);
    await expect(scene.engine.resumeRun(id, EVE)).rejects.toMatchObject({ code: "not_permitted" });
    await expect(scene.engine.resumeRun(id, { ...AGENT, runId: id })).rejects.toMatchObject({ code: "not_permitted" });
    expect(await scene.engine.resumeRun(id, LENA)).toMatchObject({ status: "resuming" });
  });

  test("somebody of a group that is named may answer", async () => {
    const scene = new Scene();
    await scene.know({ id: "eve", groups: ["ops"] }, "lena");
    const { question } = await scene.ask({ approvals: { need: 1, from: ["ops"] } });
    await expect(scene.engine.answer(question.id, said("1"), LENA)).rejects.toMatchObject({ code: "not_permitted" });
    expect((await scene.engine.answer(question.id, said("1"), EVE)).question.status).toBe("answered");
  });

  test("at high risk a correction, a forced answer and words with a withdrawal are confirmed as an answer is", async () => {
    const scene = new Scene();
    const { engine } = scene;
    const risky = { risk: "high", timeout: "1h" };
    const confirmed = { code: "needs_confirmation" };
    const open = (await scene.ask(risky)).question.id;
    await expect(engine.cancel(open, { resume: "go on" }, ADA)).rejects.toMatchObject(confirmed);
    expect((await engine.cancel(open, { resume: "go on", confirmed: true }, ADA)).question.status).toBe("cancelled");
    const answered = (await scene.ask(risky)).question.id;
    await engine.answer(answered, said("1", { confirmed: true }), ADA);
    await expect(engine.amend(answered, "the other", ADA)).rejects.toMatchObject(confirmed);
    await engine.amend(answered, "the other", ADA, { confirmed: true });
    const late = (await scene.ask(risky)).question.id;
    await scene.pass(3_600_000);
    await expect(engine.answer(late, said("1", { force: true }), ADA)).rejects.toMatchObject(confirmed);
    await engine.answer(late, said("1", { force: true, confirmed: true }), ADA);
  });

  test("an agent that is sure enough asks all the same where people are named", async () => {
    const scene = new Scene({ rules: { confidence: { act: 0.8, ask: 0.3, below: "ask" } } });
    const sure = { options: [{ label: "Deploy", recommended: true }, "Wait"], confidence: 0.99 };
    expect((await scene.ask(sure)).question.status).toBe("answered");
    expect((await scene.ask({ ...sure, approvals: { need: 1, from: ["ada"] } })).question.status).toBe("pending");
    expect((await scene.ask({ ...sure, approvals: { need: 2 } })).question.status).toBe("pending");
  });
});

describe("where two people have to agree,", () => {
  const approval = {
    kind: "approval",
    question: "Deploy?",
    options: ["allow", "deny"],
    allow_text: false,
    timeout: "1h",
    approvals: { need: 2 },
  };

  test("one alone neither corrects, nor withdraws with words, nor answers after the deadline", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena");
    const { engine } = scene;
    const alone = { code: "not_permitted", fact: { is: "needs_votes", need: 2 } };
    const answered = (await scene.ask(approval)).question.id;
    await expect(engine.cancel(answered, { resume: "approved" }, ADA)).rejects.toMatchObject(alone);
    await engine.answer(answered, said("allow"), ADA);
    await engine.answer(answered, said("allow"), LENA);
    await expect(engine.amend(answered, "and drop the table", ADA)).rejects.toMatchObject(alone);
    const late = (await scene.ask(approval)).question.id;
    await scene.pass(3_600_000);
    await expect(engine.answer(late, said("allow", { force: true }), ADA)).rejects.toMatchObject(alone);
  });

  test("a vote from before the deadline counts after it, that of the same person once", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena");
    const { question } = await scene.ask(approval);
    await scene.engine.answer(question.id, said("allow"), ADA);
    await scene.pass(3_600_000);
    const forced = said("allow", { force: true });
    await expect(scene.engine.answer(question.id, forced, ADA)).rejects.toMatchObject({ code: "not_permitted" });
    await expect(scene.engine.answer(question.id, said("deny", { force: true }), LENA)).rejects.toMatchObject({
      code: "not_permitted",
    });
    expect((await scene.engine.answer(question.id, forced, LENA)).question).toMatchObject({
      forced: { answer: { by: LENA } },
    });
  });

  test("names that are on no list are one person together", async () => {
    const scene = new Scene();
    await scene.know("ada");
    const { question } = await scene.ask(approval);
    for (const id of ["ci-bot", "stranger"]) {
      const voted = await scene.engine.answer(question.id, said("allow"), { ...ADA, id });
      expect(voted.question).toMatchObject({ status: "pending", votes: [{ by: { id } }] });
    }
    expect((await scene.engine.answer(question.id, said("allow"), ADA)).question.status).toBe("answered");
  });

  test("the vote of somebody who was removed does not count", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena", "eve");
    const { question } = await scene.ask(approval);
    await scene.engine.answer(question.id, said("allow"), EVE);
    await scene.engine.putPerson({ id: "eve", groups: [], version: 1, removed: true }, SYSTEM);
    expect((await scene.engine.answer(question.id, said("allow"), ADA)).question.status).toBe("pending");
    expect((await scene.engine.answer(question.id, said("allow"), LENA)).question.status).toBe("answered");
  });
});

describe("an agent", () => {
  test("withdraws its own question without words, and with words nobody's", async () => {
    const scene = new Scene();
    const { id } = await scene.startedRun();
    const own: Actor = { ...AGENT, runId: id };
    const { question } = await scene.engine.ask(scene.input({ risk: "high", ...GUARDED }), own, { runId: id });
    await expect(scene.engine.cancel(question.id, { resume: "approved" }, own)).rejects.toMatchObject({
      code: "not_permitted",
      message: "An agent cannot cancel a question with words; a person has to",
    });
    const events = (await scene.engine.readChain(id)).map(({ event }) => event.type);
    expect(events.at(-1)).toBe("question.refused");
    expect((await scene.engine.cancel(question.id, {}, own)).question.status).toBe("cancelled");
  });

  test("has nothing of another agent's: neither of another run, nor of another name without a run", async () => {
    const scene = new Scene();
    const { id } = await scene.startedRun();
    const { question } = await scene.engine.ask(scene.input(), { ...AGENT, runId: id }, { runId: id });
    const other = await scene.startedRun();
    const strangers: Actor[] = [
      { ...AGENT, runId: other.id },
      { ...AGENT, id: "codex" },
    ];
    for (const by of strangers) {
      await expect(scene.engine.cancel(question.id, {}, by)).rejects.toMatchObject({ code: "not_permitted" });
      await expect(scene.engine.cancelRun(id, by)).rejects.toMatchObject({ code: "not_permitted" });
    }
    const posing = scene.engine.ask(scene.input({ question: "Mine?" }), { ...AGENT, runId: other.id }, { runId: id });
    await expect(posing).rejects.toMatchObject({ code: "not_permitted" });
  });
});

describe("the hint of a refusal", () => {
  test("offers a correction to those only whose correction would count", async () => {
    const scene = new Scene();
    const { engine } = scene;
    const hintFor = async (id: string, by: Actor) => {
      const refused = await engine.answer(id as QuestionId, said("2"), by).catch((error: unknown) => error);
      return (refused as Refusal).hint;
    };
    const guarded = (await scene.ask(GUARDED)).question.id;
    await engine.answer(guarded, said("1"), ADA);
    expect(await hintFor(guarded, LENA)).toContain("askd amend");
    expect(await hintFor(guarded, EVE)).not.toContain("askd amend");
    const open = (await scene.ask()).question.id;
    await engine.answer(open, said("1"), ADA);
    expect(await hintFor(open, EVE)).toContain("askd amend");
    await scene.know("ada", "lena");
    const voted = (await scene.ask({ approvals: { need: 2, from: ["ada", "lena"] } })).question.id;
    for (const by of [ADA, LENA]) await engine.answer(voted, said("1"), by);
    expect(await hintFor(voted, ADA)).not.toContain("askd amend");
    const high = (await scene.ask({ risk: "high" })).question.id;
    await engine.answer(high, said("1", { confirmed: true }), ADA);
    const claim = (by: Actor) => engine.claim(high, by).catch(({ hint }: Refusal) => hint);
    expect(await claim(LENA)).toContain("askd amend");
    expect(await claim({ ...LENA, strength: "bearer" })).toContain("askd show");
    const late = await engine.cancel(open, {}, AGENT).catch(({ hint }: Refusal) => hint);
    expect(late).toContain("askd show");
  });

  test("names a command where votes are missing after the deadline", async () => {
    const scene = new Scene();
    await scene.know("ada", "lena");
    const { question, run } = await scene.ask({ timeout: "1h", approvals: { need: 2, from: ["ada", "lena"] } });
    await scene.pass(3_600_000);
    await expect(scene.engine.answer(question.id, said("1", { force: true }), ADA)).rejects.toMatchObject({
      hint: expect.stringContaining(`askd show ${run.number}`),
    });
  });
});

describe("a run that an agent starts", () => {
  test("is part of the agent's run, whether it says so or not", async () => {
    const scene = new Scene();
    const own = await scene.startedRun();
    const by = { ...AGENT, runId: own.id };
    expect(await scene.engine.createRun({ name: "child" }, by)).toMatchObject({ parentId: own.id });
    expect(await scene.engine.createRun({ name: "child", parentId: own.id }, by)).toMatchObject({ parentId: own.id });
  });

  test("is no part of another run", async () => {
    const scene = new Scene();
    const [own, other] = [await scene.startedRun(), await scene.startedRun()];
    const started = scene.engine.createRun({ name: "child", parentId: other.id }, { ...AGENT, runId: own.id });
    await expect(started).rejects.toMatchObject({ code: "not_permitted" });
    expect(await scene.engine.listRuns({ parentId: other.id, order: "oldest", limit: 9 })).toEqual([]);
  });
});

describe("votes that can never be enough", () => {
  const approval = { question: "Deploy?", kind: "approval", options: undefined } as const;

  test("are refused when the question is asked, whether people are listed or not", async () => {
    const scene = new Scene();
    await expect(scene.ask({ ...approval, approvals: { need: 3, from: ["lena"] } })).rejects.toThrow(
      "3 people would have to agree, but lena can be 1 person at most",
    );
    await scene.know({ id: "lena", groups: ["ops"] }, { id: "mika", groups: ["ops"] });
    await expect(scene.ask({ ...approval, approvals: { need: 3, from: ["ops"] } })).rejects.toThrow("2 people at most");
    expect((await scene.ask({ ...approval, approvals: { need: 2, from: ["ops"] } })).isNew).toBe(true);
  });

  test("are seen when a person is removed, and no longer when somebody who may vote is added", async () => {
    const scene = new Scene();
    await scene.know("lena", { id: "mika", groups: [] });
    const asked = await scene.ask({ ...approval, approvals: { need: 2, from: ["lena", "mika"] } });
    const { id } = asked.question;
    await scene.engine.answer(id, said("1"), { ...ADA, id: "lena" });
    await scene.engine.removePerson("lena", {}, SYSTEM);
    expect((await scene.engine.read(id)).question).toMatchObject({ isUnreachable: true, votes: [] });
    const voted = await scene.engine.answer(id, said("1"), { ...ADA, id: "mika" });
    expect(voted.question).toMatchObject({ status: "pending", isUnreachable: true });
    await scene.know("lena");
    expect(pendingOf(await scene.engine.read(id)).isUnreachable).toBeUndefined();
    const done = await scene.engine.answer(id, said("1"), { ...ADA, id: "lena" });
    expect(done.question.status).toBe("answered");
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("of people who are all removed name a way out, not one of them", async () => {
    const scene = new Scene();
    await scene.know("lena", "mika");
    const { question } = await scene.ask({ ...approval, approvals: { need: 1, from: ["lena"] } });
    await scene.engine.removePerson("lena", {}, SYSTEM);
    await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({
      hint: expect.stringMatching(/^None of them is on the list any more: .* askd cancel q-/),
    });
  });
});
