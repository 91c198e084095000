import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SECOND_MS } from "../../core/instant.ts";
import { UnreadableRows } from "../unreadable.ts";
import {
  busyRefusal,
  connectionTo,
  explainPostgresError,
  findServerKind,
  isConnectionError,
  isFull,
  isPoolerRefusal,
  isTooSlow,
  unknownOutcomeRefusal,
} from "./connect.ts";

const RECONNECT_MS = 250;
/** How long a server without a free connection is waited for: others give theirs back when they are idle. */
const FULL_WAIT_MS = 5 * SECOND_MS;
/** The part of a server's connections that one process uses. */
const SHARE = 0.1;
/** The least, and what is left of it where two servers and a worker would take all with their listeners. */
const LEAST = 2;
const FEW_CONNECTIONS = 10;
const LEAST_OF_FEW = 1;
/** How long this process then does with the connections that it has. */
const SHRUNK_MS = 10 * SECOND_MS;
const IDLE_MS = 5 * SECOND_MS;
/** The message of the library when none of its connections became free in time. */
const NONE_FREE = /timeout exceeded when trying to connect/;

/** A target for statements: the pool, or one of its connections. */
export interface Queryable {
  /** The rows that could not be read. */
  readonly unreadable?: UnreadableRows;
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/**
 * The connections of this process to one database. An unavailable database is reported as a refusal; broken connections
 * are replaced by the next statement. A server that has no connection left is waited for, with those that are there.
 */
export class PostgresPool implements Queryable {
  readonly unreadable = new UnreadableRows();
  #pool: pg.Pool;
  readonly #url: string;
  #size: number;
  #isPooled = false;
  #shrunkUntilMs = 0;

  constructor(url: string, size: number) {
    this.#url = url;
    this.#size = size;
    this.#pool = this.#create();
  }

  /** Whether a pooler such as PgBouncer is in between: the next transaction may be on another connection. */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  /** Makes the first connection, and finds out whether a pooler is in between. */
  async open(): Promise<void> {
    try {
      const { isPooled, mostConnections } = await this.use(findServerKind);
      this.#isPooled = isPooled;
      // A small server is shared by as many programs as a large one.
      const least = mostConnections < FEW_CONNECTIONS ? LEAST_OF_FEW : LEAST;
      this.#size = Math.min(this.#size, Math.max(least, Math.floor(mostConnections * SHARE)));
    } catch (error) {
      if (!isPoolerRefusal(error)) throw error;
      await this.#pool.end();
      this.#isPooled = true;
      this.#pool = this.#create();
    }
  }

  /** A statement that is prepared once per connection; behind a pooler each time. */
  prepared(name: string, text: string, values: unknown[]): pg.QueryConfig {
    return this.#isPooled ? { text, values } : { name, text, values };
  }

  /** Runs an idempotent statement, with one retry: a restarting server is back soon. */
  async query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#queryOnce<Row>(statement, values);
    } catch (error) {
      if (!isConnectionError(error) || isTooSlow(error)) throw explainPostgresError(this.#url, error);
    }
    await sleep(RECONNECT_MS);
    try {
      return await this.#queryOnce<Row>(statement, values);
    } catch (error) {
      throw explainPostgresError(this.#url, error);
    }
  }

  /**
   * Uses one connection for statements that must not be repeated. After a lost reply it is unknown whether they were
   * committed: the caller gets that refusal, and decides on what it reads then.
   */
  async use<Result>(body: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      return await body(client);
    } catch (error) {
      if (!isConnectionError(error)) throw explainPostgresError(this.#url, error);
      broken = unknownOutcomeRefusal(error);
      throw broken;
    } finally {
      client.release(broken);
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  #create() {
    const options = connectionTo(this.#url, { isPooled: this.#isPooled });
    const pool = new pg.Pool({ ...options, max: this.#size, idleTimeoutMillis: IDLE_MS });
    // The pool replaces broken connections; their user gets the error from the failed statement.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => client.on("error", () => undefined));
    return pool;
  }

  async #queryOnce<Row extends pg.QueryResultRow>(statement: string | pg.QueryConfig, values?: unknown[]) {
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      return await client.query<Row>(statement, values);
    } catch (error) {
      if (isConnectionError(error)) broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #connect() {
    const deadlineMs = performance.now() + FULL_WAIT_MS;
    for (let tries = 1; ; tries += 1) {
      if (performance.now() > this.#shrunkUntilMs) this.#pool.options.max = this.#size;
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (isPoolerRefusal(error)) throw error;
        if (isFull(error) && performance.now() < deadlineMs) this.#shrink();
        else if (isFull(error) || tries > 1) throw this.#explain(error);
      }
      // Nothing was sent yet, and a server that restarts is back soon.
      await sleep(RECONNECT_MS);
    }
  }

  /** Goes on with the connections that there are: the next caller waits for one of them. */
  #shrink() {
    this.#pool.options.max = Math.max(1, this.#pool.totalCount);
    this.#shrunkUntilMs = performance.now() + SHRUNK_MS;
  }

  #explain(error: unknown) {
    const isBusy = error instanceof Error && NONE_FREE.test(error.message) && this.#pool.totalCount > 0;
    return isBusy ? busyRefusal(this.#url, error) : explainPostgresError(this.#url, error);
  }
}

/** Commits what the body writes, or nothing of it. */
export async function inTransaction<Result>(client: Queryable, body: () => Promise<Result>): Promise<Result> {
  await client.query("begin");
  try {
    const result = await body();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined); // the connection may be what is lost
    throw error;
  }
}
