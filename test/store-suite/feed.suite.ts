import { describe, expect, test } from "vitest";
import { CHAIN_START, chainHash, type KeptEvent } from "../../src/core/trail/event.ts";
import { STORE_CHAIN } from "../../src/core/id.ts";
import type { Run } from "../../src/core/run/run.ts";
import { aQuestion, aRun, anEvent } from "../builders.ts";
import type { StoreChange, Store } from "../../src/store/store.ts";
import { dueJob } from "./job.suite.ts";
import { eachWithStore, keep, keepRun, type Open, type Opened } from "./opened.ts";

export function feedSuite(open: Open): void {
  describe("the feed", () => {
    const at = eachWithStore(open);
    following(at);
    chaining(at);
    telling(at);
  });
}

/** Commits that many events of a run one after another, and now and then two at once. */
async function report(store: Store, run: Run, count: number): Promise<void> {
  for (let index = 0; index < count; index += 2) {
    const events = [index, index + 1].map((step) => anEvent({ runId: run.id, detail: { step } }));
    await keep(store, { events });
  }
}

async function readAll(store: Store, limit: number): Promise<KeptEvent[]> {
  const events: KeptEvent[] = [];
  for (;;) {
    const page = await store.readFeed(events.at(-1)?.cursor ?? "0", limit);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function following(at: Opened): void {
  test("starts with its first event where the cursor is empty", async () => {
    const run = await keepRun(at.store);
    await report(at.store, run, 4);
    // An event is shown as soon as no older transaction is open, of whomever.
    await expect.poll(() => at.store.readFeed("", 10), { timeout: 10_000 }).toHaveLength(4);
    expect(await at.store.readFeed("", 10)).toEqual(await at.store.readFeed("0", 10));
  });

  test("has an end from which a reader goes on with what comes next", async () => {
    const run = await keepRun(at.store);
    await report(at.store, run, 4);
    await expect.poll(() => at.store.readFeed("", 10), { timeout: 10_000 }).toHaveLength(4);
    const end = await at.store.findFeedEnd();
    expect(end).toBe((await readAll(at.store, 100)).at(-1)?.cursor);
    await report(at.store, run, 2);
    await expect.poll(() => at.store.readFeed(end, 10), { timeout: 10_000 }).toHaveLength(2);
    expect((await at.store.readFeed(end, 10)).map(({ n }) => n)).toEqual([5, 6]);
  });

  test("is read backwards, page by page, of everything or of one run", async () => {
    const [one, other] = [await keepRun(at.store), await keepRun(at.store)];
    for (const run of [one, other, one]) await report(at.store, run, 4);
    await expect.poll(() => at.store.readFeed("", 20), { timeout: 10_000 }).toHaveLength(12);
    const all = (await readAll(at.store, 20)).toReversed();
    expect(await at.store.readTrailPage({ limit: 20 })).toEqual(all);
    expect(await at.store.readTrailPage({ limit: 5 })).toEqual(all.slice(0, 5));
    expect(await at.store.readTrailPage({ before: all[4]?.cursor ?? "", limit: 5 })).toEqual(all.slice(5, 10));
    const own = all.filter(({ event }) => event.runId === one.id);
    expect(await at.store.readTrailPage({ runId: one.id, limit: 3 })).toEqual(own.slice(0, 3));
    expect(await at.store.readTrailPage({ runId: one.id, before: own[2]?.cursor ?? "", limit: 20 })).toEqual(
      own.slice(3),
    );
    expect(await at.store.readTrailPage({ limit: 0 })).toEqual([]);
  });

  test("shows a reader that follows it every event once, while many write", async () => {
    const other = await at.another();
    const runs = await Promise.all(Array.from({ length: 10 }, () => keepRun(at.store)));
    let isWriting = true;
    const writing = Promise.all(runs.map((run, index) => report(index % 2 ? other : at.store, run, 20))).finally(() => {
      isWriting = false;
    });
    const seen: KeptEvent[] = [];
    for (let isLast = false; !isLast;) {
      isLast = !isWriting;
      for (;;) {
        const page = await other.readFeed(seen.at(-1)?.cursor ?? "0", 7);
        if (page.length === 0) break;
        seen.push(...page);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect(seen).toHaveLength(200);
    expect(seen).toEqual(await readAll(at.store, 1000));
    for (const run of runs) {
      const own = seen.filter(({ event }) => event.runId === run.id);
      expect(own.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
      expect(own.map(({ event }) => event.detail?.step)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    }
  });
}

function chaining(at: Opened): void {
  test("binds every event of a run to those before it, whoever writes", async () => {
    const other = await at.another();
    const run = await keepRun(at.store);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        keep(index % 2 ? other : at.store, { events: [anEvent({ runId: run.id, detail: { index } })] }),
      ),
    );
    const { events, head } = await at.store.readChain(run.id);
    let hash = CHAIN_START;
    events.forEach((event, index) => {
      hash = chainHash(hash, event.body);
      expect(event).toMatchObject({ n: index + 1, hash });
      expect(JSON.parse(event.body)).toEqual(event.event);
    });
    expect(head).toEqual({ n: 40, hash });
    expect((await at.store.findRun(run.id))?.version).toBe(1);
  });

  test("a run's first events can come with the run, and its chain outlives its changes", async () => {
    const run = aRun();
    await keep(at.store, { runs: [run], events: [anEvent({ runId: run.id }), anEvent({ runId: run.id })] });
    await keep(at.store, { runs: [{ ...run, version: 1 }] });
    await keep(at.store, { runs: [{ ...run, version: 2 }], events: [anEvent({ runId: run.id })] });
    const { events, head } = await at.store.readChain(run.id);
    expect(events.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(head).toEqual({ n: 3, hash: events.at(-1)?.hash });
  });

  test("the store itself has a chain, which no list, search or look-up shows as a run", async () => {
    const other = await at.another();
    const run = await keepRun(at.store);
    const types = ["token.made", "person.added"] as const;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        keep(index % 2 ? other : at.store, {
          entries: [{ kind: "token", id: `t${index}`, version: 0, body: {} }],
          events: [anEvent({ type: types[index % 2], runId: STORE_CHAIN, detail: { index } })],
        }),
      ),
    );
    const { events, head } = await at.store.readChain(STORE_CHAIN);
    let hash = CHAIN_START;
    events.forEach((event, index) => {
      hash = chainHash(hash, event.body);
      expect(event).toMatchObject({ n: index + 1, hash });
    });
    expect(head).toEqual({ n: 20, hash });
    await expect.poll(() => at.store.readTrailPage({ runId: STORE_CHAIN, limit: 30 })).toHaveLength(20);
    const ids = (runs: Run[]): string[] => runs.map(({ id }) => id);
    for (const order of ["oldest", "newest"] as const) {
      expect(ids(await at.store.listRuns({ order, limit: 10 }))).toEqual([run.id]);
    }
    expect(await at.store.findRun(STORE_CHAIN)).toBeUndefined();
    expect(await at.store.readRuns([STORE_CHAIN])).toEqual([]);
    expect(await at.store.readOrigins([STORE_CHAIN])).toEqual([]);
    const nothing = { runs: [], questions: [] };
    expect(await at.store.lookUp({ by: "number", number: 0 }, 10)).toEqual(nothing);
    expect(await at.store.lookUp({ by: "name", text: "" }, 10)).toEqual(nothing);
    expect(await at.store.lookUp({ by: "short", text: "0000" }, 10)).toEqual(nothing);
  });

  test("an event of the store comes with its entry, or neither does", async () => {
    const entry = { kind: "token", id: "one", version: 0, body: {} } as const;
    const change = { entries: [entry], events: [anEvent({ type: "token.made", runId: STORE_CHAIN })] };
    await keep(at.store, change);
    expect(await at.store.commit(change)).toMatchObject({ ok: false });
    expect((await at.store.readChain(STORE_CHAIN)).events).toHaveLength(1);
  });

  test("a run without events has an empty chain", async () => {
    const run = await keepRun(at.store);
    expect(await at.store.readChain(run.id)).toEqual({ events: [], head: { n: 0, hash: CHAIN_START } });
  });
}

function telling(at: Opened): void {
  test("tells listeners of every store which questions a commit changed", async () => {
    const other = await at.another();
    const run = await keepRun(at.store);
    const question = aQuestion({ runId: run.id });
    const job = await dueJob(at.store, "expire", { inMs: 5000 });
    const waits = [at.store, other].map((store) => untilTold(store, question.id));
    const own: StoreChange[] = [];
    const stop = at.store.onChange((change) => own.push(change));
    const events = [anEvent({ runId: run.id, questionId: question.id })];
    await keep(at.store, {
      questions: [question],
      events,
      scheduled: [job, { ...job, key: "x", dueAt: run.createdAt }],
    });
    await Promise.all(waits);
    expect(own.find((change) => change.questions.has(question.id))?.dueAt).toBe(run.createdAt);
    stop();
    const told = own.length;
    await keep(at.store, { events });
    expect(own).toHaveLength(told);
  });
}

function untilTold(store: Store, questionId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.onChange((change) => {
      if (!change.all && !change.questions.has(questionId)) return;
      stop();
      resolve();
    });
  });
}
