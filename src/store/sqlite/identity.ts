import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { Refusal } from "../../core/refusal.ts";
import { type Database, isDatabaseFile } from "../../sqlite.ts";
import { damaged } from "./error.ts";

/** Says in the header of a file that it is a store of ours: "askd". */
const APPLICATION_ID = 0x61736b64;

/** The tables that every store of ours has, also one that was made before it said whose it is. */
const TABLES = ["meta", "run", "question", "content", "entry", "event", "seal", "job"];

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
/** Where the fields of the header are, see https://sqlite.org/fileformat.html */
const AT = { pageSize: 16, changes: 24, pages: 28, application: 68, validFor: 92 } as const;
const LARGEST_PAGE = 65_536;

/**
 * Refuses a file that is there and cannot be a store of ours, before anything opens it: an empty one, one of another
 * program, one that was cut off. Says whether it is known to be ours; else its tables have to be looked at.
 */
export function requireStoreFile(path: string): boolean {
  // Whoever has it open looked at it before; reading it here would give up the locks that this process has on it.
  if (!existsSync(path) || isDatabaseFile(realpathSync(path))) return true;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  let read = 0;
  try {
    read = readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (read === 0) throw emptyFile(path);
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw foreignFile(path);
  const application = header.readUInt32BE(AT.application);
  if (application !== 0 && application !== APPLICATION_ID) throw foreignFile(path);
  requireWholeFile(path, header);
  return application === APPLICATION_ID;
}

/** Refuses a database whose tables are not ours; one that says that it is ours has to have them all. */
export function requireOwnTables(path: string, database: Database): void {
  const id = readId(database);
  if (id !== 0 && id !== APPLICATION_ID) throw foreignFile(path);
  const found = database.prepare<{ name: string }>("select name from sqlite_schema where type = 'table'").all();
  const names = new Set(found.map(({ name }) => name));
  if (TABLES.every((name) => names.has(name))) return;
  throw id === APPLICATION_ID ? damagedFile(path, "tables are missing") : foreignFile(path);
}

/** Says whether the file says that it is ours. */
export function isOwn(database: Database): boolean {
  return readId(database) === APPLICATION_ID;
}

/** Writes into the file whose it is. */
export function markAsOwn(database: Database): void {
  database.exec(`pragma application_id = ${APPLICATION_ID}`);
}

function readId(database: Database): number {
  return database.prepare<{ application_id: number }>("pragma application_id").get()?.application_id ?? 0;
}

/** A file that cannot be used any more as it is. */
export function damagedFile(path: string, cause: unknown): Refusal {
  const [what, hint] = damaged(path);
  return new Refusal("store_unusable", what, { hint, cause });
}

/** The header says how long the file is, where nothing that is still to be written to it is in the log. */
function requireWholeFile(path: string, header: Buffer): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const isSaid = header.readUInt32BE(AT.changes) === header.readUInt32BE(AT.validFor);
  if (!isSaid || (log !== undefined && log.size > 0)) return;
  const pageSize = header.readUInt16BE(AT.pageSize);
  const bytes = header.readUInt32BE(AT.pages) * (pageSize === 1 ? LARGEST_PAGE : pageSize);
  const { size } = statSync(path);
  if (size < bytes) throw damagedFile(path, `${size} of ${bytes} bytes are there`);
}

function emptyFile(path: string): Refusal {
  return new Refusal("store_unusable", `${path} is empty; no store of askd is.`, {
    hint: "Restore a backup (docs/backup.md); or, for a new store, remove the file first.",
  });
}

function foreignFile(path: string): Refusal {
  return new Refusal("store_unusable", `${path} is not an askd store.`, {
    hint: "Name another file with --store, or move this one away.",
  });
}
