import { copyFileSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aContent, aQuestion, aRun, anEvent, IDS } from "../../../test/builders.ts";
import { Refusal } from "../../core/refusal.ts";
import { HOUR_MS, instant } from "../../core/instant.ts";
import type { Store } from "../store.ts";
import { backUp } from "./backup.ts";
import { verify } from "../../engine/trail/verify.ts";
import { openDatabase } from "../../sqlite.ts";
import { openSqliteStore } from "./sqlite.ts";
import { keep } from "../../../test/store-suite/opened.ts";

const PAGE = 4096;
const directory = mkdtempSync(join(tmpdir(), "askd-damage-"));
const whole = join(directory, "whole.db");

beforeAll(async () => {
  const store = await openSqliteStore(whole);
  for (let count = 0; count < 40; count += 1) {
    const run = aRun();
    const contents = [{ hash: IDS.outcome(), content: aContent("x".repeat(500)) }];
    const question = aQuestion({ runId: run.id });
    const events = Array.from({ length: 5 }, () => anEvent({ runId: run.id, questionId: question.id }));
    await keep(store, { runs: [run], contents, questions: [question], events });
  }
  await store.indexWords(1000);
  await store.close();
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A copy of the store in which one page holds something else. */
function damagedCopy(page: number, bytes: Buffer, of = whole): string {
  const path = join(directory, `damaged-${page}.db`);
  copyFileSync(of, path);
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, (page - 1) * PAGE);
  closeSync(file);
  return path;
}

test.each([
  ["zeros", Buffer.alloc(PAGE)],
  ["noise", Buffer.alloc(PAGE, 0xee)],
])("any page that holds %s instead is found, by a quick look and by verifying", async (_, bytes) => {
  const pages = statSync(whole).size / PAGE;
  expect(pages).toBeGreaterThan(30);
  const missed: number[] = [];
  for (let page = 2; page <= pages; page += 1) {
    if (
      readFileSync(whole)
        .subarray((page - 1) * PAGE, page * PAGE)
        .equals(bytes)
    )
      continue;
    const found = await findIn(damagedCopy(page, bytes));
    if (!found.every(Boolean)) missed.push(page);
  }
  expect(missed).toEqual([]);
});

/** Whether a quick look, a whole one and verifying find damage; a store that refuses to be opened is found by all. */
async function findIn(path: string): Promise<boolean[]> {
  const store = await openSqliteStore(path).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "store_unusable" });
  });
  if (!store) return [true];
  try {
    const looks = [await store.findDamage("quick"), await store.findDamage("whole"), (await verify(store)).problems];
    return looks.map(({ length }) => length > 0);
  } finally {
    await store.close();
  }
}

test("a damaged page anywhere is reported as the damage of its file by everything that meets it", async () => {
  const archived = join(directory, "archived.db");
  copyFileSync(whole, archived);
  const store = await openSqliteStore(archived);
  expect(await store.archive({ upTo: "60", olderThan: instant(Date.now()), lines: 50 })).toBe(50);
  await store.close();
  const noise = Buffer.alloc(200, 0xee);
  const others = new Set<string>();
  for (let page = 2; page <= statSync(archived).size / PAGE; page += 1) {
    const path = damagedCopy(page, noise, archived);
    for (const error of await useAll(path)) {
      const isExplained = error instanceof Refusal && error.code === "store_unusable";
      if (!isExplained) others.add(`page ${page}: ${String(error)}`);
      if (error instanceof Error && "cause" in error && error.cause instanceof Error) {
        expect(error.message).toContain(path);
      }
    }
  }
  expect([...others]).toEqual([]);
});

/** The errors of a watch, of reads of all kinds, of a commit and of a backup. */
async function useAll(path: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  const attempt = async (body: () => unknown) => {
    try {
      await body();
    } catch (error) {
      errors.push(error);
    }
  };
  let opened: Store | undefined;
  await attempt(async () => (opened = await openSqliteStore(path)));
  const store = opened;
  if (store === undefined) return errors;
  const run = aRun();
  const olderThan = instant(Date.now() + HOUR_MS);
  const newest = { order: "newest", limit: 100 } as const;
  const actions = [
    () => store.onChange(() => undefined),
    () => store.listRuns(newest),
    () => store.listQuestions(newest),
    () => store.listQuestions({ status: "pending", ...newest }),
    () => store.listEntries("person"),
    () => store.readFeed("0", 1000),
    () => store.readTrailPage({ limit: 1000 }),
    () => store.listSeals(0, 10),
    () => store.listJobs(10),
    () => store.lookUp({ by: "number", number: 1 }, 10),
    () => store.findAnswered(["one"], 10),
    () => store.countQuestions("answered"),
    () => store.readSnapshot((snapshot) => snapshot.listLines(undefined, 1000)),
    () => store.readSnapshot((snapshot) => snapshot.listRuns("", 1000)),
    () => store.readSnapshot((snapshot) => snapshot.listContents("", 1000)),
    () =>
      store.commit({ runs: [run], questions: [aQuestion({ runId: run.id })], events: [anEvent({ runId: run.id })] }),
    () => store.indexWords(1000),
    () => store.archive({ upTo: "100", olderThan, lines: 50 }),
    () => store.close(),
    () => backUp(path, `${path}.copy`, { at: olderThan }),
  ];
  for (const action of actions) await attempt(action);
  return errors;
}

test("a whole store has no damage", async () => {
  const store = await openSqliteStore(whole);
  expect([await store.findDamage("quick"), await store.findDamage("whole")]).toEqual([[], []]);
  await store.close();
});

test("a row that is no longer what was written is told as damage when the store is verified", async () => {
  const path = join(directory, "row.db");
  copyFileSync(whole, path);
  const database = openDatabase(path);
  database.exec("update run set body = substr(body, 1, 30) where number = 7");
  database.close();
  const store = await openSqliteStore(path);
  expect((await verify(store)).problems).toContain("run #7: it is not what its trail says was written");
  await store.close();
});
