import type { Seal } from "../../core/changes.ts";
import {
  type CountRow,
  type JobRow,
  type LineHashRow,
  type QuestionRow,
  type RunRow,
  type StoreSnapshot,
  type StoredEntry,
  type StoredLine,
  type StoredQuestion,
  SNAPSHOT_SQL,
  toLineHashes,
  toRowCounts,
  toStoredJob,
  toStoredQuestion,
  toStoredRun,
} from "../snapshot.ts";
import { nextTurn } from "../next-turn.ts";
import { SqliteArchive } from "./archive.ts";
import type { Connection } from "./connection.ts";

/** How many lines are sorted at a time, so that the process can do other work in between. */
const ORDERED_AT_ONCE = 10_000;

// The trail has no index by run, which every event would have to update: a temporary one is built on disk.
const BEGIN = `pragma temp_store = file;
create temp table line (run_id text, n integer, seq integer, primary key (run_id, n, seq)) without rowid;
begin;`;
const LAST_LINE = "select coalesce(max(seq), 0) as seq from event";
const PUT_IN_ORDER = `insert into temp.line (run_id, n, seq)
  select run_id, n, seq from event where seq > ? and seq <= ?`;
const RUNS = `select ${SNAPSHOT_SQL.runColumns}, chain_seq from run where id > ? order by id limit ?`;
const QUESTIONS = `select ${SNAPSHOT_SQL.questionColumns}, "row" from question
  where (run_id, key) > (?, ?) order by run_id, key limit ?`;
const PUT_ARCHIVED = `insert into temp.line (run_id, n, seq)
  select value ->> 0, value ->> 1, value ->> 2 from json_each(?) where true on conflict do nothing`;
// A line without a hash is in the archive.
const LINES = `select line.run_id, line.n, event.hash, event.body, line.seq, event.before
  from temp.line left join event on event.seq = line.seq
  where (line.run_id, line.n, line.seq) > (?, ?, ?) order by line.run_id, line.n, line.seq limit ?`;
const RUNS_BY_ID = `select ${SNAPSHOT_SQL.runColumns}, chain_seq from run where id in (select value from json_each(?))`;
const LINES_OF = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select run_id, n, hash, body, seq, before from event where seq in chain order by seq`;
const PLACES_OF = "select seq from temp.line where run_id = ? order by n, seq";
const LINE_HASHES = `select line.run_id, line.n, line.seq, event.hash, coalesce(run.number, 0) as number
  from json_each(?) wanted
  cross join temp.line on line.run_id = wanted.value ->> 0 and line.n = wanted.value ->> 1
  left join event on event.seq = line.seq left join run on run.id = line.run_id`;

/** Reads a snapshot of the store, on a connection of its own. */
export async function readSqliteSnapshot<Result>(
  from: Connection,
  read: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  const connection = await from.lookAgain();
  try {
    const snapshot = await SqliteSnapshot.take(connection);
    return await read(snapshot);
  } finally {
    connection.close();
  }
}

class SqliteSnapshot implements StoreSnapshot {
  readonly #connection: Connection;
  readonly #archive: SqliteArchive;
  readonly #lastSeq: number;
  /** How many of the contents that were read are in the archive. */
  #archivedContents = 0;
  #order: Promise<void> | undefined;

  private constructor(connection: Connection, lastSeq: number) {
    this.#connection = connection;
    this.#archive = new SqliteArchive(connection);
    this.#lastSeq = lastSeq;
  }

  static async take(connection: Connection) {
    const last = await connection.read(() => {
      if (!connection.database.isTransaction) connection.database.exec(BEGIN);
      // The first read after "begin" fixes the snapshot.
      return connection.prepare<{ seq: number }>(LAST_LINE).get()?.seq ?? 0;
    });
    return new SqliteSnapshot(connection, last);
  }

  /** Sorts the lines when they are first read in the order of their runs. */
  #putInOrder() {
    return (this.#order ??= this.#sortLines());
  }

  async #sortLines() {
    // No line is ever written at such a position, but a planted one must be found.
    await this.#run(PUT_IN_ORDER, Number.MIN_SAFE_INTEGER, 0);
    for (let done = 0; done < this.#lastSeq; done += ORDERED_AT_ONCE) {
      await this.#run(PUT_IN_ORDER, done, done + ORDERED_AT_ONCE);
      await nextTurn();
    }
    for (let seq = 0; ;) {
      const after = seq;
      const lines = await this.#readArchive((archive) =>
        archive.linesAfter(after, { upTo: Number.MAX_SAFE_INTEGER, limit: ORDERED_AT_ONCE }),
      );
      if (lines.length === 0) break;
      await this.#run(PUT_ARCHIVED, JSON.stringify(lines.map((line) => [line.runId, line.n, line.seq])));
      seq = lines.at(-1)?.seq ?? 0;
      await nextTurn();
    }
  }

  async listRuns(after: string, limit: number) {
    const rows = await this.#all<RunRow>(RUNS, after, limit);
    return this.#readArchive((archive) => archive.fill(rows).map((row) => toStoredRun(row, asItIs)));
  }

  async readRuns(ids: readonly string[]) {
    const rows = await this.#all<RunRow>(RUNS_BY_ID, JSON.stringify(ids));
    return this.#readArchive((archive) => archive.fill(rows).map((row) => toStoredRun(row, asItIs)));
  }

  async listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number) {
    const rows = await this.#all<QuestionRow>(QUESTIONS, after?.runId ?? "", after?.key ?? "", limit);
    return this.#readArchive((archive) => archive.fill(rows).map((row) => toStoredQuestion(row, asItIs)));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    await this.#putInOrder();
    const { runId, n, seq } = after ?? { runId: "", n: 0, seq: 0 };
    const rows = await this.#all<Omit<LineRow, "hash"> & { hash: string | null }>(LINES, runId, n, seq, limit);
    return this.#readArchive((archive) =>
      rows.flatMap(({ hash, ...row }) =>
        hash === null ? (archive.findLine(row.seq) ?? []) : toLine({ ...row, hash }),
      ),
    );
  }

  listDamagedPages() {
    return this.#archive.damaged;
  }

  async readLinesOf(runId: string) {
    const hot = (await this.#all<LineRow>(LINES_OF, runId)).map(toLine);
    const archived = await this.#readArchive((archive) => [...archive.chainBack(runId)].reverse());
    if (this.#archive.damaged.length === 0) return [...archived, ...hot];
    // Lines lead back to the one before them, so those before a damaged page are found in the list of all lines alone.
    await this.#putInOrder();
    const rows = await this.#all<{ seq: number }>(PLACES_OF, runId);
    const found = await this.#readArchive((archive) => rows.flatMap(({ seq }) => archive.findLine(seq) ?? []));
    return [...found, ...hot];
  }

  listJobs(after: string, limit: number) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key > ? order by key limit ?`, after, limit);
  }

  async readFeedHashes(after: string, upTo: string) {
    const sql = "select hash from event where seq > ? and seq <= ? order by seq";
    const rows = await this.#all<{ hash: string }>(sql, Number(after), Number(upTo));
    const archived = await this.#readArchive((archive) =>
      archive.linesAfter(Number(after), { upTo: Number(upTo), limit: Infinity }),
    );
    return [...archived, ...rows].map(({ hash }) => hash);
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>("select n, hash, body from seal where n > ? order by n limit ?", afterN, limit);
  }

  async readContents(names: readonly string[]) {
    const sql = "select hash, body from content where hash in (select value from json_each(?))";
    const rows = await this.#all<{ hash: string; body: string }>(sql, JSON.stringify(names));
    const texts = new Map(rows.map(({ hash, body }) => [hash, body]));
    const archived = await this.#readArchive((archive) =>
      archive.findContents(names.filter((name) => !texts.has(name))),
    );
    this.#archivedContents += archived.size;
    return new Map([...archived, ...texts]);
  }

  readJobs(keys: readonly string[]) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key in (select value from json_each(?))`, JSON.stringify(keys));
  }

  listContents(after: string, limit: number) {
    const sql = "select hash, body from content where hash > ? order by hash limit ?";
    return this.#all<{ hash: string; body: string }>(sql, after, limit);
  }

  listEntries(kind: string, after: string, limit: number) {
    const sql = `select kind, id, parent, version, body from entry
      where kind = ? and id > ? order by id limit ?`;
    return this.#all<StoredEntry>(sql, kind, after, limit);
  }

  readEntries(kind: string, ids: readonly string[]) {
    const sql = `select kind, id, parent, version, body from entry
      where kind = ? and id in (select value from json_each(?))`;
    return this.#all<StoredEntry>(sql, kind, JSON.stringify(ids));
  }

  async readLines(lines: ReadonlyArray<{ runId: string; n: number }>) {
    await this.#putInOrder();
    const wanted = JSON.stringify(lines.map(({ runId, n }) => [runId, n]));
    const rows = await this.#all<LineHashRow & { seq: number; hash: string | null }>(LINE_HASHES, wanted);
    return this.#readArchive((archive) =>
      toLineHashes(rows.map((row) => ({ ...row, hash: row.hash ?? archive.findLine(row.seq)?.hash ?? "" }))),
    );
  }

  async countRows() {
    return toRowCounts(
      await this.#all<CountRow>(SNAPSHOT_SQL.countContents),
      await this.#all<CountRow>(SNAPSHOT_SQL.countEntries),
      this.#archivedContents,
    );
  }

  async #jobs(sql: string, ...values: Array<string | number>) {
    return (await this.#all<JobRow>(sql, ...values)).map((row) => toStoredJob(row, asItIs));
  }

  #readArchive<Result>(body: (archive: SqliteArchive) => Result) {
    return this.#connection.read(() => body(this.#archive));
  }

  #run(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare(sql).run(...values));
  }

  #all<Row>(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

type LineRow = Omit<StoredLine, "runId" | "xid"> & { run_id: string };

function toLine({ run_id: runId, ...row }: LineRow): StoredLine {
  return { ...row, runId, xid: 0 };
}

/** SQLite stores every name. */
function asItIs(name: string) {
  return name;
}
