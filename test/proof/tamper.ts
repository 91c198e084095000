import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { verify } from "../../src/engine/trail/verify.ts";
import { openDatabase } from "../../src/sqlite.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { type Edit, type EditedRow, type Editor, listEdits } from "./tamper-edit.ts";
import { fillStore } from "./tamper-fill.ts";
import { listSchemaEdits } from "./tamper-schema.ts";

const TABLES = ["run", "question", "content", "entry", "event", "seal", "job", "archive"] as const;

const SOME = 8;

/** What became of the edits: those that the database did not take are not counted. */
export interface Tampered {
  edits: number;
  kinds: number;
  missed: string[];
}

/** A filled store that can be edited, verified and put back as it was. */
interface Tampering {
  list(): Promise<Edit[]>;
  /** False if the database does not take the edit. */
  try(edit: Edit): Promise<{ isTaken: boolean; problems: readonly string[] }>;
  close(): Promise<void>;
}

/**
 * Makes edits of a filled store one at a time: all of them, one of each kind, or one of every eighth kind and all of the
 * schema.
 */
export async function tamper(
  tampering: Tampering,
  which: "all" | "each kind" | "some kinds and schema",
): Promise<Tampered> {
  const missed: string[] = [];
  const kinds = new Set<string>();
  let edits = 0;
  try {
    const all = await tampering.list();
    const each = [...new Map(all.map((edit) => [edit.kind, edit])).values()];
    const some = each.filter(({ kind }, index) => index % SOME === 0 || kind.startsWith("schema: "));
    for (const edit of which === "all" ? all : which === "each kind" ? each : some) {
      const { isTaken, problems } = await tampering.try(edit);
      if (!isTaken) continue;
      edits += 1;
      kinds.add(edit.kind);
      if (problems.length === 0) missed.push(edit.name);
    }
  } finally {
    await tampering.close();
  }
  return { edits, kinds: kinds.size, missed };
}

export async function tamperSqlite(): Promise<Tampering> {
  const dir = mkdtempSync(join(tmpdir(), "askd-tamper-"));
  const store = await openSqliteStore(join(dir, "askd.db"));
  await fillStore(store);
  await requireWhole(store);
  const database = openDatabase(join(dir, "askd.db"));
  database.exec(`pragma foreign_keys = off; pragma synchronous = off; attach '${join(dir, "saved.db")}' as saved`);
  for (const table of TABLES) database.exec(`create table saved.${table} as select * from main.${table}`);
  const editor: Editor = {
    all: async (sql, ...values) => database.prepare<EditedRow>(sql).all(...values),
    run: async (sql, ...values) => void database.prepare(sql).run(...values),
  };
  return {
    list: async () => [...(await listEdits(editor)), ...listSchemaEdits("sqlite")],
    async try(edit) {
      database.exec("begin");
      const isTaken = await isApplied(edit, editor);
      database.exec(isTaken ? "commit" : "rollback");
      if (!isTaken) return { isTaken, problems: [] };
      const { problems } = await verify(store);
      await undo(edit, editor, store);
      database.exec("begin");
      for (const table of TABLES) {
        database.exec(`delete from main.${table}; insert into main.${table} select * from saved.${table}`);
      }
      database.exec("commit");
      return { isTaken, problems };
    },
    async close() {
      database.close();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function tamperPostgres(url: string): Promise<Tampering> {
  const store = await openPostgres({ url });
  await fillStore(store);
  await requireWhole(store);
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create schema saved"); // beside the tables of the store they would be found
  for (const table of TABLES) await client.query(`create table saved.${table} as table ${table}`);
  const editor: Editor = {
    all: async (sql, ...values) => (await client.query<EditedRow>(numbered(sql), values)).rows,
    run: async (sql, ...values) => void (await client.query(numbered(sql), values)),
  };
  return {
    list: async () => [...(await listEdits(editor)), ...listSchemaEdits("postgres")],
    async try(edit) {
      await client.query("begin");
      const isTaken = await isApplied(edit, editor);
      await client.query(isTaken ? "commit" : "rollback");
      if (!isTaken) return { isTaken, problems: [] };
      const { problems } = await verify(store);
      await undo(edit, editor, store);
      await client.query("begin");
      for (const table of TABLES) {
        await client.query(`delete from ${table}`);
        await client.query(`insert into ${table} overriding system value select * from saved.${table}`);
      }
      await client.query("commit");
      return { isTaken, problems };
    },
    async close() {
      await client.end();
      await store.close();
    },
  };
}

async function isApplied(edit: Edit, editor: Editor): Promise<boolean> {
  try {
    await edit.apply(editor);
    return true;
  } catch {
    return false; // a unique name or a type stands in the way
  }
}

/** A change of the schema that stayed would be found with every later edit, whatever that is. */
async function undo(edit: Edit, editor: Editor, store: Store): Promise<void> {
  if (!edit.undo) return;
  await edit.undo(editor);
  const left = await store.findSchemaDifferences();
  if (left.length > 0) throw new Error(`"${edit.name}" was not taken back: ${left.map(({ what }) => what).join()}`);
}

async function requireWhole(store: Store): Promise<void> {
  const { problems } = await verify(store);
  if (problems.length > 0) throw new Error(`The store differs from its trail before any edit: ${problems.join("; ")}`);
}

function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${(place += 1)}`);
}
