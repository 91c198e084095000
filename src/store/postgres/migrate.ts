import pg, { type ClientBase } from "pg";
import { z } from "zod";
import { Refusal } from "../../core/refusal.ts";
import { connectionTo, explainPostgresError } from "./connect.ts";
import { MIGRATIONS, type Migration } from "./schema.ts";

const LOCK = 0x61736b64; // "askd"
/** Settings of `synchronous_commit` with which an acknowledged commit is on disk. */
export const DURABLE: ReadonlySet<string> = new Set(["on", "remote_apply"]);

/** The tables of every askd store. */
const TABLES = ["meta", "run", "question", "content", "entry", "event", "seal", "job"];
// to_regclass could answer from a cache without another node's commit. Our function identifies the tables as ours:
// their names are common words.
const WHOSE = `select current_database() as database,
  array(select relname::text from pg_class where relname = any($1)
    and relnamespace = current_schema()::regnamespace order by relname) as tables,
  exists (select from pg_proc where proname = 'askd_instant'
    and pronamespace = current_schema()::regnamespace) as is_ours`;

const Meta = z.object({ schema: z.int(), writable_by: z.int() });
type Meta = z.infer<typeof Meta>;

/** Migrates the store to this program's schema, or refuses it; safe to run concurrently. */
export async function migrate(client: ClientBase, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  await requireDurable(client);
  const found = await findMeta(client);
  requireWritable(found, migrations.length);
  if (found && found.schema >= migrations.length) return;
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    // Another node may have migrated while this one waited for the lock: read again.
    const meta = await findMeta(client);
    requireWritable(meta, migrations.length);
    const next = migrations.slice(meta?.schema ?? 0);
    for (const { sql } of next) await client.query(sql);
    const writableBy = Math.max(meta?.writable_by ?? 0, ...next.map((migration) => migration.writableBy));
    const schema = Math.max(meta?.schema ?? 0, migrations.length);
    await client.query("update meta set schema = $1, writable_by = $2", [schema, writableBy]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined); // the connection may be what is lost
    throw error;
  }
}

/** The schema of a database, 0 if it has none, and the one this program knows. */
export async function findSchema(url: string): Promise<{ schema: number; known: number }> {
  const client = new pg.Client(connectionTo(url));
  client.on("error", () => undefined); // the pending statement reports it
  try {
    await client.connect();
    return { schema: (await findMeta(client))?.schema ?? 0, known: MIGRATIONS.length };
  } catch (error) {
    throw explainPostgresError(url, error);
  } finally {
    await client.end().catch(() => undefined); // it was never connected
  }
}

async function requireDurable(client: ClientBase): Promise<void> {
  const sql = "select current_setting('synchronous_commit') as setting, current_database() as database";
  const { rows } = await client.query<{ setting: string; database: string }>(sql);
  const { setting = "", database } = rows[0] ?? {};
  if (DURABLE.has(setting)) return;
  throw new Refusal("store_unusable", `PostgreSQL runs with synchronous_commit = ${setting}: answers could be lost.`, {
    hint: `Turn it on for this database: alter database "${database}" set synchronous_commit = on`,
  });
}

/**
 * Finds the schema metadata; undefined if the tables do not exist yet. A database with foreign tables of these names,
 * or with some of ours missing, is refused: nothing is created in it.
 */
export async function findMeta(client: ClientBase): Promise<Meta | undefined> {
  const { rows: found } = await client.query<{ database: string; tables: string[]; is_ours: boolean }>(WHOSE, [TABLES]);
  const { database = "", tables = [], is_ours: isOurs = false } = found[0] ?? {};
  if (!isOurs && tables.length === 0) return undefined;
  if (!isOurs) throw foreignTables(database, tables);
  const missing = TABLES.filter((name) => !tables.includes(name));
  if (missing.length > 0) throw missingTables(database, missing);
  const { rows } = await client.query("select schema, writable_by from meta");
  return Meta.parse(rows[0]);
}

function foreignTables(database: string, tables: readonly string[]): Refusal {
  const named = `${tables.length === 1 ? "a table" : "tables"} named ${tables.join(", ")}`;
  return new Refusal("store_unusable", `The database "${database}" has ${named} of another program.`, {
    hint: "Give askd a database of its own: createdb askd, then --store postgres://…/askd",
  });
}

function missingTables(database: string, missing: readonly string[]): Refusal {
  return new Refusal("store_unusable", `The store in database "${database}" has lost ${missing.join(", ")}.`, {
    hint: "Restore a backup: see docs/backup.md",
  });
}

function requireWritable(meta: Meta | undefined, known: number): void {
  if (!meta || meta.writable_by <= known) return;
  throw new Refusal("newer_schema", "The store was changed by a newer askd, and this one may not write to it.", {
    hint: "Update this askd: npm install -g askd@latest",
  });
}
