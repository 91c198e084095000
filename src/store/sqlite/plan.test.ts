import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { firstQuestionId } from "../../core/id.ts";
import { type Database, type Statement, openDatabase } from "../../sqlite.ts";
import { Connection } from "./connection.ts";
import { keepRun } from "../../../test/store-suite/opened.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "../store.ts";

const directory = mkdtempSync(join(tmpdir(), "askd-plan-"));
const path = join(directory, "askd.db");
let store: Store;
let database: Database;

beforeAll(async () => {
  store = await openSqliteStore(path);
  database = openDatabase(path);
});
afterAll(async () => {
  await store.close();
  database.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The plans of all statements that a store prepares while something is done with it. */
async function plansOf(work: (store: Store) => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const prepare = Connection.prototype.prepare;
  Connection.prototype.prepare = function watched<Row>(this: Connection, sql: string): Statement<Row> {
    seen.push(sql);
    return prepare.call(this, sql) as Statement<Row>; // the caller says what its rows are
  };
  const fresh = await openSqliteStore(path);
  try {
    await work(fresh);
  } finally {
    Connection.prototype.prepare = prepare;
    await fresh.close();
  }
  return seen
    .filter((sql) => /^(select|with)/.test(sql) && / (question|run|event|entry|content)\b/.test(sql))
    .flatMap((sql) => database.prepare<{ detail: string }>(`explain query plan ${sql}`).all())
    .map(({ detail }) => detail);
}

test("no list of questions or runs goes through all of them", async () => {
  const run = await keepRun(store, {});
  const page = { order: "newest", limit: 50 } as const;
  const plans = await plansOf(async (fresh) => {
    for (const status of ["pending", "timeout", "cancelled"] as const) await fresh.listQuestions({ ...page, status });
    await fresh.listQuestions({ ...page, status: "pending", find: "cache" });
    await fresh.listQuestions({ ...page, isClosed: true, find: "cache key" });
    await fresh.listQuestions({ ...page, runId: run.id });
    await fresh.findAnswered(["cache"], 10);
    await fresh.indexWords(10);
    await fresh.readQuestions([firstQuestionId(1)]);
    await fresh.readRuns([run.id]);
    await fresh.readOrigins([run.id]);
    await fresh.readContents(["hash"]);
    await fresh.listRuns({ ...page, statuses: ["running", "failed"] });
    await fresh.listRuns({ ...page, parentId: run.id });
    await fresh.readTrailPage({ limit: 50 });
    await fresh.readTrailPage({ limit: 50, runId: run.id });
    await fresh.listEntries("person", undefined, { limit: 10, after: "a" });
    await fresh.readEntries("usage", [run.id]);
    await fresh.countQuestions("pending");
  });
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter((detail) => /^SCAN (question|run|event|entry|content)\b/.test(detail))).toEqual([]);
});
