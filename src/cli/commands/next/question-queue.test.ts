import { describe, expect, test } from "vitest";
import { ADA, AGENT, NOON, aQuestion, aRun } from "../../../../test/builders.ts";
import { anItem } from "../../../../test/next-card.ts";
import { MCP, Scene, said } from "../../../../test/scene.ts";
import type { Item } from "../../../core/question/content.ts";
import { HOUR_MS, later } from "../../../core/instant.ts";
import type { PendingQuestion } from "../../../core/question/question.ts";
import { QuestionQueue, groupSame, sortUrgent } from "./question-queue.ts";

function waiting(over: Partial<PendingQuestion> = {}, items: Item[] = [anItem("Redis?", ["Yes", "No"])]) {
  const run = aRun();
  return { run, question: aQuestion({ runId: run.id, ...over }), content: { items } };
}

const titles = (reads: ReadonlyArray<{ question: PendingQuestion }>): string[] =>
  reads.map(({ question }) => question.title);

describe("what waits", () => {
  test("comes by consequence, risk and age, and last what somebody else has claimed", () => {
    const hold = { until: later(NOON, 60_000), after: "proceed" as const, windowMs: 60_000 };
    const lena = { by: { ...ADA, id: "lena" }, at: NOON };
    const reads = [
      waiting({ title: "lena's", dueAt: NOON, claim: lena }),
      waiting({ title: "never" }),
      waiting({ title: "young", dueAt: later(NOON, HOUR_MS), askedAt: later(NOON, 1) }),
      waiting({ title: "old", dueAt: later(NOON, HOUR_MS) }),
      waiting({ title: "risky", dueAt: later(NOON, HOUR_MS), risk: "high" }),
      waiting({ title: "goes on alone", hold }),
      waiting({ title: "mine", dueAt: later(NOON, 2), claim: { by: ADA, at: NOON } }),
    ];
    expect(titles(sortUrgent(reads, "ada"))).toEqual([
      "mine",
      "goes on alone",
      "risky",
      "old",
      "young",
      "never",
      "lena's",
    ]);
  });

  test("is one card where the words and the options are the same, but not for leave or at high risk", () => {
    const same = [waiting(), waiting({}, [anItem("  redis ", ["yes", "NO"])]), waiting({ risk: "high" })];
    const other = [
      waiting({}, [anItem("Redis?", ["Yes"])]),
      waiting({ kind: "approval" }),
      waiting({ kind: "approval" }),
    ];
    const cards = groupSame([...same, ...other]);
    expect(cards.map(({ same: others }) => others.length)).toEqual([1, 0, 0, 0, 0]);
  });

  test("is neither snoozed nor just answered nor filtered out", async () => {
    const scene = new Scene();
    const ids = [];
    for (const question of ["one?", "two?", "three?", "four?"]) {
      ids.push((await scene.engine.ask(scene.input({ question }, MCP), AGENT)).question.id);
    }
    const [first, second, third] = ids;
    if (!first || !second || !third) throw new Error("nothing was asked");
    await scene.engine.snooze(first, later(scene.now, HOUR_MS), ADA);
    await scene.engine.answer(second, said("Redis", { undoMs: 5000 }), ADA);
    const queue = new QuestionQueue(scene.engine, ({ question }) => question.id !== third);
    const shown = async () => (await queue.read("ada")).cards.map(({ read }) => read.question.title).toSorted();
    expect(await shown()).toEqual(["four?"]);
    await scene.pass(HOUR_MS);
    expect(await shown()).toEqual(["four?", "one?"]);
  });
});
