import { expect, test } from "vitest";
import { ADA, AGENT, NOON, aQuestion } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { NO_REASON } from "../question/question.ts";
import { proceedSentence, answerMessage, cancelledMessage } from "./agent-message.ts";
import { SECOND_MS } from "../instant.ts";

async function answeredWith(text: string, over: Parameters<typeof said>[1] = {}): Promise<QuestionSnapshot> {
  const scene = new Scene();
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(
    scene.input({ timeout: "1h", on_timeout: "default", default_answer: "1" }),
    AGENT,
    { runId: run.id },
  );
  return scene.engine.answer(question.id, said(text, over), ADA);
}

test("an answer comes with the question, who gave it, through what and when, and its id", async () => {
  const read = await answeredWith("Use Redis", { note: "pub/sub later" });
  const id = read.question.status === "answered" ? read.question.answer.id : "";
  expect(answerMessage({ delimiter: "%1", reads: [read] })).toBe(
    [
      "A person answered your question.",
      `Question (${read.question.id}):\n<%1>\nRedis or Memcached?\n</%1>`,
      "Answer:\n<%1>\nUse Redis\n</%1>",
      "Note:\n<%1>\npub/sub later\n</%1>",
      `Answered by ada (cli) at 2026-01-01 12:00 UTC. Recorded as ${id}.`,
      "",
      "Continue with the task.",
    ].join("\n"),
  );
});

test("an approval says which call was allowed, and that a used one is used", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const input = scene.input({ kind: "approval", tool: { name: "Bash", input: { command: "make deploy" } } });
  const { question } = await scene.engine.ask(input, AGENT, { runId: run.id });
  const read = await scene.engine.answer(question.id, said("allow"), ADA);
  const told = answerMessage({ delimiter: "%%", reads: [read] });
  expect(told).toMatch(/What it was about:\n<%%>\n[^]*make deploy[^]*<\/%%>/);
  expect(told).toContain("This holds once, for exactly this: make the same call again now.");
  await scene.engine.handOver(question.id, run.epoch);
  const used = await scene.engine.given(question.id, "call", run.epoch);
  const known = answerMessage({ delimiter: "%%", reads: [used] });
  expect(known).toContain("This held once, for exactly this, and it was used.");
  expect(known).not.toContain("make the same call again");
});

test("leaving the choice and asking back are said in their own words", async () => {
  const decided = answerMessage({ delimiter: "%%", reads: [await answeredWith("", { outcome: "decide" })] });
  expect(decided).toContain("A person leaves the choice to you.");
  expect(decided).toContain("record what you chose");
  const back = answerMessage({ delimiter: "%%", reads: [await answeredWith("What load?", { outcome: "clarify" })] });
  expect(back).toContain("A person asks back about your question.");
  expect(back).toContain("<%%>\nWhat load?\n</%%>");
});

test("a policy's answer is labelled as one and names the rule", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({ timeout: "1h", on_timeout: "default", default_answer: "1" });
  await scene.pass(3_600_000);
  const told = answerMessage({ delimiter: "%%", reads: [await scene.engine.read(question.id)] });
  expect(told).toContain('No person answered in time. Policy "default" applies: it answers in place of a person.');
  expect(told).toContain("Answer of the policy:\n<%%>\nRedis\n</%%>");
  expect(told).not.toContain("A person answered");
});

test("the sentence for going on alone carries the real duration", () => {
  expect(proceedSentence(180 * SECOND_MS)).toBe(
    "No response received within 3 minutes — proceed using your best judgment.",
  );
  expect(proceedSentence(90 * SECOND_MS)).toBe(
    "No response received within 90 seconds — proceed using your best judgment.",
  );
});

test("all answers since the last resume are told, corrections too", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  await scene.engine.answer(first.question.id, said("1"), ADA);
  await scene.engine.amend(first.question.id, "the newest version", ADA);
  const told = answerMessage({ delimiter: "%%", reads: [await scene.engine.read(first.question.id)] });
  expect(told).toContain("Correction:\n<%%>\nthe newest version\n</%%>");
});

test("a question that was cancelled without a reason is not given one", () => {
  const { hold: _hold, settling: _settling, ...open } = aQuestion();
  const cancelled = {
    ...open,
    status: "cancelled",
    cancelledAt: NOON,
    cancelledBy: ADA,
    handover: { state: "owed" },
  } as const;
  const said = cancelledMessage({ ...cancelled, reason: NO_REASON, note: "go on" });
  expect(said).toMatch(/^Question q_\w+ was withdrawn by ada\. No answer will come/);
  expect(cancelledMessage({ ...cancelled, reason: "not needed" })).toContain('was cancelled (reason: "not needed").');
});
