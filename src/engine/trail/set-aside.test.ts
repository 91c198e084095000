import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import pg from "pg";
import { engineOn } from "../../app.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { type Ids, idsFrom } from "../../core/id.ts";
import { instant } from "../../core/instant.ts";
import { openDatabase } from "../../sqlite.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { archiveUnsealed, fillStore } from "../../../test/proof/tamper-fill.ts";
import { ROOMY, Scene } from "../../../test/scene.ts";
import { type } from "../../../test/typed.ts";
import { exportStore } from "./export.ts";
import { checkExport, importLines } from "./import.ts";
import { listDamagedRows, setRowsAside } from "./set-aside.ts";
import { findLostRows } from "./lost-row.ts";
import { compareRows, verify } from "./verify.ts";

const directory = mkdtempSync(join(tmpdir(), "askd-damaged-row-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const ids: Ids = idsFrom(Date.now, (count) => crypto.getRandomValues(new Uint8Array(count)));

/** Makes a filled store, damages it behind its back and opens it; before that, all that may be is archived if wanted. */
type OpenDamaged = (damage: { sql: string; archive?: boolean }) => Promise<Store>;
const damaged: Record<string, OpenDamaged> = {};

beforeAll(async () => {
  const file = join(directory, "filled.db");
  const filled = await openSqliteStore(file);
  await fillStore(filled);
  await filled.close();
  damaged["SQLite"] = async ({ sql, archive = false }) => {
    const copy = join(directory, `${crypto.randomUUID()}.db`);
    copyFileSync(file, copy);
    if (archive) {
      const store = await openSqliteStore(copy);
      await archiveUnsealed(store);
      await store.close();
    }
    const database = openDatabase(copy);
    database.exec(`pragma foreign_keys = off; ${sql}`);
    database.close();
    return openSqliteStore(copy);
  };
  const url = await createDatabase("damaged_row");
  const lines = await exported(await openSqliteStore(file));
  damaged["PostgreSQL"] = async ({ sql, archive = false }) => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query("drop schema public cascade; create schema public");
    await (await openPostgres({ url })).close();
    const store = await openPostgres({ url });
    await importLines(store, each(lines), SYSTEM);
    // A transaction of any other database of the server keeps lines out of the archive until it ends.
    const archiveSome = async () => {
      await archiveUnsealed(store);
      return (await client.query("select from archive")).rows.length > 1;
    };
    if (archive) await vi.waitUntil(archiveSome, { timeout: 30_000 });
    await client.query(sql);
    await client.end();
    return store;
  };
});

const first = (table: string, where: string, key = "id") =>
  `${table} set body = '{"id": "broken' where ${key} in (select ${key} from ${table} where ${where} order by ${key} limit 1)`;

/** One row each, with a text that is not JSON. */
const DAMAGES: Array<[what: string, sql: string, isMendable: boolean]> = [
  ["pending question", `update ${first("question", "status = 'pending'")}`, true],
  ["answered question", `update ${first("question", "status = 'answered'")}`, true],
  ["run that waits", `update ${first("run", "status = 'awaiting_input'")}`, true],
  ["text", `update ${first("content", "1 = 1", "hash")}`, true],
  ["timer", `update ${first("job", "kind in ('expire', 'remind')", "key")}`, true],
  ["person", "update entry set body = 'x' where kind = 'person' and id = 'lena'", true],
  ["token", `update ${first("entry", "kind = 'token'")} and kind = 'token'`, true],
  ["delivery", `update ${first("entry", "kind = 'delivery'")} and kind = 'delivery'`, true],
  ["line of the trail", "update event set body = '{' where n = 2 and run_id = (select max(run_id) from event)", false],
];

const CHANGED = "it is not what its trail says was written";

/** Each takes a second there, and the dialects differ little. */
const IN_POSTGRES = ["pending question", "text"];
const CASES = [
  ...DAMAGES.map((damage) => ["SQLite", ...damage] as const),
  ...DAMAGES.filter(([what]) => IN_POSTGRES.includes(what)).map((damage) => ["PostgreSQL", ...damage] as const),
];

describe("a row that cannot be read", () => {
  test.each(CASES)(
    "in %s, a %s, is left out and named; everything else works, and it can be set aside",
    async (name, _what, sql, isMendable) => {
      const store = await damaged[name]!({ sql });
      try {
        await expectUse(store);
        const found = await listDamagedRows(store);
        expect(found).toHaveLength(1);
        const lines = await exported(store);
        const text = JSON.stringify(found[0]!.body);
        expect(lines.some((line) => line.includes(text)) || found[0]!.kind === "token").toBe(true);
        await checkExport(each(lines));
        const done = await setRowsAside(store, found, { now: await store.now(), by: SYSTEM, ids, rules: ROOMY });
        expect(done).toHaveLength(isMendable ? 1 : 0);
        if (!isMendable) return;
        expect(await listDamagedRows(store)).toEqual([]);
        expect((await verify(store)).problems).toEqual([]);
        const copies = (await store.listEntries("quarantine")).map(({ body }) => body["text"]);
        expect(copies).toContain(found[0]!.body);
        const moved = new MemoryStore(() => instant(Date.now()));
        const { conflicts } = await importLines(moved, each(await exported(store)), SYSTEM);
        expect(conflicts).toEqual([]);
        expect((await verify(moved)).problems).toEqual([]);
        const copy = (await store.listEntries("quarantine")).find(({ body }) => body["text"] === found[0]!.body);
        await store.commit({ entries: [{ ...copy!, body: { ...copy!.body, text: "something else" } }] });
        expect((await verify(store)).problems).toEqual([`quarantine ${copy!.id}: ${CHANGED}`]);
      } finally {
        await store.close();
      }
    },
  );
});

const LOSSES = [
  ["run", "delete from run where id = (select min(id) from run where status = 'awaiting_input')", "run"],
  ["question", "delete from question where id = (select min(id) from question where status = 'pending')", undefined],
  ["content", "delete from content where hash = (select max(hash) from content)", "text"],
] as const;

describe("a row that is gone", () => {
  const cases = ["SQLite", "PostgreSQL"].flatMap((name) => LOSSES.map((loss) => [name, ...loss] as const));
  test.each(cases)(
    "in %s, of the table %s, is left out; everything else works, and it is put back",
    async (name, table, sql, named) => {
      const store = await damaged[name]!({ sql });
      try {
        await expectUse(store);
        // A question that is gone is missed by nobody but the trail.
        if (named) expect(store.listUnreadable()).toEqual([expect.stringContaining(`${named} `)]);
        const flaws = await compareRows(store, AbortSignal.timeout(60_000));
        const lost = await store.readSnapshot((snapshot) => findLostRows(snapshot, flaws));
        expect(lost.map((row) => row.table)).toEqual([table]);
        expect(await setRowsAside(store, lost, { now: await store.now(), by: SYSTEM, ids, rules: ROOMY })).toEqual(
          lost,
        );
        expect((await verify(store)).problems).toEqual([]);
        const moved = new MemoryStore(() => instant(Date.now()));
        expect((await importLines(moved, each(await exported(store)), SYSTEM)).conflicts).toEqual([]);
        expect((await verify(moved)).problems).toEqual([]);
      } finally {
        await store.close();
      }
    },
  );
});

/** A page with the text of a question. */
const POINTED = "(select min(cast(substr(body, 2) as integer)) from question where body like '@%')";

describe("a page of the archive that cannot be read", () => {
  const bytes: Record<string, [cut: string, swapped: string]> = {
    SQLite: [
      `update archive set body = x'01ff' where last = ${POINTED}`,
      `update archive set body = (select body from archive order by last desc limit 1) where last = ${POINTED}`,
    ],
    PostgreSQL: [
      `update archive set body = '\\x01ff' where page = ${POINTED}`,
      `update archive set body = (select body from archive order by page desc limit 1) where page = ${POINTED}`,
    ],
  };
  const cases = Object.entries(bytes).flatMap(([name, [cut, swapped]]) => [
    [name, "cut", cut] as const,
    [name, "swapped", swapped] as const,
  ]);

  test.each(cases)("in %s, %s, loses only its own rows, which can be set aside", async (name, _how, sql) => {
    const store = await damaged[name]!({ archive: true, sql });
    try {
      await expectUse(store);
      const found = await listDamagedRows(store);
      const pages = found.filter(({ table }) => table === "archive");
      expect(pages).toEqual([expect.objectContaining({ name: expect.stringMatching(/^page \d+ of the archive$/) })]);
      const rows = found.filter(({ table }) => table !== "archive");
      expect(rows.map(({ table }) => table)).toContain("question");
      expect(store.listUnreadable()).toContain(pages[0]!.name);
      const verified = await verify(store);
      expect(verified.problems[0]).toContain(pages[0]!.name);
      expect(verified.runs).toBeGreaterThan(rows.length);

      const lines = await exported(store);
      expect(lines.filter((line) => line.includes(pages[0]!.body))).toHaveLength(1);
      await checkExport(each(lines));
      const before = new MemoryStore(() => instant(Date.now()));
      const taken = await importLines(before, each(lines), SYSTEM);
      expect(taken.runs).toBeGreaterThan(0);
      expect(taken.conflicts.join("\n")).toContain(pages[0]!.name);
      expect((await verify(before)).problems).toEqual([]);

      const done = await setRowsAside(store, found, { now: await store.now(), by: SYSTEM, ids, rules: ROOMY });
      expect(done).toHaveLength(rows.length);
      // The page stays: nothing else proves what it said.
      expect((await listDamagedRows(store)).map(({ table }) => table)).toEqual(["archive"]);
      await expectUse(store);
      await checkExport(each(await exported(store)));
    } finally {
      await store.close();
    }
  });
});

/** Looks at everything as people do; nothing of it fails because of one row. */
async function expectUse(store: Store): Promise<void> {
  const kept = overriding(store, { close: () => Promise.resolve() });
  const scene = new Scene({ store: () => kept });
  for (const argv of [
    ["status"],
    ["list"],
    ["list", "--state", "answered"],
    ["runs", "list"],
    ["tree"],
    ["audit"],
    ["stats"],
  ]) {
    const openEngine = () => Promise.resolve(engineOn(kept, { rules: ROOMY }));
    const typed = await type(scene, argv, { openEngine, nowMs: Date.now, env: { ASKD_NO_SERVICE: "1" } });
    expect(`${argv.join(" ")}: ${typed.stderr}`).not.toContain("error:");
  }
  const engine = engineOn(kept, { rules: ROOMY });
  await engine.doDue();
  const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: 100 });
  expect((await engine.readMany(pending.map(({ id }) => id))).length).toBeGreaterThan(2);
  for await (const text of each(await exported(store))) JSON.parse(text);
}

async function exported(store: Store): Promise<string[]> {
  const lines: string[] = [];
  await exportStore(store, { version: "1", hasSecrets: true }, async (text) => void lines.push(text));
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
