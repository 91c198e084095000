import type { Seal } from "../../core/changes.ts";
import { PostgresArchive, parseCursor } from "./archive.ts";
import type { Queryable } from "./pool.ts";
import { decodeEntry, decodeName, encodeName } from "./row.ts";
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
  lineName,
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
const LINES_OF = `select run_id, n, hash, body, xid::text::bigint as xid, seq from event where run_id = $1 order by n`;
const RUNS_BY_ID = `select ${SNAPSHOT_SQL.runColumns} from run where id = any($1)`;
const FEED = `select hash from event where (xid, seq) > ($1::text::xid8, $2::bigint)
  and (xid, seq) <= ($3::text::xid8, $4::bigint) order by xid, seq`;
const LINE_HASHES = `select event.run_id, event.n, event.hash, coalesce(run.number, 0) as number
  from unnest($1::text[], $2::int[]) as wanted (run_id, n)
  join event on event.run_id = wanted.run_id and event.n = wanted.n left join run on run.id = event.run_id`;

const NUMBERS = "select id, number from run where id = any($1)";
const RUN_NUMBERS = "select id, number from run where id >= $1 and id <= $2 order by id limit $3";
/** Few enough that the pages with their lines are kept inflated. */
const RUNS_AT_ONCE = 200;
const AFTER_ALL = "~";

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
  readonly #archive: PostgresArchive;
  /** How many of the contents that were read are in the archive. */
  #archivedContents = 0;

  constructor(client: Queryable) {
    this.#client = client;
    this.#archive = new PostgresArchive(client);
  }

  async listRuns(after: string, limit: number) {
    const rows = await this.#archive.select<RunRow>(RUNS, [after, limit]);
    return rows.map((row) => toStoredRun(row, decodeName));
  }

  async listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number) {
    const rows = await this.#archive.select<QuestionRow>(QUESTIONS, [after?.runId ?? "", after?.key ?? "", limit]);
    return rows.map((row) => toStoredQuestion(row, decodeName));
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    const start = { runId: after?.runId ?? "", n: after?.n ?? 0 };
    const hot = (await this.#all<LineRow>(LINES, start.runId, start.n, limit)).map(toLine);
    const end = hot.length < limit ? undefined : hot.at(-1);
    for (let first = start.runId; ;) {
      const runs = await this.#all<{ id: string; number: number }>(
        RUN_NUMBERS,
        first,
        end?.runId ?? AFTER_ALL,
        RUNS_AT_ONCE,
      );
      const isLast = runs.length < RUNS_AT_ONCE;
      const last = isLast ? end : { runId: runs.at(-1)?.id ?? "", n: Infinity };
      const archived = await this.#archive.chainsOf(runs);
      const lines = [...hot, ...archived].filter(
        (line) => compareLines(line, start) > 0 && (last === undefined || compareLines(line, last) <= 0),
      );
      // Runs without a line must not look like the end.
      if (lines.length > 0 || isLast) return lines.sort(compareLines);
      first = last?.runId ?? "";
    }
  }

  listDamagedPages() {
    return this.#archive.damaged;
  }

  async readLinesOf(runId: string) {
    const hot = (await this.#all<LineRow>(LINES_OF, runId)).map(toLine);
    const runs = await this.#all<{ id: string; number: number }>(NUMBERS, [runId]);
    return [...(await this.#archive.chainsOf(runs)), ...hot].sort(compareLines);
  }

  async readRuns(ids: readonly string[]) {
    const rows = await this.#archive.select<RunRow>(RUNS_BY_ID, [ids]);
    return rows.map((row) => toStoredRun(row, decodeName));
  }

  listJobs(after: string, limit: number) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key > $1 order by key limit $2`, encodeName(after), limit);
  }

  async readFeedHashes(after: string, upTo: string) {
    const [xid, seq = "0"] = (after || "0").split("-");
    const rows = await this.#all<{ hash: string }>(FEED, xid, seq, ...upTo.split("-"));
    const archived = await this.#archive.linesAfter(parseCursor(after), { upTo: parseCursor(upTo), limit: Infinity });
    return [...archived, ...rows].map(({ hash }) => hash);
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>("select n, hash, body from seal where n > $1 order by n limit $2", afterN, limit);
  }

  async readContents(names: readonly string[]) {
    const sql = "select hash, body from content where hash = any($1)";
    const rows = await this.#all<{ hash: string; body: string }>(sql, names);
    const texts = new Map(rows.map(({ hash, body }) => [hash, body]));
    const archived = await this.#archive.findContents(names.filter((name) => !texts.has(name)));
    this.#archivedContents += archived.size;
    return new Map([...archived, ...texts]);
  }

  readJobs(keys: readonly string[]) {
    return this.#jobs(`${SNAPSHOT_SQL.job} where key = any($1)`, keys.map(encodeName));
  }

  listContents(after: string, limit: number) {
    const sql = "select hash, body from content where hash > $1 order by hash limit $2";
    return this.#all<{ hash: string; body: string }>(sql, after, limit);
  }

  async listEntries(kind: string, after: string, limit: number) {
    const sql = `select kind, id, parent, version, body from entry
      where kind = $1 and id > $2 order by id limit $3`;
    return (await this.#all<StoredEntry>(sql, kind, encodeName(after), limit)).map(decodeEntry);
  }

  async readEntries(kind: string, ids: readonly string[]) {
    const sql = "select kind, id, parent, version, body from entry where kind = $1 and id = any($2)";
    const rows = await this.#all<StoredEntry>(sql, kind, ids.map(encodeName));
    return rows.map(decodeEntry);
  }

  async readLines(lines: ReadonlyArray<{ runId: string; n: number }>) {
    const [runIds, numbers] = [lines.map(({ runId }) => runId), lines.map(({ n }) => n)];
    const found = toLineHashes(await this.#all<LineHashRow>(LINE_HASHES, runIds, numbers));
    const missing = new Set(lines.map(({ runId, n }) => lineName(runId, n)).filter((name) => !found.has(name)));
    if (missing.size === 0) return found;
    const runs = await this.#all<{ id: string; number: number }>(NUMBERS, runIds);
    const numberOf = new Map(runs.map(({ id, number }) => [id, number]));
    for (const { runId, n, hash } of await this.#archive.chainsOf(runs)) {
      const name = lineName(runId, n);
      if (missing.has(name)) found.set(name, { hash, number: numberOf.get(runId) ?? 0 });
    }
    return found;
  }

  async countRows() {
    return toRowCounts(
      await this.#all<CountRow>(SNAPSHOT_SQL.countContents),
      await this.#all<CountRow>(SNAPSHOT_SQL.countEntries),
      this.#archivedContents,
    );
  }

  async #jobs(sql: string, ...values: unknown[]) {
    return (await this.#all<JobRow>(sql, ...values)).map((row) => toStoredJob(row, decodeName));
  }

  async #all<Row extends object>(sql: string, ...values: unknown[]) {
    return (await this.#client.query<Row>(sql, values)).rows;
  }
}

type LineRow = Omit<StoredLine, "runId" | "before"> & { run_id: string };

function toLine({ run_id: runId, ...row }: LineRow): StoredLine {
  return { ...row, runId, before: undefined };
}

/** By run, then by number. */
function compareLines(one: Pick<StoredLine, "runId" | "n">, other: Pick<StoredLine, "runId" | "n">) {
  if (one.runId !== other.runId) return one.runId < other.runId ? -1 : 1;
  return one.n - other.n;
}
