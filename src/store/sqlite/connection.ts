import { Refusal } from "../../core/refusal.ts";
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openDatabase, openFixedDatabase, type Database, type SqlValue, type Statement } from "../../sqlite.ts";
import { explainSqliteError, isBusy } from "./error.ts";
import { INDEX, listFileUsers } from "./file-users.ts";
import { findReadOnly } from "./read-only.ts";
import { UnreadableRows } from "../unreadable.ts";
import { requireNoRestore } from "./restore-mark.ts";
import { damagedFile, isMarkedAsOwn, markAsOwn, requireOwnTables, requireStoreFile } from "./identity.ts";

/** How long a lock held by another process is waited for. */
const LOCK_MS = 10_000;
const SYNCHRONOUS_FULL = 2;
/** More than the default of 1000 pages: fewer checkpoints, each with two syncs of its own. */
const CHECKPOINT_PAGES = 4000;

const ROWS_PER_CALL = [16, 4, 1] as const;

/** The statements that insert that many rows at once. */
type Insert = Record<(typeof ROWS_PER_CALL)[number], string>;

/** Builds the statements that insert into a table with these columns. */
export function insertInto(table: string, columns: readonly string[], onConflict = ""): Insert {
  const marks = `(${columns.map(() => "?").join(", ")})`;
  const text = (count: number) =>
    `insert into ${table} (${columns.join(", ")}) values ${Array(count).fill(marks).join(", ")} ${onConflict}`;
  return { 16: text(16), 4: text(4), 1: text(1) };
}

/** One connection to the file. It never waits inside the driver, so the event loop continues while others write. */
export class Connection {
  readonly path: string;
  readonly database: Database;
  readonly unreadable = new UnreadableRows();
  readonly #statements = new Map<string, Statement<unknown>>();
  /** A copy that is deleted with the connection. */
  readonly #copy: string | undefined;
  readonly #isUntouched: boolean;
  #hasWritten = false;

  private constructor(path: string, database: Database, as: { isUntouched?: true; copy?: string } = {}) {
    this.path = path;
    this.database = database;
    this.#isUntouched = as.isUntouched ?? false;
    this.#copy = as.copy;
  }

  /**
   * Opens the file so that acknowledged commits survive power loss; `check` looks for damage first. A file that is not
   * an askd store stays unchanged, unless it is new.
   */
  static async open(path: string, { check, isNew = false }: { check: boolean; isNew?: boolean }): Promise<Connection> {
    requireNoRestore(path);
    // A writable connection changes the file when it closes: it checkpoints the log.
    if (!isNew && !requireStoreFile(path)) (await Connection.look(path)).close();
    // A log without a process that has the file open was left by a killed process.
    const wasKilled = check && isNobodys(path);
    const connection = new Connection(
      path,
      explained(path, () => openDatabase(path)),
    );
    try {
      await connection.read(() => connection.database.exec("pragma schema_version"));
      // Again, now that it is open: a restore that began before sees this process, one that began later is seen here.
      requireNoRestore(path);
      if (!isNew) await connection.read(() => requireOwnTables(path, connection.database));
      await connection.read(() => connection.#setUp());
      if (wasKilled) await connection.read(() => connection.#requireWhole());
      return connection;
    } catch (error) {
      connection.database.close();
      throw error;
    }
  }

  /** Opens an existing store read-only; nothing about it changes. */
  static async look(path: string): Promise<Connection> {
    requireNoRestore(path);
    requireStoreFile(path);
    const isFixed = findReadOnly(path) !== undefined && !needsLog(path);
    return Connection.#requireOwn(
      new Connection(
        path,
        explained(path, () => (isFixed ? openFixedDatabase(path) : openDatabase(path, { readOnly: true }))),
      ),
    );
  }

  /**
   * Opens an existing store without writing a byte in its folder: SQLite makes an index of the log beside a file even to
   * read it. A file that a process has open has both already. One without a log is read as it is, and one with a log
   * from a copy of both.
   */
  static async lookUntouched(path: string): Promise<Connection> {
    requireNoRestore(path);
    requireStoreFile(path);
    if (listFileUsers(path, [INDEX]).length > 0) return Connection.look(path);
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (log === undefined || log.size === 0) {
      const database = explained(path, () => openFixedDatabase(path));
      return Connection.#requireOwn(new Connection(path, database, { isUntouched: true }));
    }
    const canSeeUsers = process.platform === "linux";
    if (!canSeeUsers) return Connection.look(path);
    const copy = mkdtempSync(join(tmpdir(), "askd-look-"));
    const file = join(copy, basename(path));
    try {
      for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${file}${end}`);
      const database = explained(path, () => openDatabase(file, { readOnly: true }));
      return await Connection.#requireOwn(new Connection(file, database, { copy }));
    } catch (error) {
      rmSync(copy, { recursive: true, force: true });
      throw error;
    }
  }

  static async #requireOwn(connection: Connection) {
    try {
      await connection.read(() => requireOwnTables(connection.path, connection.database));
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Opens the same file once more to read it, in the same way. */
  lookAgain(): Promise<Connection> {
    return this.#isUntouched ? Connection.lookUntouched(this.path) : Connection.look(this.path);
  }

  /** The statement with this text, compiled once. */
  prepare<Row>(sql: string): Statement<Row> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.database.prepare(sql)));
    return statement as Statement<Row>; // who writes the text says what its rows are
  }

  /** Inserts many rows with few calls: a call of the driver costs as much as the row. */
  insert(into: Insert, rows: ReadonlyArray<readonly SqlValue[]>): void {
    let done = 0;
    for (const count of ROWS_PER_CALL) {
      if (rows.length - done < count) continue;
      const statement = this.prepare(into[count]);
      for (; rows.length - done >= count; done += count) statement.run(...valuesOf(rows, done, count));
    }
  }

  /** Runs reads that need no common snapshot. */
  read<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(body);
  }

  /** Runs reads in one snapshot. */
  snapshot<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(() => this.#within("begin", body));
  }

  /** Runs the body in one write transaction: everything is on disk when the promise resolves, or nothing. */
  transact<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(() => {
      const result = this.#within("begin immediate", body);
      this.#hasWritten = true;
      return result;
    });
  }

  /** Marks a store of an earlier version as an askd store. */
  async markAsOwn(): Promise<void> {
    const isMarked = await this.read(() => isMarkedAsOwn(this.database));
    if (!isMarked) await this.transact(() => markAsOwn(this.database));
  }

  close(): void {
    if (this.#hasWritten) this.#emptyLog();
    this.#statements.clear();
    this.database.close();
    if (this.#copy !== undefined) rmSync(this.#copy, { recursive: true, force: true });
  }

  /** An empty log tells the next process that no writer was killed. */
  #emptyLog() {
    try {
      this.database.prepare("pragma wal_checkpoint(truncate)").all();
    } catch {
      // On a full disk, for example. Nothing is lost: the log has everything, and the next process to open checks the
      // file.
    }
  }

  #within<Result>(begin: string, body: () => Result) {
    this.prepare(begin).run();
    try {
      const result = body();
      this.prepare("commit").run();
      return result;
    } catch (error) {
      if (this.database.isTransaction) this.database.exec("rollback");
      throw error;
    }
  }

  async #whenFree<Result>(body: () => Result) {
    let deadline: number | undefined;
    for (;;) {
      try {
        return body();
      } catch (error) {
        // The clock is loaded on first use: hardly any process has to wait.
        deadline ??= performance.now() + LOCK_MS;
        if (!isBusy(error) || performance.now() > deadline) throw explainSqliteError(error, this.path);
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4));
    }
  }

  #setUp() {
    const { database } = this;
    database.exec("pragma busy_timeout = 0");
    const journal = database.prepare<{ journal_mode: string }>("pragma journal_mode = wal").get();
    database.exec("pragma synchronous = full; pragma foreign_keys = on; pragma trusted_schema = off");
    database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    const durability = database.prepare<{ synchronous: number }>("pragma synchronous").get();
    if (journal?.journal_mode !== "wal" || durability?.synchronous !== SYNCHRONOUS_FULL) {
      throw new Refusal("store_unusable", `${this.path} cannot be made safe against loss of power.`, {
        hint: "Put the store on a local disk.",
      });
    }
  }

  #requireWhole() {
    const found = this.database.prepare<{ quick_check: string }>("pragma quick_check(1)").get();
    if (found?.quick_check !== "ok") throw damagedFile(this.path, found?.quick_check);
  }
}

// `slice` and `flat` take longer than the row takes to write.
function valuesOf(rows: ReadonlyArray<readonly SqlValue[]>, first: number, count: number) {
  const values: SqlValue[] = [];
  for (let index = first; index < first + count; index += 1) for (const value of rows[index] ?? []) values.push(value);
  return values;
}

/** Says whether a log has changes that are not in the file; SQLite cannot read it without an index that it can write. */
function needsLog(path: string) {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return false;
  if (existsSync(`${path}-shm`)) return true;
  throw new Refusal("store_unusable", `${path} has changes in its log that cannot be read on a read-only disk.`, {
    hint: `Read a copy: copy ${basename(path)} and ${basename(path)}-wal into a folder that you can write, then use --store.`,
  });
}

/** Says whether no process has the store open, damaged or not; one that is missing has no user. */
export function isUnused(path: string): boolean {
  if (!existsSync(path)) return true;
  try {
    return isNobodys(path);
  } catch {
    return true; // too damaged to be opened by anybody
  }
}

/** Says whether no process has the file open. */
function isNobodys(path: string) {
  // On a separate connection: in exclusive mode, one that finds a log keeps others out until it is closed. Without a
  // prepared statement: the driver closes a connection only when all of its statements are collected.
  const database = explained(path, () => openDatabase(path));
  try {
    database.exec("pragma locking_mode = exclusive; select 1 from sqlite_schema");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw explainSqliteError(error, path);
  } finally {
    database.close();
  }
}

function explained<Result>(path: string, body: () => Result) {
  try {
    return body();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}
