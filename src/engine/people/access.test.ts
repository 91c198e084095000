import { describe, expect, test } from "vitest";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";

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
    const scene = new Scene({ rules: { confidence: { act: 0.8, ask: 0.3 } } });
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
