import { describe, expect, test } from "vitest";
import { hashContent } from "../../src/core/question/content.ts";
import { IDS, aContent, aJob, aQuestion, aRun, anEvent, answered } from "../builders.ts";
import { eachWithStore, keep, keepRun, type Open } from "./opened.ts";

export function commitSuite(open: Open): void {
  describe("a commit", () => {
    const at = eachWithStore(open);
    wholeOrNothing(at);
    guards(at);
    batches(at);
  });
}

function wholeOrNothing(at: ReturnType<typeof eachWithStore>): void {
  test("keeps everything a decision writes", async () => {
    const run = aRun();
    const question = aQuestion({ runId: run.id });
    const content = aContent();
    await keep(at.store, {
      runs: [run],
      questions: [question],
      contents: [{ hash: hashContent(content), content }],
      events: [anEvent({ runId: run.id, questionId: question.id })],
      scheduled: [aJob("expire", question)],
      entries: [{ kind: "person", id: "ada", version: 0, body: { name: "Ada" } }],
    });
    expect(await at.store.findQuestion(question.id)).toEqual({ ...question, version: 1 });
    expect(await at.store.findQuestionByKey(run.id, question.key)).toEqual({ ...question, version: 1 });
    expect(await at.store.findContent(question.content)).toEqual(content);
    expect(await at.store.findEntry("person", "ada")).toMatchObject({ version: 1, body: { name: "Ada" } });
    expect((await at.store.readFeed("0", 10)).map(({ event }) => event.questionId)).toEqual([question.id]);
    expect((await at.store.listJobs(10)).map((job) => job.key)).toEqual([`expire:${question.id}`]);
  });

  test("leaves nothing behind when it is refused", async () => {
    const run = await keepRun(at.store);
    const question = aQuestion({ runId: run.id });
    const refused = await at.store.commit({
      runs: [{ ...run, status: "failed" }],
      questions: [{ ...question, version: 7 }],
      contents: [{ hash: "h", content: aContent() }],
      entries: [{ kind: "inbox", id: "mail 1", version: 0, body: {} }],
      events: [anEvent({ runId: run.id })],
      scheduled: [aJob("remind", question)],
    });
    expect(refused).toEqual({ ok: false, why: "moved" });
    expect(await at.store.findRun(run.id)).toEqual(run);
    expect(await at.store.findQuestion(question.id)).toBeUndefined();
    expect(await at.store.findContent("h")).toBeUndefined();
    expect(await at.store.findEntry("inbox", "mail 1")).toBeUndefined();
    expect(await at.store.readFeed("0", 10)).toEqual([]);
    expect(await at.store.listJobs(10)).toEqual([]);
  });

  test("writes back fields that only a newer program knows, at any depth", async () => {
    const run = await keepRun(at.store, { hue: "blue", issue: { number: 4, milestone: "m1" } } as object);
    const read = await at.store.findRun(run.id);
    await keep(at.store, { runs: [{ ...read!, status: "completed" }] });
    const again = await at.store.findRun(run.id);
    expect(again).toMatchObject({
      hue: "blue",
      issue: { number: 4, milestone: "m1" },
      status: "completed",
      version: 2,
    });
  });

  test("keeps any text as it is", async () => {
    const title = `quote ' " \\, newline \n, astral 😀, combining e\u0301, rtl \u202e`;
    const run = await keepRun(at.store, { name: title });
    await keep(at.store, { questions: [aQuestion({ runId: run.id, title: title })] });
    const [question] = await at.store.listQuestions({ order: "newest", limit: 1 });
    expect(question?.title).toBe(title);
    expect((await at.store.lookUp({ by: "name", text: run.name }, 2)).runs).toEqual([run]);
    for (const name of ["NULL", 'a "quoted" {word}, and \\n', "bell \u0007 and \u0085"]) {
      const named = await keepRun(at.store, { name });
      expect((await at.store.lookUp({ by: "name", text: name }, 2)).runs).toEqual([named]);
    }
  });
}

function guards(at: ReturnType<typeof eachWithStore>): void {
  test("is refused when a row has moved, and the next one that read again goes through", async () => {
    const run = await keepRun(at.store);
    await keep(at.store, { runs: [{ ...run, status: "awaiting_input" }] });
    expect(await at.store.commit({ runs: [{ ...run, status: "failed" }] })).toEqual({ ok: false, why: "moved" });
    await keep(at.store, { runs: [{ ...run, version: 2, status: "resuming" }] });
    expect(await at.store.findRun(run.id)).toMatchObject({ status: "resuming", version: 3 });
  });

  test("is refused when a row it read is not there", async () => {
    expect(await at.store.commit({ runs: [aRun({ version: 1 })] })).toEqual({ ok: false, why: "moved" });
    const entry = { kind: "token", id: "t", version: 1, body: {} } as const;
    expect(await at.store.commit({ entries: [entry] })).toEqual({ ok: false, why: "moved" });
  });

  test("of many answers at once from two stores one wins", async () => {
    const run = await keepRun(at.store);
    const question = aQuestion({ runId: run.id });
    await keep(at.store, { questions: [question] });
    const other = await at.another();
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? other : at.store).commit({
          questions: [{ ...answered(question, `answer ${index}`), version: 1 }],
          events: [anEvent({ runId: run.id, questionId: question.id, type: "question.answered" })],
        }),
      ),
    );
    expect(results.filter((result) => result.ok)).toHaveLength(1);
    expect(results.filter((result) => !result.ok && result.why === "moved")).toHaveLength(39);
    expect(await at.store.readFeed("0", 10)).toHaveLength(1);
  });
}

function batches(at: ReturnType<typeof eachWithStore>): void {
  test("that is refused does not stop those that came in the same turn", async () => {
    const kept = await keepRun(at.store, { session: "s1" });
    const [first, last] = [aRun(), aRun()];
    const results = await Promise.all([
      at.store.commit({ runs: [first] }),
      at.store.commit({ runs: [{ ...kept, version: 9 }] }),
      at.store.commit({ runs: [aRun({ session: "s1" })] }),
      at.store.commit({ finished: [{ ...aJob("seal", { id: IDS.question(), runId: kept.id }), attempt: 1 }] }),
      at.store.commit({ runs: [last], events: [anEvent({ runId: last.id })] }),
    ]);
    expect(results.map((result) => (result.ok ? "ok" : result.why))).toEqual([
      "ok",
      "moved",
      "taken",
      "job_lost",
      "ok",
    ]);
    expect(await at.store.findRun(first.id)).toBeDefined();
    expect(await at.store.findRun(last.id)).toBeDefined();
  });

  test("that cannot be written at all is rejected alone", async () => {
    const [first, last] = [aRun(), aRun()];
    const results = await Promise.allSettled([
      at.store.commit({ runs: [first] }),
      at.store.commit({ events: [anEvent()] }),
      at.store.commit({ runs: [last] }),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await at.store.listRuns({ order: "oldest", limit: 5 })).toHaveLength(2);
    expect(await at.store.readFeed("0", 5)).toEqual([]);
  });

  test("on the same row as one before it in the same turn sees it", async () => {
    const run = aRun();
    const results = await Promise.all(
      [0, 1, 2, 3].map((version) => at.store.commit({ runs: [{ ...run, version, asked: version }] })),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(await at.store.findRun(run.id)).toMatchObject({ version: 4, asked: 3 });
  });

  test("on one of many rows waits for those before it, also for those that are on their way", async () => {
    for (let round = 0; round < 5; round += 1) {
      const runs = Array.from({ length: 24 }, () => aRun());
      const results = await Promise.all(
        [0, 1, 2, 3].flatMap((version) => runs.map((run) => at.store.commit({ runs: [{ ...run, version }] }))),
      );
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      const kept = await at.store.readRuns(runs.map(({ id }) => id));
      expect(kept.map(({ version }) => version)).toEqual(runs.map(() => 4));
    }
  });

  test("that only reports on a run keeps its line, however many come in one turn with changes of that run", async () => {
    const run = await keepRun(at.store);
    const report = () => at.store.commit({ events: [anEvent({ runId: run.id, type: "question.late_reply" })] });
    const change = (version: number) => at.store.commit({ runs: [{ ...run, version, asked: version }] });
    const many = Array.from({ length: 50 });
    const results = await Promise.all([...many.map(report), change(1), ...many.map(report), change(2), report()]);
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(await at.store.findRun(run.id)).toMatchObject({ version: 3, asked: 2 });
    const { events, head } = await at.store.readChain(run.id);
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
    expect(head).toEqual({ n: 101, hash: events.at(-1)?.hash });
  });

  test("that touches many runs is answered when another store goes the opposite way", async () => {
    const other = await at.another();
    const runs = await Promise.all(Array.from({ length: 40 }, () => keepRun(at.store)));
    const pairs = runs.map((run, index) => [run, runs[(index + 20) % 40]!]);
    const results = await Promise.all([
      ...pairs.map((pair) => at.store.commit({ runs: pair })),
      ...pairs.toReversed().map((pair) => other.commit({ runs: pair.toReversed() })),
    ]);
    const wins = results.filter((result) => result.ok).length;
    const after = await at.store.listRuns({ order: "oldest", limit: 100 });
    expect(after.reduce((sum, run) => sum + run.version - 1, 0)).toBe(2 * wins);
    expect(wins).toBe(20);
  });
}
