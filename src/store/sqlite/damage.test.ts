import { copyFileSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aContent, aQuestion, aRun, anEvent, IDS } from "../../../test/builders.ts";
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
function damagedCopy(page: number, bytes: Buffer): string {
  const path = join(directory, `damaged-${page}.db`);
  copyFileSync(whole, path);
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
