import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { openDatabase } from "../../sqlite.ts";
import { backUp } from "./backup.ts";
import { instant } from "../../core/instant.ts";
import { inspectSqlite } from "./inspection.ts";
import { MIGRATIONS, findSchema } from "./schema.ts";
import { openSqliteStore } from "./sqlite.ts";
import { keepRun } from "../../../test/store-suite/opened.ts";

let directory = "";
let path = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "askd-whose-"));
  path = join(directory, "askd.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Every way in which a store in a file is opened. */
const WAYS = [
  ["opening", () => openSqliteStore(path)],
  ["looking at", () => inspectSqlite({ file: path })],
  ["asking for the schema of", () => findSchema({ file: path })],
  ["backing up", () => backUp(path, join(directory, "copy.db"), { at: instant(0) })],
] as const;

function write(file: string, sql: string): void {
  const database = openDatabase(file);
  database.exec(sql);
  database.close();
}

const FOREIGN = {
  "one that another program wrote":
    "create table song (id integer primary key, name text); insert into song values (1, 'a')",
  "one that another program keeps a log for": "pragma journal_mode = wal; create table song (name text)",
  "one in which nothing was kept yet": "pragma user_version = 0; vacuum",
  "one with tables of our names":
    "create table meta (key text, value text); create table run (id text); create table job (id text)",
  "one that says whose it is": `pragma application_id = 252006674; ${MIGRATIONS[0]?.sql}`,
};

describe.each(WAYS)("%s a file", (_, open) => {
  test("that is empty is refused, and nothing is made of it", async () => {
    writeFileSync(path, "", { mode: 0o600 });
    await expect(open()).rejects.toMatchObject({
      code: "store_unusable",
      message: `${path} is empty; an askd store never is.`,
      hint: expect.stringContaining("docs/backup.md"),
    });
    expect(statSync(path).size).toBe(0);
  });

  test.each(Object.entries(FOREIGN))("that is not ours, %s, is refused and left as it is", async (_what, sql) => {
    // In a copy, so that this process has never had it open.
    const other = join(directory, "other.db");
    write(other, sql);
    copyFileSync(other, path);
    const before = readFileSync(path);
    await expect(open()).rejects.toMatchObject({
      code: "store_unusable",
      message: `${path} is not an askd store.`,
      hint: expect.stringContaining("--store"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    // Also when it is tried again by a process that has had it open.
    await expect(open()).rejects.toMatchObject({ message: `${path} is not an askd store.` });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([
    ["shorter than it says", (bytes: number) => bytes - 4096],
    ["cut within its first page", () => 60],
    ["cut to its first page", () => 4096],
  ])("that was cut off, %s, is refused", async (_what, left) => {
    const whole = join(directory, "whole.db");
    const store = await openSqliteStore(whole);
    await keepRun(store);
    await store.close();
    copyFileSync(whole, path);
    truncateSync(path, left(statSync(path).size));
    const size = statSync(path).size;
    await expect(open()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/is damaged|not an askd store/),
      hint: expect.any(String),
    });
    expect(statSync(path).size).toBe(size);
  });

  test("that is ours and has lost its tables is damaged, and gets no new ones", async () => {
    const whole = join(directory, "whole.db");
    await (await openSqliteStore(whole)).close();
    write(whole, "drop table question; pragma wal_checkpoint(truncate)");
    copyFileSync(whole, path);
    await expect(open()).rejects.toMatchObject({ code: "store_unusable", message: `${path} is damaged.` });
  });
});

describe("a new store", () => {
  test("says whose it is and leaves nothing beside it", async () => {
    const store = await openSqliteStore(path);
    await keepRun(store);
    await store.close();
    expect(readFileSync(path).toString("latin1", 68, 72)).toBe("askd");
    // The driver for older versions of Node closes a file some time later, and its log with it.
    const beside = readdirSync(directory).filter((name) => !/-(wal|shm)$/.test(name));
    expect(beside.toSorted()).toEqual(["askd.db", "askd.wake"]);
  });

  test("is made anew where one that made it died, whose rest is cleared away after a while", async () => {
    const left = [`${path}.1.new`, `${path}.1.new-wal`];
    for (const file of left) {
      writeFileSync(file, "half");
      utimesSync(file, 0, 0);
    }
    writeFileSync(`${path}.2.new`, "somebody makes one at this moment");
    await (await openSqliteStore(path)).close();
    expect(left.map((file) => existsSync(file))).toEqual([false, false]);
    expect(existsSync(`${path}.2.new`)).toBe(true);
  });

  test("is one, however many make it at once", async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => openSqliteStore(path)));
    await Promise.all(stores.map((store) => store.commit({ runs: [aRun()] })));
    expect(await stores[0]?.listRuns({ order: "oldest", limit: 10 })).toHaveLength(5);
    await Promise.all(stores.map((store) => store.close()));
  });
});

test("a store that was made before stores said whose they are is known by its tables, and says so from then on", async () => {
  const older = join(directory, "older.db");
  await (await openSqliteStore(older)).close();
  write(older, "pragma application_id = 0; pragma wal_checkpoint(truncate)");
  copyFileSync(older, path);
  const store = await openSqliteStore(path);
  await keepRun(store);
  await store.close();
  expect(readFileSync(path).toString("latin1", 68, 72)).toBe("askd");
});
