import type { Connection } from "./connection.ts";

/** A run row as far as a writer has to know it. */
export interface KeptRun {
  number: number;
  version: number;
  host: string;
  agent: string;
  session: string | null;
  name: string;
  external_id: string | null;
  parent_id: string | null;
  status: string;
  ended_at: string | null;
  chain_n: number;
  chain_hash: string;
  chain_seq: number;
}

export interface KeptQuestion {
  row: number;
  version: number;
  status: string;
}

/** How far the tables go, and who may write. */
export interface Ends {
  writable_by: number;
  seq: number;
  number: number;
  row: number;
  /** Ids follow time: one that is greater than the last of its kind is new. */
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
 * What a writer knows of the rows it changes. Inside a write transaction that holds for as long as no other connection
 * has written since the last one, which SQLite counts: a process that writes alone need not read before it writes.
 */
export class SqliteKept {
  readonly #connection: Connection;
  readonly #runs = new Map<string, KeptRun>();
  readonly #questions = new Map<string, KeptQuestion>();
  #ends: Ends | undefined;
  #version = -1;
  #attempt = 0;
  #lastAttempt = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Called first in every write transaction; undefined where there is no store. */
  begin(): Ends | undefined {
    const version = this.#connection.prepare<{ data_version: number }>(VERSION).get()?.data_version ?? 0;
    if (version !== this.#version) this.#forgetRows();
    if (this.#runs.size + this.#questions.size > REMEMBERED) this.#forgetRows();
    this.#version = version;
    this.#ends ??= this.#connection.prepare<Ends>(ENDS).get();
    return this.#ends;
  }

  /** What was written is undone: nothing that is remembered can be relied on. */
  forget(): void {
    this.#forgetRows();
    this.#attempt = this.#lastAttempt = 0;
  }

  findRun(id: string): KeptRun | undefined {
    if (this.#ends !== undefined && id > this.#ends.run_id) return undefined;
    return find(this.#runs, id, () => this.#connection.prepare<KeptRun>(RUN).get(id));
  }

  findQuestion(id: string): KeptQuestion | undefined {
    if (this.#ends !== undefined && id > this.#ends.question_id) return undefined;
    return find(this.#questions, id, () => this.#connection.prepare<KeptQuestion>(QUESTION).get(id));
  }

  putRun(id: string, run: KeptRun): void {
    this.#runs.set(id, run);
    if (this.#ends !== undefined && id > this.#ends.run_id) this.#ends.run_id = id;
  }

  putQuestion(id: string, question: KeptQuestion): void {
    this.#questions.set(id, question);
    if (this.#ends !== undefined && id > this.#ends.question_id) this.#ends.question_id = id;
  }

  /**
   * A number that no other transaction of this store has: a job that was dropped and scheduled anew must not get
   * the attempt of a worker that still has the old one in hand. They are taken from the store many at a time.
   */
  nextAttempt(): number {
    if (this.#attempt === this.#lastAttempt) {
      const reserved = this.#connection.prepare<{ attempt: number }>(RESERVE).get(RESERVED_AT_ONCE);
      this.#lastAttempt = reserved?.attempt ?? 0;
      this.#attempt = this.#lastAttempt - RESERVED_AT_ONCE;
    }
    return (this.#attempt += 1);
  }

  #forgetRows(): void {
    this.#runs.clear();
    this.#questions.clear();
    this.#ends = undefined;
  }
}

function find<Row>(known: Map<string, Row>, id: string, read: () => Row | undefined): Row | undefined {
  const row = known.get(id) ?? read();
  if (row !== undefined) known.set(id, row);
  return row;
}
