import pg, { type ClientBase } from "pg";
import { z } from "zod";
import { Refusal } from "../../core/refusal.ts";
import {
  type SchemaDifference,
  type SchemaVersion,
  compareSchemas,
  compareVersion,
  lostVersion,
  planMigration,
  findWritableBy,
} from "../schema.ts";
import { connectClient, explainPostgresError } from "./connect.ts";
import { inTransaction } from "./pool.ts";
import { MIGRATIONS, SCHEMA } from "./schema.ts";

export const LOCK = 0x61736b64; // "askd"
/** Settings of `synchronous_commit` with which an acknowledged commit is on disk. */
export const DURABLE: ReadonlySet<string> = new Set(["on", "remote_apply"]);

/** The tables of every askd store. */
const TABLES = ["meta", "run", "question", "content", "entry", "event", "seal", "job"];
export const OWN_TABLES: readonly string[] = [...TABLES, "archive", "question_word", "answered_word", "word_mark"];
// to_regclass could answer from a cache without another node's commit. Our function identifies the tables as ours:
// their names are common words.
const WHOSE = `select current_database() as database,
  array(select relname::text from pg_class where relname = any($1)
    and relnamespace = current_schema()::regnamespace order by relname) as tables,
  exists (select from pg_proc where proname = 'askd_instant'
    and pronamespace = current_schema()::regnamespace) as is_ours`;

/** The schema in which our migrations are run for comparison; it is never committed. */
const REFERENCE = "askd_expected_schema";
/** No right to create it, or a server that takes no writes. */
const NOT_PERMITTED: ReadonlySet<string | undefined> = new Set(["42501", "25006"]);

/**
 * Every part of a schema with its definition, without what extensions brought along. Definitions name their schema,
 * which is taken out so that two schemas can be compared.
 */
const PARTS = `
with own as (select oid, nspname from pg_namespace where nspname = $1),
relation as (
  select c.* from pg_class c join own on own.oid = c.relnamespace
  where not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
),
part as (
  select case relkind when 'v' then 'view ' when 'm' then 'view ' when 'S' then 'sequence ' else 'table ' end || relname as what,
    relkind::text || ' ' || relrowsecurity || ' ' || coalesce(reloptions::text, '')
      || case when relkind in ('v', 'm') then pg_get_viewdef(oid) else '' end as text
  from relation where relkind not in ('i', 'I', 't', 'c')
  union all
  select 'index ' || relname, pg_get_indexdef(oid) from relation where relkind in ('i', 'I')
  union all
  select 'column ' || r.relname || '.' || a.attname,
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, l.collname,
      pg_get_expr(d.adbin, d.adrelid))
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
    left join pg_collation l on l.oid = a.attcollation
  where r.relkind in ('r', 'p', 'f')
  union all
  select 'constraint ' || r.relname || '.' || k.conname, pg_get_constraintdef(k.oid)
  from relation r join pg_constraint k on k.conrelid = r.oid
  union all
  select 'trigger ' || r.relname || '.' || t.tgname, pg_get_triggerdef(t.oid) || t.tgenabled::text
  from relation r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
  union all
  select 'rule ' || r.relname || '.' || w.rulename, pg_get_ruledef(w.oid)
  from relation r join pg_rewrite w on w.ev_class = r.oid where r.relkind in ('r', 'p')
  union all
  select 'policy ' || r.relname || '.' || p.polname, ''
  from relation r join pg_policy p on p.polrelid = r.oid
  union all
  select 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
    concat_ws(' ', pg_get_function_result(p.oid), p.prosrc, p.prosecdef, p.provolatile, p.proconfig::text)
  from pg_proc p join own on own.oid = p.pronamespace
  where not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
)
select what, replace(text, $1 || '.', '') as text from part order by what`;

const WHY_NOT_READ = {
  missing: "has no tables yet",
  older: "was made by an older askd",
  newer: "was made by a newer askd",
} as const;

const Meta = z.object({ schema: z.int(), writable_by: z.int() });

/** Migrates the store to this program's schema, or refuses it; safe to run concurrently. */
export async function migrate(client: ClientBase): Promise<void> {
  await requireDurable(client);
  await requireUnicode(client);
  if (planMigration(await findMeta(client), MIGRATIONS).next.length === 0) return;
  await inTransaction(client, async () => {
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    // Another node may have migrated while this one waited for the lock: read again.
    const { next, schema, writableBy } = planMigration(await findMeta(client), MIGRATIONS);
    for (const { sql } of next) await client.query(sql);
    await client.query("update meta set schema = $1, writable_by = $2", [schema, writableBy]);
  });
}

/** Refuses a database in which a store could not be made; nothing of the attempt stays. */
export async function requireMakeable(client: ClientBase): Promise<void> {
  await requireUnicode(client);
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    const { next } = planMigration(await findMeta(client), MIGRATIONS);
    for (const { sql } of next) await client.query(sql);
  } finally {
    await client.query("rollback");
  }
}

/** Refuses a store that this program cannot read without changing it. */
export async function requireCurrent(client: ClientBase): Promise<void> {
  const found = compareVersion(await findMeta(client), SCHEMA);
  if (found === "current") return;
  throw new Refusal("store_unusable", `The store ${WHY_NOT_READ[found]}, and it is only to be read.`, {
    hint: "Open it once without --read-only, or update askd: npm install -g askd@latest",
  });
}

/** Refuses a database that cannot keep every character. */
async function requireUnicode(client: ClientBase) {
  const sql = "select current_setting('server_encoding') as encoding, current_database() as database";
  const { rows } = await client.query<{ encoding: string; database: string }>(sql);
  const { encoding, database } = rows[0] ?? {};
  if (encoding === "UTF8") return;
  throw new Refusal("store_unusable", `The database "${database}" is in ${encoding}, which lacks characters.`, {
    hint: "Give askd one in UTF8: createdb --encoding=UTF8 --template=template0 askd",
  });
}

/** The schema of a database, 0 if it has none, and the one this program knows. */
export async function findSchema(url: string): Promise<{ schema: number; known: number }> {
  try {
    const { client } = await connectClient(url);
    try {
      return { schema: (await findMeta(client))?.schema ?? 0, known: SCHEMA };
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explainPostgresError(url, error);
  }
}

async function requireDurable(client: ClientBase) {
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
export async function findMeta(client: ClientBase): Promise<SchemaVersion | undefined> {
  const { rows: found } = await client.query<{ database: string; tables: string[]; is_ours: boolean }>(WHOSE, [TABLES]);
  const { database = "", tables = [], is_ours: isOurs = false } = found[0] ?? {};
  if (!isOurs && tables.length === 0) return undefined;
  if (!isOurs) throw foreignTables(database, tables);
  const missing = TABLES.filter((name) => !tables.includes(name));
  if (missing.length > 0) throw missingTables(database, missing);
  const { rows } = await client.query("select schema, writable_by from meta");
  if (rows.length === 0) throw lostVersion(`database "${database}"`);
  return Meta.parse(rows[0]);
}

function foreignTables(database: string, tables: readonly string[]) {
  const named = `${tables.length === 1 ? "a table" : "tables"} named ${tables.join(", ")}`;
  return new Refusal("store_unusable", `The database "${database}" has ${named} of another program.`, {
    hint: "Give askd a database of its own: createdb askd, then --store postgres://…/askd",
  });
}

function missingTables(database: string, missing: readonly string[]) {
  return new Refusal("store_unusable", `The store in database "${database}" has lost ${missing.join(", ")}.`, {
    hint: "Restore a backup: see docs/backup.md",
  });
}

/** The parts of a schema as our migrations make them on that server. */
export type ExpectedSchema = ReadonlyMap<string, string>;

/** Runs our migrations in a schema of their own, which is never committed; undefined where that is not permitted. */
export async function readExpectedSchema(client: ClientBase): Promise<ExpectedSchema | undefined> {
  await client.query("begin");
  try {
    await client.query(`create schema ${REFERENCE}`);
    await client.query(`set local search_path to ${REFERENCE}`);
    for (const { sql } of MIGRATIONS) await client.query(sql);
    return await readParts(client, REFERENCE);
  } catch (error) {
    if (error instanceof pg.DatabaseError && NOT_PERMITTED.has(error.code)) return undefined;
    throw error;
  } finally {
    await client.query("rollback");
  }
}

/** Finds triggers, views, indexes, tables, columns and functions that our migrations did not make. */
export async function findSchemaDifferences(
  client: ClientBase,
  expected: ExpectedSchema | undefined,
): Promise<SchemaDifference[]> {
  const meta = await findMeta(client);
  if (meta?.schema !== SCHEMA) return [{ what: `version ${meta?.schema ?? 0}`, how: "changed" }];
  // Nothing was compared, and that must not look as if nothing was found.
  if (!expected) return [{ what: "schema", how: "unseen" }];
  const { rows } = await client.query<{ name: string }>("select current_schema() as name");
  const parts = await readParts(client, rows[0]?.name ?? "");
  return [...compareSchemas(parts, expected), ...(await findChangedMarks(client))];
}

/** Values that guard the store, each with what is wrong and what puts it right. */
const MARKS: Readonly<Record<string, { isWrong: string; sql: string }>> = {
  "mark writable_by": {
    isWrong: `select from meta where writable_by <> ${findWritableBy(MIGRATIONS)}`,
    sql: `update meta set writable_by = ${findWritableBy(MIGRATIONS)}`,
  },
  "mark meta": {
    isWrong: "select from meta having count(*) > 1",
    sql: `delete from meta where ctid <> (select ctid from meta where schema = ${SCHEMA} limit 1)`,
  },
  "mark job_attempt": {
    isWrong: "select from job_attempt where last_value < (select max(attempt) from job)",
    sql: "select setval('job_attempt', (select max(attempt) from job))",
  },
};

async function findChangedMarks(client: ClientBase): Promise<SchemaDifference[]> {
  const found: SchemaDifference[] = [];
  for (const [what, { isWrong }] of Object.entries(MARKS))
    if ((await client.query(isWrong)).rows.length > 0) found.push({ what, how: "changed" });
  return found;
}

/** Says whether it is a value that is not as our migrations and changes leave it. */
export function isMark({ what }: SchemaDifference): boolean {
  return Object.hasOwn(MARKS, what);
}

/** Puts right the marks that were changed. */
export async function mendMarks(client: ClientBase): Promise<void> {
  for (const { isWrong, sql } of Object.values(MARKS))
    if ((await client.query(isWrong)).rows.length > 0) await client.query(sql);
}

/** The parts of a schema, each with its definition. */
export async function readParts(client: ClientBase, schema: string): Promise<Map<string, string>> {
  const { rows } = await client.query<{ what: string; text: string }>(PARTS, [schema]);
  return new Map(rows.map(({ what, text }) => [what, text]));
}
