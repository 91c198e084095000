import { CHAIN_START, chainHash } from "../core/event.ts";
import type { Instant } from "../core/instant.ts";
import type { Question } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import type { SqlValue } from "../sqlite.ts";
import type { Prepared, PreparedRow } from "./prepare.ts";
import { insertInto, type Connection } from "./sqlite-connection.ts";
import { SqliteGuard, type KeptRun } from "./sqlite-guard.ts";
import { putJobs } from "./sqlite-job.ts";
import { SCHEMA } from "./sqlite-schema.ts";
import type { Committed } from "./store.ts";

const META = "select writable_by, attempt, (select max(seq) from event) as seq from meta";
const NEW_RUN = `insert into run (id, version, body, chain_n, chain_hash, chain_seq, status, ended_at, name, external_id,
  host, agent, session, parent_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const PUT_RUN = "update run set version = ?, body = ?, chain_n = ?, chain_hash = ?, chain_seq = ? where id = ?";
const PUT_COLUMNS = `update run set status = ?, ended_at = ?, name = ?, external_id = ?, host = ?, agent = ?, session = ?,
  parent_id = ? where id = ?`;
const PUT_CHAIN = "update run set chain_n = ?, chain_hash = ?, chain_seq = ? where id = ?";
const NEW_QUESTION = "insert into question (id, version, body, run_id, key, status) values (?, ?, ?, ?, ?, ?)";
const PUT_QUESTION = "update question set version = ?, body = ?, status = ? where id = ?";
const PUT_CONTENT = "insert into content (hash, body) values (?, ?) on conflict do nothing";
const PUT_ENTRY = `insert into entry (kind, id, parent, version, body) values (?, ?, ?, ?, ?)
  on conflict do update set parent = excluded.parent, version = excluded.version, body = excluded.body`;
const NEW_EVENTS = insertInto("event", ["seq", "run_id", "n", "before", "hash", "body"]);
const NEW_SEAL = "insert into seal (n, hash, body) values (?, ?, ?)";

const NEWER_SCHEMA: Committed = { ok: false, why: "newer_schema" };

/** The last line of a run's chain. */
interface Head {
  n: number;
  hash: string;
  seq: number;
}

interface Meta {
  writable_by: number;
  attempt: number;
  seq: number | null;
}

/** Writes batches; each inside one write transaction that the caller has begun. */
export class SqliteWriter {
  readonly #connection: Connection;
  readonly #guard: SqliteGuard;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#guard = new SqliteGuard(connection);
  }

  /** No two commits of a batch touch the same thing, so all are checked against what was there before it. */
  write(batch: readonly Prepared[], now: Instant): Committed[] {
    const meta = this.#connection.prepare<Meta>(META).get();
    if (meta === undefined || meta.writable_by > SCHEMA) return batch.map(() => NEWER_SCHEMA);
    const attempt = meta.attempt + 1;
    const kept = new Map<string, KeptRun>();
    const good: Prepared[] = [];
    const events = new EventRows(meta.seq ?? 0);
    const results = batch.map((commit): Committed => {
      this.#load(commit, kept);
      const why = this.#guard.check(commit, kept);
      if (why !== undefined) return { ok: false, why };
      good.push(commit);
      const numbers = this.#putRuns(commit, kept, events.add(commit, kept));
      this.#putRows(commit);
      return { ok: true, numbers, attempts: attemptsOf(commit, attempt) };
    });
    this.#connection.insert(NEW_EVENTS, events.rows);
    putJobs(this.#connection, good, { attempt, now });
    return results;
  }

  #load(commit: Prepared, kept: Map<string, KeptRun>): void {
    for (const id of commit.runIds) {
      const run = this.#guard.findRun(id);
      if (run !== undefined) kept.set(id, run);
    }
  }

  #putRuns(commit: Prepared, kept: Map<string, KeptRun>, heads: Map<string, Head>): Record<string, number> {
    const numbers: Record<string, number> = {};
    for (const run of commit.runs) {
      const before = kept.get(run.id);
      const head = heads.get(run.id) ?? headOf(before);
      heads.delete(run.id);
      if (before) this.#updateRun(run, before, head);
      else numbers[run.id] = this.#insertRun(run, head);
    }
    for (const [id, head] of heads) this.#run(PUT_CHAIN, head.n, head.hash, head.seq, id);
    return numbers;
  }

  #insertRun({ id, body, row }: PreparedRow<Run>, head: Head): number {
    const made = this.#run(NEW_RUN, id, 1, body, head.n, head.hash, head.seq, ...columnsOf(row));
    return Number(made.lastInsertRowid);
  }

  #updateRun({ id, guard, body, row }: PreparedRow<Run>, before: KeptRun, head: Head): void {
    this.#run(PUT_RUN, guard + 1, body, head.n, head.hash, head.seq, id);
    // They change rarely, and leaving them alone spares the indexes on them.
    if (areColumnsChanged(row, before)) this.#run(PUT_COLUMNS, ...columnsOf(row), id);
  }

  #putRows(commit: Prepared): void {
    // Closed questions first: a commit may close one and ask the next of the same run.
    for (const question of commit.questions) if (question.row.status !== "pending") this.#putQuestion(question);
    for (const question of commit.questions) if (question.row.status === "pending") this.#putQuestion(question);
    for (const { hash, body } of commit.contents) this.#run(PUT_CONTENT, hash, body);
    for (const { kind, id, parent, guard, body } of commit.entries) {
      this.#run(PUT_ENTRY, kind, id, parent, guard + 1, body);
    }
    for (const { n, hash, body } of commit.seals) this.#run(NEW_SEAL, n, hash, body);
  }

  #putQuestion({ id, guard, body, row }: PreparedRow<Question>): void {
    if (guard === 0) this.#run(NEW_QUESTION, id, 1, body, row.runId, row.key, row.status);
    else this.#run(PUT_QUESTION, guard + 1, body, row.status, id);
  }

  #run(sql: string, ...values: SqlValue[]): { lastInsertRowid: number | bigint } {
    return this.#connection.prepare(sql).run(...values);
  }
}

/** The events of a batch, as rows in the order of the feed. */
class EventRows {
  readonly rows: SqlValue[][] = [];
  #seq: number;

  constructor(lastSeq: number) {
    this.#seq = lastSeq;
  }

  /** Adds the commit's events, and returns the new heads of the chains that grew. */
  add(commit: Prepared, kept: ReadonlyMap<string, KeptRun>): Map<string, Head> {
    const heads = new Map<string, Head>();
    for (const { runId, body } of commit.events) {
      const run = kept.get(runId);
      if (!run && !commit.runs.some(({ id }) => id === runId)) {
        throw new Error(`An event is about run ${runId}, which is not kept.`);
      }
      const before = heads.get(runId) ?? headOf(run);
      const head = { n: before.n + 1, hash: chainHash(before.hash, body), seq: (this.#seq += 1) };
      heads.set(runId, head);
      this.rows.push([head.seq, runId, head.n, before.seq, head.hash, body]);
    }
    return heads;
  }
}

function headOf(run: KeptRun | undefined): Head {
  if (!run) return { n: 0, hash: CHAIN_START, seq: 0 };
  return { n: run.chain_n, hash: run.chain_hash, seq: run.chain_seq };
}

/** The columns that are searched: the one place that takes them from a run. */
function columnsOf(run: Run): SqlValue[] {
  const { status, endedAt, name, externalId, host, agent, session, parentId } = run;
  return [status, endedAt ?? null, name, externalId ?? null, host, agent, session ?? null, parentId ?? null];
}

function areColumnsChanged(run: Run, before: KeptRun): boolean {
  const { status, ended_at, name, external_id, host, agent, session, parent_id } = before;
  const columns = [status, ended_at, name, external_id, host, agent, session, parent_id];
  return columnsOf(run).some((value, index) => value !== columns[index]);
}

function attemptsOf(commit: Prepared, attempt: number): Record<string, number> {
  const attempts: Record<string, number> = {};
  for (const { job } of commit.scheduled) attempts[job.key] = attempt;
  return attempts;
}
