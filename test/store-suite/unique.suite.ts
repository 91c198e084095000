import { describe, expect, test } from "vitest";
import { aQuestion, aRun, answered } from "../builders.ts";
import { eachWithStore, keep, keepRun, type Open, type Opened } from "./opened.ts";

const TAKEN = { ok: false, why: "taken" };

export function uniqueSuite(open: Open): void {
  describe("a name that only one may have", () => {
    const at = eachWithStore(open);
    questionNames(at);
    runNames(at);
    otherNames(at);
  });
}

function questionNames(at: Opened): void {
  test("an ask key names one question of its run", async () => {
    const [run, elsewhere] = [await keepRun(at.store), await keepRun(at.store)];
    const first = answered(aQuestion({ runId: run.id, key: "call 1" }));
    await keep(at.store, { questions: [first] });
    expect(await at.store.commit({ questions: [aQuestion({ runId: run.id, key: "call 1" })] })).toEqual(TAKEN);
    await keep(at.store, { questions: [aQuestion({ runId: elsewhere.id, key: "call 1" })] });
    expect(await at.store.findQuestionByKey(run.id, "call 1")).toMatchObject({ id: first.id });
  });

  test("of many asks with one key from two stores one is kept", async () => {
    const run = await keepRun(at.store);
    const other = await at.another();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? other : at.store).commit({ questions: [aQuestion({ runId: run.id, key: "call 1" })] }),
      ),
    );
    expect(results.filter((result) => result.ok)).toHaveLength(1);
    expect(results.filter((result) => !result.ok)).toEqual(Array.from({ length: 19 }, () => TAKEN));
  });

  test("a run has one pending question", async () => {
    const run = await keepRun(at.store);
    const first = aQuestion({ runId: run.id });
    await keep(at.store, { questions: [first] });
    expect(await at.store.commit({ questions: [aQuestion({ runId: run.id })] })).toEqual(TAKEN);
    await keep(at.store, { questions: [{ ...answered(first), version: 1 }] });
    await keep(at.store, { questions: [aQuestion({ runId: run.id })] });
  });

  test("a commit may close a question and ask the next", async () => {
    const run = await keepRun(at.store);
    const [first, next] = [aQuestion({ runId: run.id }), aQuestion({ runId: run.id })];
    await keep(at.store, { questions: [first] });
    await keep(at.store, { questions: [next, { ...answered(first), version: 1 }] });
    expect(await at.store.findQuestion(next.id)).toMatchObject({ status: "pending" });
    expect(await at.store.findQuestion(first.id)).toMatchObject({ status: "answered" });
  });
}

function runNames(at: Opened): void {
  test("a session is of one run on its host and agent", async () => {
    const run = await keepRun(at.store, { session: "s1" });
    expect(await at.store.commit({ runs: [aRun({ session: "s1" })] })).toEqual(TAKEN);
    await keepRun(at.store, { session: "s1", host: "there" });
    await keepRun(at.store, { session: "s1", agent: "codex" });
    const nameless = await keepRun(at.store);
    await keepRun(at.store);
    expect(await at.store.commit({ runs: [{ ...nameless, session: "s1" }] })).toEqual(TAKEN);
    await keep(at.store, { runs: [{ ...run, session: "s2" }] });
    await keep(at.store, { runs: [{ ...nameless, session: "s1" }] });
  });

  test("runs made by two stores at once have numbers of their own, which they keep", async () => {
    const other = await at.another();
    const runs = Array.from({ length: 30 }, () => aRun());
    const numbers = await Promise.all(
      runs.map(async (run, index) => (await keep(index % 2 ? other : at.store, { runs: [run] })).numbers.get(run.id)),
    );
    expect(new Set(numbers).size).toBe(30);
    expect(numbers.every((number) => Number.isInteger(number) && (number ?? 0) > 0)).toBe(true);
    const read = await at.store.findRun(runs[3]!.id);
    expect(read?.number).toBe(numbers[3]);
    const { numbers: none } = await keep(at.store, { runs: [{ ...read!, number: 0, status: "completed" }] });
    expect(none.size).toBe(0);
    expect((await at.store.findRun(runs[3]!.id))?.number).toBe(numbers[3]);
  });
}

function otherNames(at: Opened): void {
  test("a new row is refused where there is one with its id", async () => {
    const run = await keepRun(at.store);
    const question = answered(aQuestion({ runId: run.id }));
    const entry = { kind: "inbox", id: "comment 5", version: 0, body: {} } as const;
    await keep(at.store, { questions: [question], entries: [entry] });
    expect(await at.store.commit({ runs: [{ ...run, version: 0 }] })).toEqual(TAKEN);
    expect(await at.store.commit({ questions: [question] })).toEqual(TAKEN);
    expect(await at.store.commit({ entries: [entry] })).toEqual(TAKEN);
    await keep(at.store, { entries: [{ ...entry, kind: "token" }] });
  });

  test("entries are guarded by their version and listed by what they belong to", async () => {
    const entry = { kind: "delivery", id: "d1", parent: "q_1", version: 0, body: { state: "sent" } } as const;
    await keep(at.store, { entries: [entry, { ...entry, id: "d0" }, { ...entry, id: "d2", parent: undefined }] });
    await keep(at.store, { entries: [{ ...entry, version: 1, body: { state: "edited", id: 7 } }] });
    expect(await at.store.commit({ entries: [{ ...entry, version: 1 }] })).toEqual({ ok: false, why: "moved" });
    expect((await at.store.listEntries("delivery")).map(({ id }) => id)).toEqual(["d0", "d1", "d2"]);
    expect(await at.store.listEntries("delivery", "q_1")).toEqual([
      { ...entry, id: "d0", version: 1 },
      { ...entry, version: 2, body: { state: "edited", id: 7 } },
    ]);
    expect(await at.store.listEntries("person")).toEqual([]);
  });

  test("a seal's place is taken once", async () => {
    const seal = { n: 1, hash: "h1", body: "heads" };
    await keep(at.store, { seals: [seal] });
    expect(await at.store.commit({ seals: [{ ...seal, hash: "h2" }] })).toEqual(TAKEN);
    await keep(at.store, { seals: [{ ...seal, n: 2 }] });
    expect(await at.store.listSeals(0, 10)).toEqual([seal, { ...seal, n: 2 }]);
    expect(await at.store.listSeals(1, 10)).toEqual([{ ...seal, n: 2 }]);
    expect(await at.store.listSeals(0, 1)).toEqual([seal]);
  });
}
