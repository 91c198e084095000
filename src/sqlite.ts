import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const PACKAGE = "@photostructure/sqlite";
/** Systems with another C library than most have another file, which the package finds. */
const OTHER_LIBRARY = "/etc/alpine-release";

export type SqlValue = string | number | bigint | null;

/** A prepared statement whose rows have the columns that its text names. */
export interface Statement<Row> {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** The part of the driver that we use; the same in Node and in the package that stands in for it. */
export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare<Row>(sql: string): Statement<Row>;
  close(): void;
}

interface Driver {
  DatabaseSync: new (path: string, options: { readOnly?: boolean; timeout?: number }) => Database;
}

/** Opens a SQLite file with Node's own driver, or with the package that older versions of Node need. */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(path, { ...options, timeout: 0 });
  opened.add(realpathSync(path));
  return database;
}

/** Files that this process has opened as databases, at any time. */
const opened = new Set<string>();

/**
 * Says whether this process must not open a file other than as a database: to close it again, even after reading only,
 * gives up all locks that the process has on it.
 */
export function isDatabaseFile(realPath: string): boolean {
  return opened.has(realPath.replace(/-(wal|shm|journal)$/, ""));
}

function loadDriver(): Driver {
  const require = createRequire(import.meta.url);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  // What `require` gives is unknown to the compiler; both modules have this shape.
  if (major < 22 || (major === 22 && minor < 16)) return loadPackage(require);
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined; // Node 22 and 24 warn on first use that their driver is young
  try {
    return require("node:sqlite") as Driver;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The native part of the package has all that we use; the code around it takes longer to load than a short command. */
function loadPackage(require: NodeJS.Require): Driver {
  const native = existsSync(OTHER_LIBRARY) ? undefined : findNative(require);
  try {
    if (native !== undefined) return require(native) as Driver;
  } catch {
    // Made for another system: the package says so, or has one that was built here.
  }
  return require("@photostructure/sqlite") as Driver;
}

function findNative(require: NodeJS.Require): string | undefined {
  const below = join("prebuilds", `${process.platform}-${process.arch}`, "@photostructure+sqlite.glibc.node");
  return require.resolve
    .paths(PACKAGE)
    ?.map((dir) => join(dir, PACKAGE, below))
    .find((file) => existsSync(file));
}
