import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionTo, explain, isAway, unknownOutcome } from "./connect.ts";

const RECONNECT_MS = 250;

/** Somewhere to send statements to: the pool, or one connection of it. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/**
 * The connections of this process to one database. What fails because the database is away is a refusal that says so;
 * connections that broke are replaced by the next statement that wants one, so nobody has to wait for the database.
 */
export class PostgresPool implements Queryable {
  readonly #pool: pg.Pool;
  readonly #url: string;

  constructor(url: string, size: number) {
    this.#url = url;
    this.#pool = new pg.Pool({ ...connectionTo(url), max: size });
    // Broken connections are replaced by the pool; whoever was using one hears of it from the statement that failed.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /** Runs a statement that may be run twice: a server that restarts is back soon, so it gets a second try. */
  async query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#pool.query<Row>(statement, values);
    } catch (error) {
      if (!isAway(error)) throw explain(this.#url, error);
    }
    await sleep(RECONNECT_MS);
    try {
      return await this.#pool.query<Row>(statement, values);
    } catch (error) {
      throw explain(this.#url, error);
    }
  }

  /**
   * Uses one connection for statements that must not be sent twice. Once they were sent, a lost reply leaves open
   * whether they were kept: the caller is told that nobody knows, and decides on what it reads then.
   */
  async use<Result>(body: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      return await body(client);
    } catch (error) {
      if (!isAway(error)) throw explain(this.#url, error);
      broken = unknownOutcome(error);
      throw broken;
    } finally {
      client.release(broken);
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch {
      await sleep(RECONNECT_MS); // nothing was sent yet, and a server that restarts is back soon
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw explain(this.#url, error);
    }
  }
}
