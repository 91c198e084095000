import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import { Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { HOUR_MS } from "../../../core/instant.ts";
import { SYSTEM } from "../../../core/people/actor.ts";

const APPROVAL = { kind: "approval", options: undefined };

/** A run whose agent asks, withdraws the question, and asks something else. */
async function swapped(before: Record<string, unknown>, after: Record<string, unknown>) {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input(before), AGENT, { runId: run.id });
  await scene.engine.cancel(first.question.id, { reason: "changed my mind" }, AGENT);
  const second = await scene.engine.ask(scene.input(after), AGENT, { runId: run.id });
  return { scene, number: String(run.number), question: second.question };
}

describe("the name of a run", () => {
  test.each([
    ["its number", (number: string) => number],
    ["its name", () => "add-caching"],
    ["a dash", () => "-"],
  ])("does not approve what its agent put in the place of another question, by %s", async (_what, name) => {
    const { scene, number, question } = await swapped(
      { ...APPROVAL, question: "May I run the tests?" },
      { ...APPROVAL, question: "May I drop the production database?" },
    );
    await scene.pass(HOUR_MS);
    const { exit, stderr } = await type(scene, ["answer", name(number), "Approve"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("asked something else 1h ago: May I drop the production database? (q-");
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
    const id = /answer (q-\w+)/.exec(stderr)?.[1] ?? "";
    const approved = await type(scene, ["answer", id, "Approve"]);
    expect(approved.stdout).toContain("Question: May I drop the production database?");
  });

  test("is enough for the next question of a run, unless it is an approval or of high risk", async () => {
    const { scene, number } = await swapped({ question: "Redis?" }, { question: "Which region?" });
    expect((await type(scene, ["answer", number, "eu"])).exit).toBe(0);
    const risky = await swapped({ question: "Redis?" }, { question: "Which region?", risk: "high" });
    expect((await type(risky.scene, ["answer", risky.number, "eu", "--yes"])).exit).toBe(2);
  });

  test("is enough for the first question of a run, and where the question is shown first", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    await scene.engine.ask(scene.input({ ...APPROVAL, question: "May I?" }), AGENT, { runId: run.id });
    const dry = await type(scene, ["answer", String(run.number), "Approve", "--dry-run"]);
    expect(dry.exit).toBe(0);
    expect((await type(scene, ["answer", String(run.number), "Approve"])).exit).toBe(0);
  });

  test("of one that has just ended tells a late reply who was faster, and records it", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const { question } = await scene.engine.ask(scene.input({ hold: "3m" }), AGENT, { runId: run.id });
    await scene.engine.answer(question.id, said("1"), { ...ADA, id: "lena" });
    await scene.engine.handOver(question.id);
    await scene.engine.given(question.id, "tool result");
    await scene.engine.endRun(run.id, { status: "completed" }, SYSTEM);
    const { exit, stderr } = await type(scene, ["answer", String(run.number), "2"]);
    expect(exit).toBe(6);
    expect(stderr).toContain("already answered by lena");
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types).toContain("question.late_reply");
  });

  test("is not what is suggested for an approval", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const asked = await scene.engine.ask(scene.input({ ...APPROVAL, question: "May I?" }), AGENT, { runId: run.id });
    for (const command of [["status"], ["show", String(run.number)]])
      expect((await type(scene, command)).stdout).toMatch(/answer q-\w+ "/);
    expect(asked.question.kind).toBe("approval");
  });
});

describe("an approval with options of its own", () => {
  test.each([
    { options: ["no", "yes, deploy"], answer: "no", exit: 12 },
    { options: ["no", "yes, deploy"], answer: "yes, deploy", exit: 0 },
    { options: ["n:No", "y:Yes"], answer: "no", exit: 12 },
    { options: ["n:No", "y:Yes"], answer: "Yes", exit: 0 },
    { options: ["reject:Reject", "ok:OK"], answer: "Reject", exit: 12 },
    { options: ["Cancel", "Proceed"], answer: "Cancel", exit: 12 },
    { options: ["Proceed", "Cancel"], answer: "Proceed", exit: 0 },
    { options: ["no", "go ahead"], answer: "no", exit: 12 },
    { options: ["later", "approve:Go"], answer: "later", exit: 12 },
  ])("$options: $answer exits with $exit", async ({ options, answer, exit }) => {
    const scene = new Scene();
    const flags = options.flatMap((option) => ["-o", option]);
    const { stdout } = await type(scene, ["ask", "Deploy?", "--kind", "approval", ...flags]);
    expect((await type(scene, ["answer", stdout.trim(), answer])).exit).toBe(0);
    expect((await type(scene, ["check", stdout.trim()])).exit).toBe(exit);
  });

  test.each([
    ["none of them says yes", ["red", "blue"], /No option of this approval says yes/],
    ["one says yes and no", ["keep:Yes", "yes:No"], /yes:No says yes and no/],
  ])("is refused if %s", async (_what, options, words) => {
    const scene = new Scene();
    const flags = options.flatMap((option) => ["-o", option]);
    const { exit, stderr } = await type(scene, ["ask", "Deploy?", "--kind", "approval", ...flags]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(words);
    expect(await scene.engine.listQuestions({ order: "newest", limit: 1 })).toEqual([]);
  });

  test("is vetoed by any option that does not say yes", async () => {
    const scene = new Scene();
    const approvals = { need: 2, from: ["ada", "lena"], veto: true };
    const { question } = await scene.ask({ kind: "approval", question: "Deploy?", options: ["Yes", "No"], approvals });
    await scene.engine.answer(question.id, said("No"), ADA);
    expect((await scene.engine.read(question.id)).question.status).toBe("answered");
  });
});

describe("check exits with 10", () => {
  test("if the person asked back", async () => {
    const scene = new Scene();
    const ask = ["ask", "Deploy?", "--kind", "approval", "--accept", "answer,clarify"];
    const id = (await type(scene, ask)).stdout.trim();
    await type(scene, ["answer", id, "--clarify", "Which one?"]);
    expect((await type(scene, ["check", id])).exit).toBe(10);
    expect((await type(scene, ["check", id, "--json"])).exit).toBe(10);
  });

  test("if the person left the choice to the asker, and nothing was recommended", async () => {
    const scene = new Scene();
    const id = (await type(scene, ["ask", "Which?", "-o", "a", "-o", "b", "--accept", "answer,decide"])).stdout.trim();
    await type(scene, ["answer", id, "--decide"]);
    expect((await type(scene, ["check", id])).exit).toBe(10);
  });

  test("if an approval was corrected before anybody looked", async () => {
    const scene = new Scene();
    const id = (await type(scene, ["ask", "Deploy?", "--kind", "approval"])).stdout.trim();
    await type(scene, ["answer", id, "yes"]);
    await type(scene, ["amend", id, "No, deny it"]);
    expect((await type(scene, ["check", id])).exit).toBe(10);
  });
});
