import { STORE_CHAIN } from "../../core/id.ts";
import { type Database, openMemoryDatabase } from "../../sqlite.ts";
import { type SchemaDifference, compareSchemas, findWritableBy } from "../schema.ts";
import { Connection } from "./connection.ts";
import { ATTEMPTS_SKIPPED, MIGRATIONS, SCHEMA, WORDS, isMark, mendMarks, readParts } from "./schema.ts";

/** Parts that hold nothing: they can be dropped and made again from the rows. */
const REBUILT = /^(?:index|trigger|view) /;
const WORD_PARTS = ["question_word", "answered_word", "word_mark"];

/** A row that every store needs. */
export type MissingRow = "meta" | "word_mark" | "store chain";

/** Rows that migrations write and that are gone. */
export function findMissingRows(database: Database): MissingRow[] {
  const isEmpty = (table: string) => database.prepare(`select 1 from ${table}`).get() === undefined;
  const chain = database.prepare("select 1 from run where id = ?").get(STORE_CHAIN);
  return [
    ...(isEmpty("meta") ? (["meta"] as const) : []),
    ...(hasTable(database, "word_mark") && isEmpty("word_mark") ? (["word_mark"] as const) : []),
    ...(chain === undefined ? (["store chain"] as const) : []),
  ];
}

/** Says whether a part of the schema can be rebuilt without losing anything. */
export function isMendable({ what, how }: SchemaDifference): boolean {
  const isWords = WORD_PARTS.some((name) => what === `table ${name}`) && how === "missing";
  return isWords || REBUILT.test(what) || isMark({ what, how });
}

/** Rebuilds what our migrations make and a store has lost, in one transaction: rows of its own, indexes, word tables. */
export async function mendSqliteSchema(path: string): Promise<void> {
  const connection = await Connection.open(path, { check: false });
  try {
    await connection.transact(() => {
      const { database } = connection;
      const missing = findMissingRows(database);
      if (missing.includes("meta")) restoreMeta(database);
      if (missing.includes("store chain")) restoreStoreChain(database);
      mendParts(database, { hasLostMark: missing.includes("word_mark") });
    });
  } finally {
    connection.close();
  }
}

function mendParts(database: Database, { hasLostMark }: { hasLostMark: boolean }) {
  const expected = openMemoryDatabase();
  try {
    for (const { sql } of MIGRATIONS) expected.exec(sql);
    const made = readParts(expected);
    const differences = compareSchemas(readParts(database), made).filter(isMendable);
    for (const { what, how } of differences.filter((each) => REBUILT.test(each.what))) {
      if (how !== "missing") database.exec(`drop ${quoted(what)}`);
      if (how !== "added") database.exec(made.get(what) ?? "");
    }
    mendMarks(database);
    const hasLostWords = differences.some(({ what }) => !REBUILT.test(what));
    if (!hasLostWords && !hasLostMark) return;
    // The words are indexed again from the first event, by an idle process.
    for (const name of WORD_PARTS) database.exec(`drop table if exists ${name}`);
    database.exec(WORDS);
  } finally {
    expected.close();
  }
}

/** `index run_name` as SQL names it. */
function quoted(what: string) {
  const [type = "", ...name] = what.split(" ");
  return `${type} "${name.join(" ").replaceAll('"', '""')}"`;
}

function restoreMeta(database: Database) {
  const { attempt } = database
    .prepare<{ attempt: number }>("select coalesce(max(attempt), 0) as attempt from job")
    .get() ?? { attempt: 0 };
  const sql = "insert into meta (id, schema, writable_by, attempt) values (1, ?, ?, ?)";
  database.prepare(sql).run(SCHEMA, findWritableBy(MIGRATIONS), attempt + ATTEMPTS_SKIPPED);
}

/** The chain of the store itself ends with its last event. */
function restoreStoreChain(database: Database) {
  const last = database
    .prepare<{ n: number; hash: string; seq: number }>(
      "select n, hash, seq from event where run_id = ? order by seq desc limit 1",
    )
    .get(STORE_CHAIN);
  const { n, hash, seq } = last ?? { n: 0, hash: "", seq: 0 };
  database
    .prepare(
      `insert into run (number, id, version, body, name, host, agent, status, chain_n, chain_hash, chain_seq)
      values (0, ?, 1, '{}', '', '', '', 'store', ?, ?, ?)`,
    )
    .run(STORE_CHAIN, n, hash, seq);
}

function hasTable(database: Database, name: string) {
  return database.prepare("select 1 from sqlite_schema where name = ?").get(name) !== undefined;
}
