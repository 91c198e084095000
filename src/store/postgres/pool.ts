import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionTo, explainPostgresError, isConnectionError, unknownOutcomeRefusal } from "./connect.ts";

const RECONNECT_MS = 250;

/** A target for statements: the pool, or one of its connections. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/**
 * The connections of this process to one database. An unavailable database is reported as a refusal; broken connections
 * are replaced by the next statement, so nothing waits for the database.
 */
export class PostgresPool implements Queryable {
  readonly #pool: pg.Pool;
  readonly #url: string;

  constructor(url: string, size: number) {
    this.#url = url;
    this.#pool = new pg.Pool({ ...connectionTo(url), max: size });
    // The pool replaces broken connections; their user gets the error from the failed statement.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /** Runs an idempotent statement, with one retry: a restarting server is back soon. */
  async query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#pool.query<Row>(statement, values);
    } catch (error) {
      if (!isConnectionError(error)) throw explainPostgresError(this.#url, error);
    }
    await sleep(RECONNECT_MS);
    try {
      return await this.#pool.query<Row>(statement, values);
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

  async #connect() {
    try {
      return await this.#pool.connect();
    } catch {
      await sleep(RECONNECT_MS); // nothing was sent yet, and a server that restarts is back soon
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw explainPostgresError(this.#url, error);
    }
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
