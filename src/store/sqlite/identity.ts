import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { Refusal } from "../../core/refusal.ts";
import { type Database, isDatabaseFile } from "../../sqlite.ts";
import { damagedFileText } from "./error.ts";

/** The application id in the header of an askd store: "askd". */
export const APPLICATION_ID = 0x61736b64;

/** The tables of every askd store, also of one from before the application id. */
const TABLES = ["meta", "run", "question", "content", "entry", "event", "seal", "job"];

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
/** Offsets of header fields, see https://sqlite.org/fileformat.html */
const AT = { pageSize: 16, writeVersion: 18, changes: 24, pages: 28, application: 68, validFor: 92 } as const;
/** The version of files that are written through a log. */
const WITH_LOG = 2;
const LARGEST_PAGE = 65_536;

/**
 * Refuses an existing file that cannot be an askd store, before it is opened: an empty, foreign or truncated one.
 * Returns whether it is known to be ours; otherwise its tables must be checked.
 */
export function requireStoreFile(path: string): boolean {
  // A process that has it open checked it before; reading it here would release the locks this process has on it.
  if (!existsSync(path) || isDatabaseFile(realpathSync(path))) return true;
  const { header, read } = readHeader(path);
  if (read === 0) throw emptyFile(path);
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw foreignFile(path);
  const application = header.readUInt32BE(AT.application);
  if (application !== 0 && application !== APPLICATION_ID) throw foreignFile(path);
  requireWholeFile(path, header);
  return application === APPLICATION_ID;
}

/**
 * Says whether the header of a file asks for a write-ahead log, which a connection that only reads the file does not
 * tell; undefined of one that this process has open, whose locks reading it here would release.
 */
export function asksForLog(path: string): boolean | undefined {
  return isDatabaseFile(realpathSync(path)) ? undefined : readHeader(path).header[AT.writeVersion] === WITH_LOG;
}

/** Says whether a file is a database of SQLite, whoever's. */
export function isSqliteFile(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return isDatabaseFile(realpathSync(path)) || readHeader(path).header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

function readHeader(path: string) {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    return { header, read: readSync(file, header, 0, HEADER_BYTES, 0) };
  } finally {
    closeSync(file);
  }
}

/** Refuses a database with foreign tables; one marked as ours must have them all. */
export function requireOwnTables(path: string, database: Database): void {
  const id = readId(database);
  if (id !== 0 && id !== APPLICATION_ID) throw foreignFile(path);
  const found = database.prepare<{ name: string }>("select name from sqlite_schema where type = 'table'").all();
  const names = new Set(found.map(({ name }) => name));
  if (TABLES.every((name) => names.has(name))) return;
  throw id === APPLICATION_ID ? damagedFile(path, "tables are missing") : foreignFile(path);
}

/** Says whether the file is marked as an askd store. */
export function isMarkedAsOwn(database: Database): boolean {
  return readId(database) === APPLICATION_ID;
}

/** Marks the file as an askd store. */
export function markAsOwn(database: Database): void {
  database.exec(`pragma application_id = ${APPLICATION_ID}`);
}

function readId(database: Database) {
  return database.prepare<{ application_id: number }>("pragma application_id").get()?.application_id ?? 0;
}

/** The refusal of a damaged file. */
export function damagedFile(path: string, cause: unknown): Refusal {
  const [what, hint] = damagedFileText(path);
  return new Refusal("store_unusable", what, { hint, cause });
}

/** Checks the file's length against its header, unless the log has pages still to be written. */
function requireWholeFile(path: string, header: Buffer) {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const isSaid = header.readUInt32BE(AT.changes) === header.readUInt32BE(AT.validFor);
  if (!isSaid || (log !== undefined && log.size > 0)) return;
  const pageSize = header.readUInt16BE(AT.pageSize);
  const bytes = header.readUInt32BE(AT.pages) * (pageSize === 1 ? LARGEST_PAGE : pageSize);
  const { size } = statSync(path);
  if (size < bytes) throw damagedFile(path, `${size} of ${bytes} bytes are there`);
}

function emptyFile(path: string) {
  return new Refusal("store_unusable", `${path} is empty; an askd store never is.`, {
    hint: "Restore a backup (docs/backup.md); or, for a new store, remove the file first.",
  });
}

function foreignFile(path: string) {
  return new Refusal("store_unusable", `${path} is not an askd store.`, {
    hint: "Name another file with --store, or move this one away.",
  });
}
