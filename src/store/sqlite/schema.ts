import { existsSync } from "node:fs";
import { type Database, openMemoryDatabase } from "../../sqlite.ts";
import { type Migration, type SchemaDifference, type SchemaVersion, compareSchemas, planMigration } from "../schema.ts";
import { findWritableBy, lostVersion } from "../schema.ts";
import { Connection } from "./connection.ts";
import { APPLICATION_ID } from "./identity.ts";

/** More than the attempts that a process reserves at once: none may be used twice. */
export const ATTEMPTS_SKIPPED = 1_000_000;

/** Tables that SQLite makes itself: for keys, for statistics, and behind an index of words, as its version does it. */
const OWN_OF_SQLITE = /^(?:table|index) sqlite_/;
const BEHIND_WORDS = /^table (?:question|answered)_word_/;

// `body` is the validated row. The searched columns are bound from that same object by one function per table:
// generated from the body they cost 10 µs of a 25 µs write (measured).
// Every index follows time: one in random order, such as on the part of an id that people type, costs a page per row.
// The most common final status is in no index by status: a scan in time order soon finds enough of those rows.
// Names are found by a scan: they are rarely searched, and an index would be written for every run.
const FIRST = `
create table meta (
  id integer primary key check (id = 1),
  schema integer not null,
  writable_by integer not null,
  attempt integer not null
);
insert into meta (id, schema, writable_by, attempt) values (1, 0, 0, 0);

create table run (
  number integer primary key,
  id text not null unique,
  version integer not null,
  body text not null,
  name text not null,
  external_id text,
  host text not null,
  agent text not null,
  session text,
  parent_id text,
  status text not null,
  ended_at text,
  chain_n integer not null,
  chain_hash text not null,
  chain_seq integer not null
);
create unique index run_session on run (host, agent, session) where session is not null;
create index run_external on run (external_id) where external_id is not null;
create index run_any_session on run (session) where session is not null;
create index run_parent on run (parent_id) where parent_id is not null;
create index run_status on run (status, id) where status <> 'completed';
create index run_ended on run (ended_at) where ended_at is not null;

create table question (
  row integer primary key,
  id text not null unique,
  version integer not null,
  body text not null,
  run_id text not null references run (id),
  key text not null,
  status text not null
);
create unique index question_key on question (run_id, key);
create index question_status on question (status, id) where status <> 'answered';

create table content (hash text primary key, body text not null) without rowid;

create table entry (
  kind text not null,
  id text not null,
  parent text,
  version integer not null,
  body text not null,
  primary key (kind, id)
);
create index entry_parent on entry (kind, parent) where parent is not null;

-- "before" is the seq of the event before it in its run, and run.chain_seq the last: a chain is read by following
-- them. An index on (run_id, n) would dirty a page for nearly every event (a third of all that was written, measured).
create table event (
  seq integer primary key,
  run_id text not null,
  n integer not null,
  before integer not null,
  hash text not null,
  body text not null
);

create table seal (n integer primary key, hash text not null, body text not null);

create table job (
  key text primary key,
  kind text not null,
  host text,
  agent text,
  due_at text not null,
  ready_at text not null,
  claimed_by text,
  lease_until text,
  attempt integer not null,
  body text not null
) without rowid;
create index job_ready on job (kind, ready_at);
`;

// The words of questions, under the rows of their questions: all that were asked, and those that people answered.
// They are written later, by an idle process; the mark is the last indexed event.
// Words are stored normalized, so the index folds nothing and only records which question has which word.
export const WORDS = `
create virtual table question_word using fts5(words, content='', detail=none, columnsize=0, tokenize='ascii');
create virtual table answered_word using fts5(words, content='', detail=none, columnsize=0, tokenize='ascii');
create table word_mark (id integer primary key check (id = 1), seq integer not null);
insert into word_mark (id, seq) values (1, 0);
`;

// Events about the store itself are chained like those of a run, so that chain has a row among them. It is no run: it
// has the number 0, and everything that reads runs passes it by.
const STORE = `
insert into run (number, id, version, body, name, host, agent, status, chain_n, chain_hash, chain_seq)
values (0, 'r_00000000000000000000000000', 1, '{}', '', '', '', 'store', 0, '', 0);
`;

// Messages about questions are entries, which need no table of their own. A program that does not know of them would
// close questions and leave the messages as they are.
const DELIVERIES = "-- entries of the kinds delivery, outside and listener";

// Old lines of the trail, and the texts of runs that ended with them, compressed by the page under the seq of the last
// line. The row of such a run or question has "@" and that seq in place of its text; the row of its content is gone.
// A program that does not know of it would read neither.
const ARCHIVE = "create table archive (last integer primary key, body blob not null);";

export const MIGRATIONS: readonly Migration[] = [
  { sql: FIRST, writableBy: 1 },
  { sql: WORDS, writableBy: 1 },
  { sql: STORE, writableBy: 3 },
  { sql: DELIVERIES, writableBy: 4 },
  { sql: ARCHIVE, writableBy: 5 },
];

/** The schema this program knows. */
export const SCHEMA = MIGRATIONS.length;

/** Migrates the store to this program's schema, or refuses one that only a newer program may write. */
export async function migrate(connection: Connection, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const found = await connection.read(() => readMeta(connection));
  if (planMigration(found, migrations).next.length === 0) return;
  await connection.transact(() => {
    // Another process may have migrated while this one waited for the lock: read again.
    const { next, schema, writableBy } = planMigration(readMeta(connection), migrations);
    for (const { sql } of next) connection.database.exec(sql);
    connection.database.prepare("update meta set schema = ?, writable_by = ?").run(schema, writableBy);
  });
}

/** The schema of a file, 0 if it has none, and the one this program knows. */
export async function findSchema({
  file,
  isReadOnly = false,
}: {
  file: string;
  isReadOnly?: boolean;
}): Promise<{ schema: number; known: number }> {
  if (!existsSync(file)) return { schema: 0, known: SCHEMA };
  const connection = await (isReadOnly ? Connection.lookUntouched(file) : Connection.look(file));
  try {
    return { schema: (await connection.read(() => readMeta(connection)))?.schema ?? 0, known: SCHEMA };
  } finally {
    connection.close();
  }
}

/** Finds triggers, views, indexes, tables and columns that our migrations did not make. */
export async function findSchemaDifferences(connection: Connection): Promise<SchemaDifference[]> {
  const { schema, found, marks } = await connection.read(() => ({
    schema: readMeta(connection)?.schema ?? 0,
    found: readParts(connection.database),
    marks: findChangedMarks(connection.database),
  }));
  if (schema !== SCHEMA) return [{ what: `version ${schema}`, how: "changed" }];
  const expected = openMemoryDatabase();
  try {
    for (const { sql } of MIGRATIONS) expected.exec(sql);
    return [...compareSchemas(found, readParts(expected)), ...marks];
  } finally {
    expected.close();
  }
}

/** Marks in the header of the file and in the row with its version, each with what is wrong and what puts it right. */
const MARKS: Readonly<Record<string, { isWrong: string; sql: string }>> = {
  "mark application_id": {
    isWrong: `select 1 from pragma_application_id where application_id <> ${APPLICATION_ID}`,
    sql: `pragma application_id = ${APPLICATION_ID}`,
  },
  "mark user_version": {
    isWrong: "select 1 from pragma_user_version where user_version <> 0",
    sql: "pragma user_version = 0",
  },
  "mark writable_by": {
    isWrong: `select 1 from meta where writable_by <> ${findWritableBy(MIGRATIONS)}`,
    sql: `update meta set writable_by = ${findWritableBy(MIGRATIONS)}`,
  },
  "mark attempt": {
    isWrong: "select 1 from meta where attempt < (select max(attempt) from job)",
    sql: `update meta set attempt = ${ATTEMPTS_SKIPPED} + (select max(attempt) from job)`,
  },
};

function findChangedMarks(database: Database): SchemaDifference[] {
  const wrong = Object.entries(MARKS).filter(([, { isWrong }]) => database.prepare(isWrong).get() !== undefined);
  return wrong.map(([what]) => ({ what, how: "changed" }));
}

/** Says whether it is a mark that is not as our migrations and changes leave it. */
export function isMark({ what }: SchemaDifference): boolean {
  return Object.hasOwn(MARKS, what);
}

/** Puts right the marks that were changed. */
export function mendMarks(database: Database): void {
  for (const { isWrong, sql } of Object.values(MARKS)) {
    if (database.prepare(isWrong).get() !== undefined) database.exec(sql);
  }
}

/** The parts of a schema, each with the text that made it. */
export function readParts(database: Database): Map<string, string> {
  const sql = "select type, name, coalesce(sql, '') as text from sqlite_schema order by rowid";
  const rows = database.prepare<{ type: string; name: string; text: string }>(sql).all();
  const parts = rows.map(({ type, name, text }) => ({ part: `${type} ${name}`, text }));
  return new Map(
    parts
      .filter(({ part }) => !OWN_OF_SQLITE.test(part))
      .map(({ part, text }) => [part, BEHIND_WORDS.test(part) ? "" : text]),
  );
}

/** Reads the schema metadata; undefined if the tables do not exist yet. */
export function readMeta(connection: Connection): SchemaVersion | undefined {
  const table = "select 1 as found from sqlite_schema where name = 'meta'";
  if (connection.database.prepare(table).get() === undefined) return undefined;
  const found = connection.database.prepare<SchemaVersion>("select schema, writable_by from meta").get();
  if (found === undefined) throw lostVersion(connection.path);
  return found;
}
