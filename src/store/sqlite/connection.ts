import { Refusal } from "../../core/refusal.ts";
import { openDatabase, type Database, type SqlValue, type Statement } from "../../sqlite.ts";
import { explain, isBusy } from "./error.ts";
import { damagedFile, isOwn, markAsOwn, requireOwnTables, requireStoreFile } from "./identity.ts";

/** How long we try to get a lock that another process has. */
const LOCK_MS = 10_000;
const SYNCHRONOUS_FULL = 2;
/** More than the default of 1000 pages: fewer checkpoints, each with two syncs of its own. */
const CHECKPOINT_PAGES = 4000;

const ROWS_PER_CALL = [16, 4, 1] as const;

/** The texts that insert so many rows at once. */
type Insert = Record<(typeof ROWS_PER_CALL)[number], string>;

/** Writes out the statements that insert into a table with these columns. */
export function insertInto(table: string, columns: readonly string[], onConflict = ""): Insert {
  const marks = `(${columns.map(() => "?").join(", ")})`;
  const text = (count: number): string =>
    `insert into ${table} (${columns.join(", ")}) values ${Array(count).fill(marks).join(", ")} ${onConflict}`;
  return { 16: text(16), 4: text(4), 1: text(1) };
}

/** One connection to the file. It never waits inside the driver, so the loop goes on while others write. */
export class Connection {
  readonly path: string;
  readonly database: Database;
  readonly #statements = new Map<string, Statement<unknown>>();
  #hasWritten = false;

  private constructor(path: string, database: Database) {
    this.path = path;
    this.database = database;
  }

  /**
   * Opens the file with every acknowledged commit safe against loss of power; `check` looks for damage first. Nothing
   * about a file changes that is not a store of ours, unless it is a new one.
   */
  static async open(path: string, { check, isNew = false }: { check: boolean; isNew?: boolean }): Promise<Connection> {
    // A connection that may write changes a file when it closes: what is in its log is moved over.
    if (!isNew && !requireStoreFile(path)) (await Connection.look(path)).close();
    // Whoever left a log behind and has the file no longer open was killed.
    const wasKilled = check && isNobodys(path);
    const connection = new Connection(
      path,
      explained(path, () => openDatabase(path)),
    );
    try {
      if (!isNew) await connection.read(() => requireOwnTables(path, connection.database));
      await connection.read(() => connection.#setUp());
      if (wasKilled) await connection.read(() => connection.#requireWhole());
      return connection;
    } catch (error) {
      connection.database.close();
      throw error;
    }
  }

  /** Opens a store that is there for reading only; nothing about it changes. */
  static async look(path: string): Promise<Connection> {
    requireStoreFile(path);
    const connection = new Connection(
      path,
      explained(path, () => openDatabase(path, { readOnly: true })),
    );
    try {
      await connection.read(() => requireOwnTables(path, connection.database));
      return connection;
    } catch (error) {
      connection.database.close();
      throw error;
    }
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

  /** Runs a few reads that need no common snapshot. */
  read<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(body);
  }

  /** Runs reads that must see the same moment. */
  snapshot<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(() => this.#within("begin", body));
  }

  /** Runs the body inside one write transaction: all of it is on disk when the promise resolves, or nothing. */
  transact<Result>(body: () => Result): Promise<Result> {
    return this.#whenFree(() => {
      const result = this.#within("begin immediate", body);
      this.#hasWritten = true;
      return result;
    });
  }

  /** Has a store that was made before it said so say whose it is. */
  async markAsOwn(): Promise<void> {
    const isMarked = await this.read(() => isOwn(this.database));
    if (!isMarked) await this.transact(() => markAsOwn(this.database));
  }

  close(): void {
    if (this.#hasWritten) this.#emptyLog();
    this.#statements.clear();
    this.database.close();
  }

  /** An empty log is how the next one to open knows that nobody was killed while writing. */
  #emptyLog(): void {
    try {
      this.database.prepare("pragma wal_checkpoint(truncate)").all();
    } catch {
      // On a full disk, say. Nothing is lost: the log has it all, and the next one to open looks closer.
    }
  }

  #within<Result>(begin: string, body: () => Result): Result {
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

  async #whenFree<Result>(body: () => Result): Promise<Result> {
    let deadline: number | undefined;
    for (;;) {
      try {
        return body();
      } catch (error) {
        // The clock is loaded when it is first looked at, and hardly anybody has to wait.
        deadline ??= performance.now() + LOCK_MS;
        if (!isBusy(error) || performance.now() > deadline) throw explain(error, this.path);
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4));
    }
  }

  #setUp(): void {
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

  #requireWhole(): void {
    const found = this.database.prepare<{ quick_check: string }>("pragma quick_check(1)").get();
    if (found?.quick_check !== "ok") throw damagedFile(this.path, found?.quick_check);
  }
}

// `slice` and `flat` take longer than the row takes to write.
function valuesOf(rows: ReadonlyArray<readonly SqlValue[]>, first: number, count: number): SqlValue[] {
  const values: SqlValue[] = [];
  for (let index = first; index < first + count; index += 1) for (const value of rows[index] ?? []) values.push(value);
  return values;
}

/** Says whether no process has the file open at this moment. */
function isNobodys(path: string): boolean {
  // On a connection of its own: one that meets a log in exclusive mode keeps everybody else out until it is closed.
  // And without a prepared statement: the driver closes a connection only when all of its statements are collected.
  const database = explained(path, () => openDatabase(path));
  try {
    database.exec("pragma locking_mode = exclusive; select 1 from sqlite_schema");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw explain(error, path);
  } finally {
    database.close();
  }
}

function explained<Result>(path: string, body: () => Result): Result {
  try {
    return body();
  } catch (error) {
    throw explain(error, path);
  }
}
