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
import { Connection } from "./connection.ts";

/** How many lines are sorted at a time, so that the process can do other work in between. */
const ORDERED_AT_ONCE = 10_000;

// The trail has no index by run, which every event would have to update: a temporary one is built on disk.
const MAKE_ORDER = `pragma temp_store = file;
create temp table line (run_id text, n integer, seq integer, primary key (run_id, n, seq)) without rowid;
begin;`;
const LAST_LINE = "select coalesce(max(seq), 0) as seq from event";
const PUT_IN_ORDER = `insert into temp.line (run_id, n, seq)
  select run_id, n, seq from event where seq > ? and seq <= ?`;
const RUNS = `select ${SNAPSHOT_SQL.runColumns}, chain_seq from run where id > ? order by id limit ?`;
const QUESTIONS = `select ${SNAPSHOT_SQL.questionColumns} from question
  where (run_id, key) > (?, ?) order by run_id, key limit ?`;
const LINES = `select event.run_id, event.n, event.hash, event.body, event.seq, event.before
  from temp.line cross join event on event.seq = line.seq
  where (line.run_id, line.n, line.seq) > (?, ?, ?) order by line.run_id, line.n, line.seq limit ?`;
const LINE_HASHES = `select line.run_id, line.n, event.hash, coalesce(run.number, 0) as number
  from json_each(?) wanted
  cross join temp.line on line.run_id = wanted.value ->> 0 and line.n = wanted.value ->> 1
  cross join event on event.seq = line.seq left join run on run.id = line.run_id`;

/** Reads a snapshot of the store, on a connection of its own. */
export async function readSqliteSnapshot<Result>(
  path: string,
  read: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.look(path);
  try {
    const snapshot = await SqliteSnapshot.take(connection);
    return await read(snapshot);
  } finally {
    connection.close();
  }
}

class SqliteSnapshot implements StoreSnapshot {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async take(connection: Connection) {
    const last = await connection.read(() => {
      if (!connection.database.isTransaction) connection.database.exec(MAKE_ORDER);
      // The first read after "begin" fixes the snapshot.
      return connection.prepare<{ seq: number }>(LAST_LINE).get()?.seq ?? 0;
    });
    const put = connection.prepare(PUT_IN_ORDER);
    // No line is ever written at such a position, but a planted one must be found.
    put.run(Number.MIN_SAFE_INTEGER, 0);
    for (let done = 0; done < last; done += ORDERED_AT_ONCE) {
      put.run(done, done + ORDERED_AT_ONCE);
      await nextTurn();
    }
    return new SqliteSnapshot(connection);
  }

  async listRuns(after: string, limit: number) {
    return (await this.#all<RunRow>(RUNS, after, limit)).map((row) => toStoredRun(row, asItIs));
  }

  async listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number) {
    const rows = await this.#all<QuestionRow>(QUESTIONS, after?.runId ?? "", after?.key ?? "", limit);
    return rows.map((row) => toStoredQuestion(row, asItIs));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    const { runId, n, seq } = after ?? { runId: "", n: 0, seq: 0 };
    const rows = await this.#all<Omit<StoredLine, "runId" | "xid"> & { run_id: string }>(LINES, runId, n, seq, limit);
    return rows.map(({ run_id, ...row }) => ({ ...row, runId: run_id, xid: 0 }));
  }

  listJobs(after: string, limit: number) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key > ? order by key limit ?`, after, limit);
  }

  async readFeedHashes(after: string, upTo: string) {
    const sql = "select hash from event where seq > ? and seq <= ? order by seq";
    return (await this.#all<{ hash: string }>(sql, Number(after), Number(upTo))).map(({ hash }) => hash);
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>("select n, hash, body from seal where n > ? order by n limit ?", afterN, limit);
  }

  async readContents(names: readonly string[]) {
    const sql = "select hash, body from content where hash in (select value from json_each(?))";
    const rows = await this.#all<{ hash: string; body: string }>(sql, JSON.stringify(names));
    return new Map(rows.map(({ hash, body }) => [hash, body]));
  }

  readJobs(keys: readonly string[]) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key in (select value from json_each(?))`, JSON.stringify(keys));
  }

  readEntries(kind: string, ids: readonly string[]) {
    const sql = `select kind, id, parent, version, body from entry
      where kind = ? and id in (select value from json_each(?))`;
    return this.#all<StoredEntry>(sql, kind, JSON.stringify(ids));
  }

  async readLines(lines: ReadonlyArray<{ runId: string; n: number }>) {
    const wanted = JSON.stringify(lines.map(({ runId, n }) => [runId, n]));
    return toLineHashes(await this.#all<LineHashRow>(LINE_HASHES, wanted));
  }

  async countRows() {
    return toRowCounts(
      await this.#all<CountRow>(SNAPSHOT_SQL.countContents),
      await this.#all<CountRow>(SNAPSHOT_SQL.countEntries),
    );
  }

  async #jobs(sql: string, ...values: Array<string | number>) {
    return (await this.#all<JobRow>(sql, ...values)).map((row) => toStoredJob(row, asItIs));
  }

  #all<Row>(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

/** SQLite stores every name. */
function asItIs(name: string) {
  return name;
}
