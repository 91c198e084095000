import { expect, test } from "vitest";
import { ADA, AGENT, IDS, NOON } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import { SYSTEM } from "../core/people/actor.ts";
import type { QuestionSnapshot } from "../core/changes.ts";
import { claim, release } from "../core/question/claim.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { MemoryStore } from "../../test/memory-store/memory.ts";
import { Decider } from "./decide.ts";

/** A decider on a machine where every try takes so long, and what it has tried. */
function slowDecider(tryMs: number) {
  let elapsedMs = 0;
  let tries = 0;
  const now = () => NOON;
  const store = new MemoryStore(now);
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now, elapsedMs: () => elapsedMs });
  const retryUntil = (wanted: number) =>
    decider.retry(() => {
      elapsedMs += tryMs;
      tries += 1;
      return Promise.resolve(tries === wanted ? "done" : undefined);
    });
  return { retryUntil, tries: () => tries };
}

test("a machine on which one try takes longer than all of them may still gets several tries", async () => {
  await expect(slowDecider(3_000).retryUntil(4)).resolves.toBe("done");
});

test("what never succeeds is given up after a bounded number of slow tries", async () => {
  const slow = slowDecider(3_000);
  await expect(slow.retryUntil(1_000)).rejects.toMatchObject({ code: "moved" });
  expect(slow.tries()).toBe(5);
});

test("a decision that writes no row is never made by what a process remembers, which another may have changed", async () => {
  const scene = new Scene();
  const { question } = await scene.engine.ask(scene.input(), AGENT, { run: { session: "s-1" } });
  const decider = () => new Decider({ store: scene.store, ids: IDS, rules: scene.rules, now: () => scene.now });
  const first = decider();
  await first.changeQuestion(question.id, ADA, claim);
  await decider().changeQuestion(question.id, ADA, release);
  let decidedBy: QuestionSnapshot["question"] | undefined;
  await first.changeQuestion(question.id, SYSTEM, (read) => {
    decidedBy = read.question;
    return { dropped: ["clock:of another"] };
  });
  expect(decidedBy).toEqual((await scene.engine.read(question.id)).question);
});
