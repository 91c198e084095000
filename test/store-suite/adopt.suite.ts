import { describe, expect, test } from "vitest";
import { IDS, aContent, aJob, aQuestion, aRun, anEvent, answered } from "../builders.ts";
import { CHAIN_START, chainHash } from "../../src/core/trail/event.ts";
import { eachWithStore, keep, keepRun, type Open } from "./opened.ts";

/** A run of another store: changed many times, with its own number. */
function fromElsewhere(number = 42) {
  const run = { ...aRun({ session: `s${number}` }), version: 7, number };
  const question = { ...answered(aQuestion({ runId: run.id })), version: 3 };
  const event = anEvent({ runId: run.id, questionId: question.id, version: 3, to: "answered" });
  const contents = [{ hash: question.content, content: aContent() }];
  const changes = {
    runs: [run],
    questions: [question],
    contents,
    events: [event],
    scheduled: [aJob("watch", question)],
  };
  return { run, question, event, changes };
}

export function adoptSuite(open: Open): void {
  describe("rows from another store", () => {
    const at = eachWithStore(open);

    test("are kept at their versions, under their number, with their trail", async () => {
      const { run, question, event, changes } = fromElsewhere();
      expect(await at.store.adopt(changes)).toMatchObject({ ok: true });
      expect(await at.store.findRun(run.id)).toEqual(run);
      expect(await at.store.findQuestion(question.id)).toEqual(question);
      const { events, head } = await at.store.readChain(run.id);
      expect(events.map((kept) => kept.event)).toEqual([event]);
      expect(head).toEqual({ n: 1, hash: chainHash(CHAIN_START, events[0]?.body ?? "") });
      expect((await at.store.listJobs(10)).map(({ key }) => key)).toEqual([`watch:${question.id}`]);
    });

    test("can be changed afterwards, here and by another process, at the version they have", async () => {
      const { run, question, changes } = fromElsewhere();
      await at.store.adopt(changes);
      await keep(at.store, { runs: [run], questions: [question], events: [anEvent({ runId: run.id })] });
      expect(await at.store.findRun(run.id)).toMatchObject({ version: 8, number: 42 });
      const another = await at.another();
      await keep(another, { questions: [{ ...question, version: 4 }] });
      expect(await at.store.commit({ questions: [question] })).toEqual({ ok: false, why: "moved" });
      expect((await at.store.readChain(run.id)).head.n).toBe(2);
    });

    test("take a new number where theirs is taken, and leave the next ones free", async () => {
      await keepRun(at.store);
      const one = fromElsewhere(1);
      const far = fromElsewhere(50);
      await at.store.adopt(one.changes);
      await at.store.adopt(far.changes);
      const numbers = [(await at.store.findRun(one.run.id))?.number, (await at.store.findRun(far.run.id))?.number];
      const next = await keepRun(at.store);
      expect(new Set([1, ...numbers, next.number]).size).toBe(4);
      expect(numbers[1]).toBe(50);
      expect(next.number).toBeGreaterThan(50);
    });

    test("use up no numbers when they come again, or are refused", async () => {
      const first = await keepRun(at.store);
      const { run, changes } = fromElsewhere(first.number);
      await at.store.adopt(changes);
      for (let times = 0; times < 3; times += 1) {
        await at.store.adopt(changes);
        await at.store.adopt({ runs: [{ ...aRun({ session: run.session }), version: 2 }] });
      }
      expect((await at.store.findRun(run.id))?.number).toBe(first.number + 1);
      expect((await keepRun(at.store)).number).toBe(first.number + 2);
      const far = fromElsewhere(first.number + 3);
      await at.store.adopt(far.changes);
      expect((await at.store.findRun(far.run.id))?.number).toBe(first.number + 3);
      expect((await keepRun(at.store)).number).toBe(first.number + 4);
    });

    test("that are there already, or whose session is, are taken and change nothing", async () => {
      const { run, changes } = fromElsewhere();
      await at.store.adopt(changes);
      expect(await at.store.adopt(changes)).toEqual({ ok: false, why: "taken" });
      const same = aRun({ id: IDS.run(), session: run.session });
      expect(await at.store.adopt({ runs: [{ ...same, version: 2 }] })).toEqual({ ok: false, why: "taken" });
      expect(await at.store.findRun(same.id)).toBeUndefined();
      expect((await at.store.readChain(run.id)).head.n).toBe(1);
    });
  });
}
