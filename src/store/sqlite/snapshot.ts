import type { Seal } from "../../core/changes.ts";
import type {
  StoredEntry,
  StoredJob,
  StoredLine,
  StoredQuestion,
  RowCounts,
  StoredRun,
  StoreSnapshot,
} from "../snapshot.ts";
import { lineName } from "../snapshot.ts";
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
const RUNS = `select id, number, version, body, name, external_id, host, agent, session, parent_id, status, ended_at,
  chain_n, chain_hash, chain_seq from run where id > ? order by id limit ?`;
const QUESTIONS = `select id, version, body, run_id, key, status from question
  where (run_id, key) > (?, ?) order by run_id, key limit ?`;
const LINES = `select event.run_id, event.n, event.hash, event.body, event.seq, event.before
  from temp.line cross join event on event.seq = line.seq
  where (line.run_id, line.n, line.seq) > (?, ?, ?) order by line.run_id, line.n, line.seq limit ?`;
const JOB = "select key, kind, host, agent, due_at, ready_at, lease_until, body from job";
const LINE_HASHES = `select line.run_id, line.n, event.hash, coalesce(run.number, 0) as number
  from json_each(?) wanted
  cross join temp.line on line.run_id = wanted.value ->> 0 and line.n = wanted.value ->> 1
  cross join event on event.seq = line.seq left join run on run.id = line.run_id`;

interface RunRow {
  id: string;
  number: number;
  version: number;
  body: string;
  name: string;
  external_id: string | null;
  host: string;
  agent: string;
  session: string | null;
  parent_id: string | null;
  status: string;
  ended_at: string | null;
  chain_n: number;
  chain_hash: string;
  chain_seq: number;
}

interface JobRow {
  key: string;
  kind: string;
  host: string | null;
  agent: string | null;
  due_at: string;
  ready_at: string;
  lease_until: string | null;
  body: string;
}

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

  static async take(connection: Connection): Promise<SqliteSnapshot> {
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

  async listRuns(after: string, limit: number): Promise<StoredRun[]> {
    const rows = await this.#all<RunRow>(RUNS, after, limit);
    return rows.map((row) => ({
      id: row.id,
      number: row.number,
      body: row.body,
      columns: {
        id: row.id,
        version: row.version,
        name: row.name,
        externalId: row.external_id,
        host: row.host,
        agent: row.agent,
        session: row.session,
        parentId: row.parent_id,
        status: row.status,
        endedAt: row.ended_at,
      },
      chain: { n: row.chain_n, hash: row.chain_hash },
      lastSeq: row.chain_seq,
    }));
  }

  async listQuestions(
    after: Pick<StoredQuestion, "runId" | "key"> | undefined,
    limit: number,
  ): Promise<StoredQuestion[]> {
    const rows = await this.#all<Record<"id" | "body" | "run_id" | "key" | "status", string> & { version: number }>(
      QUESTIONS,
      after?.runId ?? "",
      after?.key ?? "",
      limit,
    );
    return rows.map(({ id, version, body, run_id: runId, key, status }) => ({
      id,
      runId,
      key,
      body,
      columns: { id, version, runId, key, status },
    }));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    const { runId, n, seq } = after ?? { runId: "", n: 0, seq: 0 };
    const rows = await this.#all<Omit<StoredLine, "runId" | "xid"> & { run_id: string }>(LINES, runId, n, seq, limit);
    return rows.map(({ run_id, ...row }) => ({ ...row, runId: run_id, xid: 0 }));
  }

  async listJobs(after: string, limit: number): Promise<StoredJob[]> {
    return (await this.#all<JobRow>(`${JOB} where key > ? order by key limit ?`, after, limit)).map(toJob);
  }

  async readFeedHashes(after: string, upTo: string): Promise<string[]> {
    const sql = "select hash from event where seq > ? and seq <= ? order by seq";
    return (await this.#all<{ hash: string }>(sql, Number(after), Number(upTo))).map(({ hash }) => hash);
  }

  listSeals(afterN: number, limit: number): Promise<Seal[]> {
    return this.#all<Seal>("select n, hash, body from seal where n > ? order by n limit ?", afterN, limit);
  }

  async readContents(names: readonly string[]): Promise<Map<string, string>> {
    const sql = "select hash, body from content where hash in (select value from json_each(?))";
    const rows = await this.#all<{ hash: string; body: string }>(sql, JSON.stringify(names));
    return new Map(rows.map(({ hash, body }) => [hash, body]));
  }

  async readJobs(keys: readonly string[]): Promise<StoredJob[]> {
    const sql = `${JOB} where key in (select value from json_each(?))`;
    return (await this.#all<JobRow>(sql, JSON.stringify(keys))).map(toJob);
  }

  readEntries(kind: string, ids: readonly string[]): Promise<StoredEntry[]> {
    const sql = `select kind, id, parent, version, body from entry
      where kind = ? and id in (select value from json_each(?))`;
    return this.#all<StoredEntry>(sql, kind, JSON.stringify(ids));
  }

  async readLines(
    lines: ReadonlyArray<{ runId: string; n: number }>,
  ): Promise<Map<string, { hash: string; number: number }>> {
    const rows = await this.#all<{ run_id: string; n: number; hash: string; number: number }>(
      LINE_HASHES,
      JSON.stringify(lines.map(({ runId, n }) => [runId, n])),
    );
    return new Map(rows.map(({ run_id: runId, n, hash, number }) => [lineName(runId, n), { hash, number }]));
  }

  async countRows(): Promise<RowCounts> {
    const [contents] = await this.#all<{ count: number }>("select count(*) as count from content");
    const entries = await this.#all<{ kind: string; count: number }>(
      "select kind, count(*) as count from entry group by kind",
    );
    return { contents: contents?.count ?? 0, entries: new Map(entries.map(({ kind, count }) => [kind, count])) };
  }

  #all<Row>(sql: string, ...values: Array<string | number>): Promise<Row[]> {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

function toJob(row: JobRow): StoredJob {
  return {
    key: row.key,
    body: row.body,
    columns: { key: row.key, kind: row.kind, host: row.host, agent: row.agent, dueAt: row.due_at },
    readyAt: row.ready_at,
    leaseUntil: row.lease_until,
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
