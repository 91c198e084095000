import type { Seal } from "../../core/changes.ts";
import type { Queryable } from "./pool.ts";
import { decodeName, encodeName } from "./row.ts";
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

const RUNS = `select ${SNAPSHOT_SQL.runColumns} from run where id > $1 order by id limit $2`;
const QUESTIONS = `select ${SNAPSHOT_SQL.questionColumns} from question
  where (run_id, key) > ($1, $2) order by run_id, key limit $3`;
const LINES = `select run_id, n, hash, body, xid::text::bigint as xid, seq from event
  where (run_id, n) > ($1, $2) order by run_id, n limit $3`;
const FEED = `select hash from event where (xid, seq) > ($1::text::xid8, $2::bigint)
  and (xid, seq) <= ($3::text::xid8, $4::bigint) order by xid, seq`;
const LINE_HASHES = `select event.run_id, event.n, event.hash, coalesce(run.number, 0) as number
  from unnest($1::text[], $2::int[]) as wanted (run_id, n)
  join event on event.run_id = wanted.run_id and event.n = wanted.n left join run on run.id = event.run_id`;

/** Reads a snapshot of the store, inside a transaction of that connection. */
export async function readPostgresSnapshot<Result>(
  client: Queryable,
  read: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  await client.query("begin isolation level repeatable read, read only");
  try {
    return await read(new PostgresSnapshot(client));
  } finally {
    await client.query("rollback").catch(() => undefined); // nothing was written, and the connection may be lost
  }
}

class PostgresSnapshot implements StoreSnapshot {
  readonly #client: Queryable;

  constructor(client: Queryable) {
    this.#client = client;
  }

  async listRuns(after: string, limit: number) {
    return (await this.#all<RunRow>(RUNS, after, limit)).map((row) => toStoredRun(row, decodeName));
  }

  async listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number) {
    const rows = await this.#all<QuestionRow>(QUESTIONS, after?.runId ?? "", after?.key ?? "", limit);
    return rows.map((row) => toStoredQuestion(row, decodeName));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number) {
    type Row = Omit<StoredLine, "runId" | "before"> & { run_id: string };
    const rows = await this.#all<Row>(LINES, after?.runId ?? "", after?.n ?? 0, limit);
    return rows.map(({ run_id, ...row }) => ({ ...row, runId: run_id, before: undefined }));
  }

  listJobs(after: string, limit: number) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key > $1 order by key limit $2`, encodeName(after), limit);
  }

  async readFeedHashes(after: string, upTo: string) {
    const [xid, seq = "0"] = (after || "0").split("-");
    const rows = await this.#all<{ hash: string }>(FEED, xid, seq, ...upTo.split("-"));
    return rows.map(({ hash }) => hash);
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>("select n, hash, body from seal where n > $1 order by n limit $2", afterN, limit);
  }

  async readContents(names: readonly string[]) {
    const sql = "select hash, body from content where hash = any($1)";
    const rows = await this.#all<{ hash: string; body: string }>(sql, names);
    return new Map(rows.map(({ hash, body }) => [hash, body]));
  }

  readJobs(keys: readonly string[]) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key = any($1)`, keys.map(encodeName));
  }

  async readEntries(kind: string, ids: readonly string[]) {
    const sql = "select kind, id, parent, version, body from entry where kind = $1 and id = any($2)";
    const rows = await this.#all<StoredEntry>(sql, kind, ids.map(encodeName));
    return rows.map((row) => ({ ...row, id: decodeName(row.id), parent: row.parent && decodeName(row.parent) }));
  }

  async readLines(lines: ReadonlyArray<{ runId: string; n: number }>) {
    const [runIds, numbers] = [lines.map(({ runId }) => runId), lines.map(({ n }) => n)];
    return toLineHashes(await this.#all<LineHashRow>(LINE_HASHES, runIds, numbers));
  }

  async countRows() {
    return toRowCounts(
      await this.#all<CountRow>(SNAPSHOT_SQL.countContents),
      await this.#all<CountRow>(SNAPSHOT_SQL.countEntries),
    );
  }

  async #jobs(sql: string, ...values: unknown[]) {
    return (await this.#all<JobRow>(sql, ...values)).map((row) => toStoredJob(row, decodeName));
  }

  async #all<Row extends object>(sql: string, ...values: unknown[]) {
    return (await this.#client.query<Row>(sql, values)).rows;
  }
}
