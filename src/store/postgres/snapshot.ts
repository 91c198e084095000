import type { Seal } from "../../core/changes.ts";
import type { Queryable } from "./pool.ts";
import { decodeName, encodeName } from "./stored-name.ts";
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

const RUNS = `select id, number, version, body, name, external_id, host, agent, session, parent_id, status, ended_at,
  chain_n, chain_hash from run where id > $1 order by id limit $2`;
const QUESTIONS = `select id, version, body, run_id, key, status from question
  where (run_id, key) > ($1, $2) order by run_id, key limit $3`;
const LINES = `select run_id, n, hash, body, xid::text::bigint as xid, seq from event
  where (run_id, n) > ($1, $2) order by run_id, n limit $3`;
const FEED = `select hash from event where (xid, seq) > ($1::text::xid8, $2::bigint)
  and (xid, seq) <= ($3::text::xid8, $4::bigint) order by xid, seq`;
const JOB = "select key, kind, host, agent, due_at, ready_at, lease_until, body from job";
const LINE_HASHES = `select event.run_id, event.n, event.hash, coalesce(run.number, 0) as number
  from unnest($1::text[], $2::int[]) as wanted (run_id, n)
  join event on event.run_id = wanted.run_id and event.n = wanted.n left join run on run.id = event.run_id`;

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

  async listRuns(after: string, limit: number): Promise<StoredRun[]> {
    const { rows } = await this.#client.query<RunRow>(RUNS, [after, limit]);
    return rows.map((row) => ({
      id: row.id,
      number: row.number,
      body: row.body,
      columns: {
        id: row.id,
        version: row.version,
        name: decodeName(row.name),
        externalId: named(row.external_id),
        host: decodeName(row.host),
        agent: decodeName(row.agent),
        session: named(row.session),
        parentId: row.parent_id,
        status: row.status,
        endedAt: row.ended_at,
      },
      chain: { n: row.chain_n, hash: row.chain_hash },
      lastSeq: undefined,
    }));
  }

  async listQuestions(
    after: Pick<StoredQuestion, "runId" | "key"> | undefined,
    limit: number,
  ): Promise<StoredQuestion[]> {
    const { rows } = await this.#client.query<
      Record<"id" | "body" | "run_id" | "key" | "status", string> & { version: number }
    >(QUESTIONS, [after?.runId ?? "", after?.key ?? "", limit]);
    return rows.map(({ id, version, body, run_id: runId, key, status }) => ({
      id,
      runId,
      key,
      body,
      columns: { id, version, runId, key: decodeName(key), status },
    }));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    const { rows } = await this.#client.query<Omit<StoredLine, "runId" | "before"> & { run_id: string }>(LINES, [
      after?.runId ?? "",
      after?.n ?? 0,
      limit,
    ]);
    return rows.map(({ run_id, ...row }) => ({ ...row, runId: run_id, before: undefined }));
  }

  async listJobs(after: string, limit: number): Promise<StoredJob[]> {
    const sql = `${JOB} where key > $1 order by key limit $2`;
    return (await this.#client.query<JobRow>(sql, [encodeName(after), limit])).rows.map(toJob);
  }

  async readFeedHashes(after: string, upTo: string): Promise<string[]> {
    const [xid, seq = "0"] = (after || "0").split("-");
    const { rows } = await this.#client.query<{ hash: string }>(FEED, [xid, seq, ...upTo.split("-")]);
    return rows.map(({ hash }) => hash);
  }

  async listSeals(afterN: number, limit: number): Promise<Seal[]> {
    const sql = "select n, hash, body from seal where n > $1 order by n limit $2";
    return (await this.#client.query<Seal>(sql, [afterN, limit])).rows;
  }

  async readContents(names: readonly string[]): Promise<Map<string, string>> {
    const sql = "select hash, body from content where hash = any($1)";
    const { rows } = await this.#client.query<{ hash: string; body: string }>(sql, [names]);
    return new Map(rows.map(({ hash, body }) => [hash, body]));
  }

  async readJobs(keys: readonly string[]): Promise<StoredJob[]> {
    return (await this.#client.query<JobRow>(`${JOB} where key = any($1)`, [keys.map(encodeName)])).rows.map(toJob);
  }

  async readEntries(kind: string, ids: readonly string[]): Promise<StoredEntry[]> {
    const sql = "select kind, id, parent, version, body from entry where kind = $1 and id = any($2)";
    const { rows } = await this.#client.query<StoredEntry>(sql, [kind, ids.map(encodeName)]);
    return rows.map((row) => ({ ...row, id: decodeName(row.id), parent: named(row.parent) }));
  }

  async readLines(
    lines: ReadonlyArray<{ runId: string; n: number }>,
  ): Promise<Map<string, { hash: string; number: number }>> {
    const { rows } = await this.#client.query<{ run_id: string; n: number; hash: string; number: number }>(
      LINE_HASHES,
      [lines.map(({ runId }) => runId), lines.map(({ n }) => n)],
    );
    return new Map(rows.map(({ run_id: runId, n, hash, number }) => [lineName(runId, n), { hash, number }]));
  }

  async countRows(): Promise<RowCounts> {
    const contents = await this.#client.query<{ count: number }>("select count(*) as count from content");
    const entries = await this.#client.query<{ kind: string; count: number }>(
      "select kind, count(*) as count from entry group by kind",
    );
    return {
      contents: contents.rows[0]?.count ?? 0,
      entries: new Map(entries.rows.map(({ kind, count }) => [kind, count])),
    };
  }
}

function toJob(row: JobRow): StoredJob {
  const key = decodeName(row.key);
  return {
    key,
    body: row.body,
    columns: { key, kind: row.kind, host: named(row.host), agent: named(row.agent), dueAt: row.due_at },
    readyAt: row.ready_at,
    leaseUntil: row.lease_until,
  };
}

function named(kept: string | null): string | null {
  return kept === null ? null : decodeName(kept);
}
