import type { RunRow } from "../snapshot.ts";
import type { Connection } from "./connection.ts";

/** The columns of a run that a writer needs. */
export type CachedRun = Omit<RunRow, "id" | "body"> & { chain_seq: number };

export interface CachedQuestion {
  row: number;
  version: number;
  status: string;
}

/** The last row of each table, and which schema may write. */
export interface TableEnds {
  writable_by: number;
  seq: number;
  number: number;
  row: number;
  /** Ids sort by time: one greater than the last is new. */
  run_id: string;
  question_id: string;
}

const VERSION = "pragma data_version";
const ENDS = `select writable_by,
  (select coalesce(max(seq), 0) from event) as seq,
  (select coalesce(max(number), 0) from run) as number,
  (select coalesce(max("row"), 0) from question) as "row",
  (select coalesce(max(id), '') from run) as run_id,
  (select coalesce(max(id), '') from question) as question_id from meta`;
const RUN = `select number, version, host, agent, session, name, external_id, parent_id, status, ended_at,
  chain_n, chain_hash, chain_seq from run where id = ?`;
const QUESTION = `select "row", version, status from question where id = ?`;
const RESERVE = "update meta set attempt = attempt + ? returning attempt";

const RESERVED_AT_ONCE = 1_000;
const REMEMBERED = 40_000;

/**
 * Caches the rows a writer changes. Inside a write transaction the cache is valid as long as no other connection has
 * written since the last one, which SQLite counts: a process that writes alone need not read first.
 */
export class WriterCache {
  readonly #connection: Connection;
  readonly #runs = new Map<string, CachedRun>();
  readonly #questions = new Map<string, CachedQuestion>();
  #ends: TableEnds | undefined;
  #version = -1;
  #attempt = 0;
  #lastAttempt = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Must be called first in every write transaction; undefined if there is no store. */
  begin(): TableEnds | undefined {
    const version = this.#connection.prepare<{ data_version: number }>(VERSION).get()?.data_version ?? 0;
    if (version !== this.#version) this.#forgetRows();
    if (this.#runs.size + this.#questions.size > REMEMBERED) this.#forgetRows();
    this.#version = version;
    this.#ends ??= this.#connection.prepare<TableEnds>(ENDS).get();
    return this.#ends;
  }

  /** Clears the cache after a rollback. */
  forget(): void {
    this.#forgetRows();
    this.#attempt = this.#lastAttempt = 0;
  }

  findRun(id: string): CachedRun | undefined {
    if (this.#ends !== undefined && id > this.#ends.run_id) return undefined;
    return find(this.#runs, id, () => this.#connection.prepare<CachedRun>(RUN).get(id));
  }

  findQuestion(id: string): CachedQuestion | undefined {
    if (this.#ends !== undefined && id > this.#ends.question_id) return undefined;
    return find(this.#questions, id, () => this.#connection.prepare<CachedQuestion>(QUESTION).get(id));
  }

  putRun(id: string, run: CachedRun): void {
    this.#runs.set(id, run);
    if (this.#ends !== undefined && id > this.#ends.run_id) this.#ends.run_id = id;
  }

  putQuestion(id: string, question: CachedQuestion): void {
    this.#questions.set(id, question);
    if (this.#ends !== undefined && id > this.#ends.question_id) this.#ends.question_id = id;
  }

  /**
   * A number unique among the transactions of this store: a job dropped and scheduled anew must not reuse the attempt
   * of a worker that still has the old one. Numbers are reserved in blocks.
   */
  nextAttempt(): number {
    if (this.#attempt === this.#lastAttempt) {
      const reserved = this.#connection.prepare<{ attempt: number }>(RESERVE).get(RESERVED_AT_ONCE);
      this.#lastAttempt = reserved?.attempt ?? 0;
      this.#attempt = this.#lastAttempt - RESERVED_AT_ONCE;
    }
    return (this.#attempt += 1);
  }

  #forgetRows() {
    this.#runs.clear();
    this.#questions.clear();
    this.#ends = undefined;
  }
}

function find<Row>(known: Map<string, Row>, id: string, read: () => Row | undefined) {
  const row = known.get(id) ?? read();
  if (row !== undefined) known.set(id, row);
  return row;
}
