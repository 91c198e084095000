import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PACKAGE = "@photostructure/sqlite";
/** Alpine uses another C library and needs another file, which the package finds. */
const OTHER_LIBRARY = "/etc/alpine-release";

export type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement whose rows have the columns that its text names. */
export interface Statement<Row> {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** The part of the driver that askd uses; the same in Node and in the fallback package. */
export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare<Row>(sql: string): Statement<Row>;
  close(): void;
}

/** This version of Node has no SQLite, and the package for it cannot be loaded. */
export class MissingDriver extends Error {
  readonly hint = `Use Node 22.16 or newer, or install the package: npm install -g ${PACKAGE}`;
}

interface Driver {
  DatabaseSync: new (path: string, options: { readOnly?: boolean; timeout?: number }) => Database;
}

/** Opens a SQLite file with Node's driver, or with the package for older versions of Node. */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(path, { ...options, timeout: 0 });
  opened.add(realpathSync(path));
  return database;
}

/** Opens a file that nobody can change, as on a read-only disk: SQLite needs neither a lock nor a log beside it. */
export function openFixedDatabase(path: string): Database {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true, timeout: 0 });
  opened.add(realpathSync(path));
  return database;
}

/** Opens an empty database that is gone when it is closed. */
export function openMemoryDatabase(): Database {
  const { DatabaseSync } = loadDriver();
  return new DatabaseSync(":memory:", {});
}

/** Files this process has ever opened as databases. */
const opened = new Set<string>();

/**
 * Says whether this process must open a file only as a database: closing any other handle, even after reading, releases
 * all locks the process has on it.
 */
export function isDatabaseFile(realPath: string): boolean {
  return opened.has(realPath.replace(/-(wal|shm|journal)$/, ""));
}

function loadDriver() {
  const require = createRequire(import.meta.url);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  // `require` returns an unknown type; both modules have this shape.
  if (major < 22 || (major === 22 && minor < 16)) return loadPackage(require);
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined; // Node 22 and 24 warn on first use that their driver is young
  try {
    return require("node:sqlite") as Driver;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The native part of the package is enough; loading its wrapper takes longer than a short command. */
function loadPackage(require: NodeJS.Require) {
  const native = existsSync(OTHER_LIBRARY) ? undefined : findNative(require);
  try {
    if (native !== undefined) return require(native) as Driver;
  } catch {
    // Built for another system: the package reports that, or has a local build.
  }
  try {
    return require("@photostructure/sqlite") as Driver;
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "MODULE_NOT_FOUND";
    const what = isMissing ? "is not installed" : "does not work on this system";
    const message = `Node ${process.versions.node} has no SQLite of its own, and the package ${PACKAGE} ${what}`;
    throw new MissingDriver(message, { cause });
  }
}

function findNative(require: NodeJS.Require) {
  const below = join("prebuilds", `${process.platform}-${process.arch}`, "@photostructure+sqlite.glibc.node");
  return require.resolve
    .paths(PACKAGE)
    ?.map((dir) => join(dir, PACKAGE, below))
    .find((file) => existsSync(file));
}
