import { type Database, openMemoryDatabase } from "../../sqlite.ts";
import { type SchemaDifference, compareSchemas } from "../schema-difference.ts";
import type { Connection } from "./connection.ts";
import { MIGRATIONS, SCHEMA, readMeta } from "./schema.ts";

/** Tables that SQLite makes itself: for keys, for statistics, and behind an index of words, as its version does it. */
const OWN_OF_SQLITE = /^(?:table|index) sqlite_/;
const BEHIND_WORDS = /^table (?:question|answered)_word_/;

/** Finds triggers, views, indexes, tables and columns that our migrations did not make. */
export async function findSchemaDifferences(connection: Connection): Promise<SchemaDifference[]> {
  const { schema, found } = await connection.read(() => ({
    schema: readMeta(connection)?.schema ?? 0,
    found: readParts(connection.database),
  }));
  if (schema !== SCHEMA) return [{ what: `version ${schema}`, how: "changed" }];
  const expected = openMemoryDatabase();
  try {
    for (const { sql } of MIGRATIONS) expected.exec(sql);
    return compareSchemas(found, readParts(expected));
  } finally {
    expected.close();
  }
}

function readParts(database: Database): Map<string, string> {
  const sql = "select type, name, coalesce(sql, '') as text from sqlite_schema order by rowid";
  const rows = database.prepare<{ type: string; name: string; text: string }>(sql).all();
  const parts = rows.map(({ type, name, text }) => [`${type} ${name}`, text] as const);
  return new Map(
    parts
      .filter(([part]) => !OWN_OF_SQLITE.test(part))
      .map(([part, text]) => [part, BEHIND_WORDS.test(part) ? "" : text] as const),
  );
}
