import { describe, expect, test } from "vitest";
import type { QuestionId } from "../../src/core/id.ts";
import { aQuestion, anEvent, answered } from "../builders.ts";
import { titleWords } from "../../src/core/answer/similar.ts";
import type { Store } from "../../src/store/store.ts";
import { eachWithStore, keep, keepRun, type Open, type Opened } from "./opened.ts";

export function wordSuite(open: Open): void {
  describe("words", () => {
    const at = eachWithStore(open);
    finding(at);
    comparing(at);
  });
}

/** Stores an asked question with its event. */
async function keepAsked(store: Store, title: string, over: { name?: string; repo?: string } = {}) {
  const run = await keepRun(store, over);
  const question = aQuestion({ runId: run.id, title });
  const asked = anEvent({ type: "question.asked", runId: run.id, questionId: question.id });
  await keep(store, { questions: [question], events: [asked] });
  return { ...question, version: 1 };
}

async function keepAnswered(store: Store, title: string): Promise<QuestionId> {
  const question = await keepAsked(store, title);
  const closed = anEvent({ type: "question.answered", runId: question.runId, questionId: question.id });
  await keep(store, { questions: [answered(question)], events: [closed] });
  return question.id;
}

async function indexAll(store: Store): Promise<void> {
  await expect.poll(async () => store.indexWords(2), { timeout: 10_000, interval: 1 }).toBe(0);
}

function finding(at: Opened): void {
  const find = async (text: string, status?: "pending" | "answered"): Promise<string[]> => {
    const filter = { order: "newest", limit: 10, find: text } as const;
    return (await at.store.listQuestions({ ...filter, ...(status && { status }) })).map(({ title }) => title);
  };

  test("are found in any order and case, without accents, by their beginnings", async () => {
    await keepAsked(at.store, "Welcher Schlüssel für die Nutzer-Tabelle?");
    await keepAsked(at.store, "Redis or Memcached for the cache?", { name: "add-caching", repo: "acme/api-7" });
    await keepAsked(at.store, "Which cache for the key store?");
    await indexAll(at.store);
    expect(await find("CACHE key")).toEqual(["Which cache for the key store?"]);
    expect(await find("cach")).toEqual(["Which cache for the key store?", "Redis or Memcached for the cache?"]);
    expect(await find("schlussel")).toEqual(await find("Schlüss"));
    expect(await find("schlussel")).toHaveLength(1);
    expect(await find("acme/api-7")).toEqual(["Redis or Memcached for the cache?"]);
    expect(await find("add-cach")).toEqual(["Redis or Memcached for the cache?"]);
    expect(await find("ache")).toEqual([]);
    expect(await find(" \"'*:&|!() ")).toEqual([]);
  });

  test("are found among those of one state, page by page", async () => {
    const old = await keepAnswered(at.store, "Cache one?");
    await keepAsked(at.store, "Cache two?");
    await keepAnswered(at.store, "Cache three?");
    await indexAll(at.store);
    expect(await find("cache", "answered")).toEqual(["Cache three?", "Cache one?"]);
    expect(await find("cache", "pending")).toEqual(["Cache two?"]);
    const [first] = await at.store.listQuestions({ order: "newest", limit: 1, find: "cache" });
    const rest = await at.store.listQuestions({ order: "newest", limit: 5, find: "cache", after: first!.id });
    expect(rest.map(({ title }) => title)).toEqual(["Cache two?", "Cache one?"]);
    expect(rest.at(-1)?.id).toBe(old);
  });

  test("of another process are taken in once, whoever does it", async () => {
    const other = await at.another();
    await keepAsked(at.store, "Which colour?");
    await keepAsked(other, "Which colour, again?");
    await Promise.all([at.store.indexWords(10), other.indexWords(10)]);
    await indexAll(at.store);
    expect(await find("colour")).toHaveLength(2);
    expect(await other.indexWords(10)).toBe(0);
  });
}

function comparing(at: Opened): void {
  test("of answered questions are looked up one by one, the newest first", async () => {
    const old = await keepAnswered(at.store, "Redis for caching?");
    await keepAsked(at.store, "Redis for queues?");
    const young = await keepAnswered(at.store, "Redis again?");
    await indexAll(at.store);
    const [redis = ""] = titleWords("redis");
    expect(await at.store.findAnswered([redis, "cach", "nothing"], 5)).toEqual([[young, old], [old], []]);
    expect(await at.store.findAnswered([redis], 1)).toEqual([[young]]);
    expect(await at.store.findAnswered([], 5)).toEqual([]);
  });
}
