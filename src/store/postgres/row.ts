import type { Entry } from "../../core/changes.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { ArchivableRow } from "../archive.ts";
import { readQuestions as readable } from "../question-cache.ts";
import { type EntryRow, type RunText, entryName, parseEntry, runName, toRun } from "../row.ts";
import { UnreadableRows } from "../unreadable.ts";
import type { PostgresArchive } from "./archive.ts";
import type { Queryable } from "./pool.ts";

export const READ_QUESTIONS = "select id, body from question where id = any($1)";
export const ENTRY = "select kind, id, parent, version, body from entry";
export const READ_ENTRIES = `${ENTRY} where kind = $1 and id = any($2) order by id`;

/**
 * PostgreSQL stores neither NUL nor lone surrogates. In names they are escaped by this noncharacter and four
 * hexadecimal digits; so is the noncharacter itself. Bodies are JSON, which escapes them anyway.
 */
const MARK = "\uFFFE";
const UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/u;
const EACH_UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/gu;
const MARKED = /\uFFFE([0-9a-f]{4})/g;

/** Encodes a name for PostgreSQL; the encoding is unique. */
export function encodeName(name: string): string {
  if (!UNKEEPABLE.test(name)) return name;
  return name.replace(EACH_UNKEEPABLE, (found) => MARK + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Decodes a stored name. */
export function decodeName(kept: string): string {
  return kept.replace(MARKED, (_found, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export async function readRuns(archive: PostgresArchive, sql: string, params: unknown[]): Promise<Run[]> {
  const rows = await archive.select<ArchivableRow & RunText>(sql, params);
  return unreadableIn(archive.queryable).read(rows, runName, toRun);
}

export async function readQuestions(archive: PostgresArchive, sql: string, params: unknown[]): Promise<Question[]> {
  return readable(unreadableIn(archive.queryable), await archive.select<ArchivableRow>(sql, params));
}

/** The entries that a statement beginning with `ENTRY` selects. */
export async function readEntries(pool: Queryable, sql: string, params: unknown[]): Promise<Entry[]> {
  const { rows } = await pool.query<EntryRow>(sql, params);
  return unreadableIn(pool).read(rows.map(decodeEntry), entryName, parseEntry);
}

export function decodeEntry(row: EntryRow): EntryRow {
  return { ...row, id: decodeName(row.id), parent: row.parent && decodeName(row.parent) };
}

/** Where the unreadable rows of these statements are remembered. */
export function unreadableIn({ unreadable = new UnreadableRows() }: Queryable): UnreadableRows {
  return unreadable;
}
