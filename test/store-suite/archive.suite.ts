import { describe, expect, test } from "vitest";
import type { Changes } from "../../src/core/changes.ts";
import type { QuestionId, RunId } from "../../src/core/id.ts";
import { later } from "../../src/core/instant.ts";
import { contentName } from "../../src/core/question/content.ts";
import type { Store } from "../../src/store/store.ts";
import { ADA, NOON, aQuestion, aRun, anEvent, answered } from "../builders.ts";
import { eachWithStore, keep, type Open, type Opened } from "./opened.ts";

const RUNS = 4;
const LINES = 6;

interface Kept {
  runId: RunId;
  id: QuestionId;
  content: string;
}

/** `moves` is how many of these lines go into the archive: none in memory, which has none. */
export function archiveSuite(open: Open, { moves }: { moves: number }): void {
  describe("the archive", () => {
    const at = eachWithStore(open);
    reading(at, moves);
    changing(at);
  });
}

/** Stores runs that asked, were answered and ended, and one that still waits. */
async function keepEnded(store: Store): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (let index = 0; index <= RUNS; index += 1) {
    const run = aRun({ name: `cache-${index}`, externalId: `issue-${index}`, session: `s${index}` });
    const question = aQuestion({ runId: run.id, title: `Which cache for page ${index}?` });
    const content = contentName(question.id, "c".repeat(64));
    const text = {
      items: [
        { id: "1", text: `Which \u{1f600} cache\u2028 ${index}?`, options: [], multiple: false, allowText: true },
      ],
    };
    const name = { runId: run.id, questionId: question.id };
    await keep(store, {
      runs: [run],
      questions: [{ ...question, content }],
      contents: [{ hash: content, content: text }],
      events: [anEvent({ runId: run.id, type: "run.started" }), anEvent(name)],
    });
    kept.push({ runId: run.id, id: question.id, content });
    if (index === RUNS) break;
    const closing: Changes = {
      runs: [{ ...run, version: 1, status: "completed", endedAt: NOON }],
      questions: [answered({ ...question, content, version: 1 })],
      events: [
        anEvent({ ...name, type: "question.answered", to: "answered" }),
        anEvent({ runId: run.id, type: "run.completed" }),
      ],
    };
    await keep(store, closing);
  }
  await expect.poll(() => store.readFeed("", 100), { timeout: 10_000 }).toHaveLength(4 * RUNS + 2);
  await expect.poll(() => store.indexWords(100), { timeout: 10_000, interval: 1 }).toBe(0);
  return kept;
}

/** Archives everything that may be, and returns how many lines that were. */
async function archiveAll(store: Store, olderThan = later(NOON, 1)): Promise<number> {
  let lines = 0;
  for (;;) {
    const moved = await store.archive({ upTo: await store.findFeedEnd(), olderThan, lines: LINES });
    lines += moved;
    if (moved === 0) return lines;
  }
}

/** Everything that can be read of these runs. */
async function readAll(store: Store, kept: readonly Kept[]): Promise<unknown> {
  const runIds = kept.map(({ runId }) => runId);
  const ids = kept.map(({ id }) => id);
  const feed = await store.readFeed("", 100);
  const pages = await Promise.all(
    feed.flatMap(({ cursor }) => [store.readFeed(cursor, 5), store.readTrailPage({ before: cursor, limit: 5 })]),
  );
  return {
    feed,
    pages,
    end: await store.findFeedEnd(),
    back: await store.readTrailPage({ limit: 100 }),
    backOf: await Promise.all(runIds.map((runId) => store.readTrailPage({ runId, limit: 3 }))),
    chains: await Promise.all(runIds.map((runId) => store.readChain(runId))),
    runs: await Promise.all(runIds.map((id) => store.findRun(id))),
    manyRuns: byId(await store.readRuns(runIds)),
    origins: byId(await store.readOrigins(runIds)),
    questions: await Promise.all(ids.map((id) => store.findQuestion(id))),
    manyQuestions: byId(await store.readQuestions(ids)),
    byKey: await Promise.all(kept.map(({ runId, id }) => store.findQuestionByKey(runId, `key of ${id}`))),
    contents: await Promise.all(kept.map(({ content }) => store.findContent(content))),
    manyContents: await store.readContents(kept.map(({ content }) => content)),
    listed: await store.listRuns({ order: "newest", limit: 10 }),
    completed: await store.listRuns({ statuses: ["completed"], order: "oldest", limit: 3 }),
    all: await store.listQuestions({ order: "newest", limit: 10 }),
    closed: await store.listQuestions({ status: "answered", order: "oldest", limit: 3 }),
    found: await store.listQuestions({ find: "cache page", order: "newest", limit: 10 }),
    answered: await store.findAnswered(["cache"], 10),
    counts: await Promise.all([store.countQuestions("answered"), store.countQuestions("pending")]),
    named: await store.lookUp({ by: "name", text: "cache-1" }, 5),
    short: await store.lookUp({ by: "short", text: ids[0]?.slice(-8) ?? "" }, 5),
    snapshot: await store.readSnapshot(async (snapshot) => ({
      runs: await snapshot.listRuns("", 100),
      questions: await snapshot.listQuestions(undefined, 100),
      lines: await snapshot.listLines(undefined, 100),
      hashes: await snapshot.readFeedHashes("", feed.at(-1)?.cursor ?? ""),
      contents: await snapshot.readContents(kept.map(({ content }) => content)),
      heads: await snapshot.readLines(runIds.map((runId) => ({ runId, n: 1 }))),
    })),
  };
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function reading(at: Opened, moves: number): void {
  test("is read like the rows that went into it, here and in another process", async () => {
    const kept = await keepEnded(at.store);
    const before = await readAll(at.store, kept);
    expect(await archiveAll(at.store)).toBe(moves); // of 18 lines the last one stays, so the last page is not full
    expect(await readAll(at.store, kept)).toEqual(before);
    expect(await readAll(await at.another(), kept)).toEqual(before);
  });

  test("takes only whole pages of lines that are old enough and within the limit", async () => {
    await keepEnded(at.store);
    const [first] = await at.store.readFeed("", 1);
    expect(await archiveAll(at.store, NOON)).toBe(0);
    expect(await at.store.archive({ upTo: first?.cursor ?? "", olderThan: later(NOON, 1), lines: LINES })).toBe(0);
    expect(await at.store.archive({ upTo: await at.store.findFeedEnd(), olderThan: later(NOON, 1), lines: 100 })).toBe(
      0,
    );
  });

  test("takes no line whose words are not indexed yet", async () => {
    const run = aRun();
    await keep(at.store, { runs: [run], events: Array.from({ length: 9 }, () => anEvent({ runId: run.id })) });
    await expect.poll(() => at.store.readFeed("", 100), { timeout: 10_000 }).toHaveLength(9);
    expect(await archiveAll(at.store)).toBe(0);
  });
}

function changing(at: Opened): void {
  test("gives a run back that changes, with its chain and content, and takes it again", async () => {
    const kept = await keepEnded(at.store);
    await archiveAll(at.store);
    const other = await at.another();
    const [{ runId, id, content } = kept[0]!] = kept;
    const [run, question] = [await other.findRun(runId), await other.findQuestion(id)];
    const asked = await other.findContent(content);
    if (!run || question?.status !== "answered") throw new Error("The run is gone.");
    const amended = {
      ...question,
      amendments: [{ text: "rather 2", by: ADA, at: NOON, handover: { state: "owed" as const } }],
    };
    await keep(other, {
      runs: [{ ...run, status: "resuming" }],
      questions: [amended as typeof question],
      events: [anEvent({ runId, questionId: id, type: "question.amended", to: "answered", version: 3 })],
    });
    expect(await at.store.commit({ questions: [question] })).toMatchObject({ ok: false, why: "moved" });
    expect(await at.store.findRun(runId)).toMatchObject({ status: "resuming", version: 3, name: "cache-0" });
    expect(await at.store.findQuestion(id)).toMatchObject({ version: 3, amendments: [{ text: "rather 2" }] });
    expect(await at.store.findContent(content)).toEqual(asked);
    expect((await at.store.readChain(runId)).events.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5]);
    expect((await at.store.readTrailPage({ runId, limit: 9 })).map(({ n }) => n)).toEqual([5, 4, 3, 2, 1]);
    const ended = { ...run, version: 3, status: "completed" as const };
    const filler = Array.from({ length: 2 * LINES }, () => anEvent({ runId, type: "run.completed", to: "completed" }));
    await keep(at.store, { runs: [ended], events: filler });
    await expect.poll(() => at.store.readFeed("", 100), { timeout: 10_000 }).toHaveLength(19 + 2 * LINES);
    await expect.poll(() => at.store.indexWords(100), { timeout: 10_000, interval: 1 }).toBe(0);
    const before = await readAll(at.store, kept);
    await archiveAll(at.store);
    expect(await readAll(other, kept)).toEqual(before);
  });

  test("keeps names taken: a session of an archived run belongs to it", async () => {
    await keepEnded(at.store);
    await archiveAll(at.store);
    expect(await at.store.commit({ runs: [aRun({ session: "s0" })] })).toMatchObject({ ok: false, why: "taken" });
  });
}
