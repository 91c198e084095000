import type { Changes } from "../../core/changes.ts";
import { CHAIN_START, chainHash } from "../../core/trail/event.ts";
import type { Instant } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { SqlValue } from "../../sqlite.ts";
import type { PreparedCommit, PreparedRow } from "../prepare.ts";
import { insertInto, type Connection } from "./connection.ts";
import { SqliteCommitGuard } from "./commit-guard.ts";
import { type TableEnds, type CachedRun, WriterCache } from "./writer-cache.ts";
import { putJobs } from "./job.ts";
import { SCHEMA } from "./schema.ts";
import type { CommitResult, DamagedRows } from "../store.ts";

const SEARCHED = ["status", "ended_at", "name", "external_id", "host", "agent", "session", "parent_id"];
export const RUN_COLUMNS = ["number", "id", "version", "body", "chain_n", "chain_hash", "chain_seq", ...SEARCHED];
export const QUESTION_COLUMNS = ['"row"', "id", "version", "body", "run_id", "key", "status"];
const NEW_RUNS = insertInto("run", RUN_COLUMNS);
const PUT_RUN = "update run set version = ?, body = ?, chain_n = ?, chain_hash = ?, chain_seq = ? where number = ?";
const PUT_COLUMNS = `update run set ${SEARCHED.map((column) => `${column} = ?`).join(", ")} where number = ?`;
const PUT_CHAIN = "update run set chain_n = ?, chain_hash = ?, chain_seq = ? where number = ?";
const NEW_QUESTIONS = insertInto("question", QUESTION_COLUMNS);
const PUT_QUESTION = `update question set version = ?, body = ? where "row" = ?`;
const PUT_STATUS = `update question set version = ?, body = ?, status = ? where "row" = ?`;
const PUT_CONTENTS = insertInto("content", ["hash", "body"], "on conflict do nothing");
const PUT_ENTRY = `insert into entry (kind, id, parent, version, body) values (?, ?, ?, ?, ?)
  on conflict do update set parent = excluded.parent, version = excluded.version, body = excluded.body`;
const NEW_EVENTS = insertInto("event", ["seq", "run_id", "n", "before", "hash", "body"]);
const NEW_SEAL = "insert into seal (n, hash, body) values (?, ?, ?)";

const PUT_LOST_RUN = `insert into run (number, id, version, body, name, host, agent, status, chain_n, chain_hash, chain_seq)
  values (?, ?, ?, '', '', '', '', '', ?, ?, ?)`;
// Answered questions are counted by the last row, so the gap that the lost one left is filled.
const PUT_LOST_QUESTION = `insert into question ("row", id, version, body, run_id, key, status)
  select min(free."row"), ?, ?, '', ?, ?, ? from (select 1 as "row" union all select "row" + 1 from question) free
  where not exists (select 1 from question where question."row" = free."row")`;

const NEWER_SCHEMA: CommitResult = { ok: false, why: "newer_schema" };

/** The last line of a run's chain. */
interface ChainHead {
  n: number;
  hash: string;
  seq: number;
}

const START: ChainHead = { n: 0, hash: CHAIN_START, seq: 0 };

/** The new rows of a batch, grouped so that each table is written with few calls. */
interface BatchRows {
  runs: SqlValue[][];
  questions: SqlValue[][];
  contents: SqlValue[][];
  events: SqlValue[][];
}

/** Writes batches, each inside a write transaction the caller has begun. */
export class SqliteWriter {
  readonly #connection: Connection;
  readonly #kept: WriterCache;
  readonly #guard: SqliteCommitGuard;
  #isOpen = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#kept = new WriterCache(connection);
    this.#guard = new SqliteCommitGuard(connection, this.#kept);
  }

  /** Writes a batch. No two of its commits touch the same row, so all are checked against the state before it. */
  write(batch: readonly PreparedCommit[], now: Instant): CommitResult[] {
    if (this.#isOpen) this.#kept.forget();
    this.#isOpen = true;
    const ends = this.#kept.begin();
    if (ends === undefined || ends.writable_by > SCHEMA) return batch.map(() => NEWER_SCHEMA);
    const attempt = this.#kept.nextAttempt();
    const good: PreparedCommit[] = [];
    const gathered: BatchRows = { runs: [], questions: [], contents: [], events: [] };
    const results = batch.map((commit): CommitResult => {
      const why = this.#guard.check(commit);
      if (why !== undefined) return { ok: false, why };
      good.push(commit);
      const numbers = this.#putRuns(commit, this.#addEvents(commit, gathered, ends), gathered, ends);
      this.#putRows(commit, gathered, ends);
      return { ok: true, numbers, attempts: attemptsOf(commit, attempt) };
    });
    this.#connection.insert(NEW_RUNS, gathered.runs);
    this.#connection.insert(NEW_QUESTIONS, gathered.questions);
    this.#connection.insert(PUT_CONTENTS, gathered.contents);
    this.#connection.insert(NEW_EVENTS, gathered.events);
    putJobs(this.#connection, good, { attempt, now });
    return results;
  }

  /** Confirms that the last batch was committed; otherwise it counts as rolled back. */
  confirm(): void {
    this.#isOpen = false;
  }

  /** Chains the commit's events, and returns the new heads of the chains that grew. */
  #addEvents(commit: PreparedCommit, { events }: BatchRows, ends: TableEnds) {
    const heads = new Map<string, ChainHead>();
    for (const { runId, body } of commit.events) {
      const before = heads.get(runId) ?? this.#headOf(runId, commit);
      const head = { n: before.n + 1, hash: chainHash(before.hash, body), seq: (ends.seq += 1) };
      heads.set(runId, head);
      events.push([head.seq, runId, head.n, before.seq, head.hash, body]);
    }
    return heads;
  }

  #headOf(runId: string, commit: PreparedCommit): ChainHead {
    const run = this.#kept.findRun(runId);
    if (run) return { n: run.chain_n, hash: run.chain_hash, seq: run.chain_seq };
    if (commit.runs.some(({ id }) => id === runId)) return START;
    throw new Error(`An event is about run ${runId}, which is not kept.`);
  }

  #putRuns(commit: PreparedCommit, heads: Map<string, ChainHead>, gathered: BatchRows, ends: TableEnds) {
    const numbers = new Map<string, number>();
    for (const run of commit.runs) {
      const before = this.#kept.findRun(run.id);
      const head = heads.get(run.id) ?? this.#headOf(run.id, commit);
      heads.delete(run.id);
      const number = before?.number ?? (ends.number += 1);
      if (!before) numbers.set(run.id, number);
      if (before) this.#updateRun(run, before, head);
      else gathered.runs.push([number, run.id, 1, run.body, head.n, head.hash, head.seq, ...columnsOf(run.row)]);
      this.#kept.putRun(run.id, keptRun(run, number, head));
    }
    for (const [id, head] of heads) this.#growChain(id, head);
    return numbers;
  }

  #updateRun({ guard, body, row }: PreparedRow<Run>, before: CachedRun, head: ChainHead) {
    this.#run(PUT_RUN, guard + 1, body, head.n, head.hash, head.seq, before.number);
    // They change rarely; skipping them spares their indexes.
    if (areColumnsChanged(row, before)) this.#run(PUT_COLUMNS, ...columnsOf(row), before.number);
  }

  /** Appends to the chain of a run that does not change. */
  #growChain(id: string, head: ChainHead) {
    const before = this.#kept.findRun(id);
    if (before === undefined) throw new Error(`An event is about run ${id}, which is not kept.`);
    this.#run(PUT_CHAIN, head.n, head.hash, head.seq, before.number);
    this.#kept.putRun(id, { ...before, chain_n: head.n, chain_hash: head.hash, chain_seq: head.seq });
  }

  #putRows(commit: PreparedCommit, gathered: BatchRows, ends: TableEnds) {
    for (const question of commit.questions) this.#putQuestion(question, gathered, ends);
    for (const { hash, body } of commit.contents) gathered.contents.push([hash, body]);
    for (const { kind, id, parent, guard, body } of commit.entries) {
      this.#run(PUT_ENTRY, kind, id, parent, guard + 1, body);
    }
    for (const { n, hash, body } of commit.seals) this.#run(NEW_SEAL, n, hash, body);
  }

  #putQuestion({ id, guard, body, row }: PreparedRow<Question>, gathered: BatchRows, ends: TableEnds) {
    const { status } = row;
    const version = guard + 1;
    const before = this.#kept.findQuestion(id);
    const place = before?.row ?? (ends.row += 1);
    if (before === undefined) gathered.questions.push([place, id, version, body, row.runId, row.key, status]);
    else if (before.status === status) this.#run(PUT_QUESTION, version, body, place);
    else this.#run(PUT_STATUS, version, body, status, place);
    this.#kept.putQuestion(id, { row: place, version, status });
  }

  #run(sql: string, ...values: SqlValue[]) {
    this.#connection.prepare(sql).run(...values);
  }
}

/** Restores the versions and numbers of imported rows, inside the transaction that wrote them. */
export function restoreRows(connection: Connection, { runs = [], questions = [] }: Changes): void {
  const taken = connection.prepare("select 1 from run where number = ?");
  for (const { id, version, number } of runs) {
    connection.prepare("update run set version = ? where id = ?").run(version, id);
    if (number < 1 || taken.get(number) !== undefined) continue;
    connection.prepare("update run set number = ? where id = ?").run(number, id);
  }
  const put = connection.prepare("update question set version = ? where id = ?");
  for (const { id, version } of questions) put.run(version, id);
}

/** Puts back rows without a text, for the changes that are written in the same transaction. */
export function putLostRows(connection: Connection, { lostRuns = [], lostQuestions = [] }: DamagedRows): void {
  for (const { id, number, version, head } of lostRuns) {
    const isFree = number > 0 && connection.prepare("select 1 from run where number = ?").get(number) === undefined;
    connection.prepare(PUT_LOST_RUN).run(isFree ? number : null, id, version, head.n, head.hash, head.seq);
  }
  const put = connection.prepare(PUT_LOST_QUESTION);
  for (const { id, version, runId, key, status } of lostQuestions) put.run(id, version, runId, key, status);
}

/** Deletes damaged rows that no change can replace. */
export function deleteRows(connection: Connection, { contents = [], entries = [] }: DamagedRows): void {
  for (const hash of contents) connection.prepare("delete from content where hash = ?").run(hash);
  const remove = connection.prepare("delete from entry where kind = ? and id = ?");
  for (const { kind, id } of entries) remove.run(kind, id);
}

function keptRun({ guard, row }: PreparedRow<Run>, number: number, head: ChainHead): CachedRun {
  return {
    number,
    version: guard + 1,
    host: row.host,
    agent: row.agent,
    session: row.session ?? null,
    name: row.name,
    external_id: row.externalId ?? null,
    parent_id: row.parentId ?? null,
    status: row.status,
    ended_at: row.endedAt ?? null,
    chain_n: head.n,
    chain_hash: head.hash,
    chain_seq: head.seq,
  };
}

/** The searched columns of a run; the only place that derives them. */
function columnsOf(run: Run): SqlValue[] {
  const { status, endedAt, name, externalId, host, agent, session, parentId } = run;
  return [status, endedAt ?? null, name, externalId ?? null, host, agent, session ?? null, parentId ?? null];
}

function areColumnsChanged(run: Run, before: CachedRun) {
  const { status, ended_at, name, external_id, host, agent, session, parent_id } = before;
  const columns = [status, ended_at, name, external_id, host, agent, session, parent_id];
  return columnsOf(run).some((value, index) => value !== columns[index]);
}

function attemptsOf(commit: PreparedCommit, attempt: number) {
  const attempts = new Map<string, number>();
  for (const { job } of commit.scheduled) attempts.set(job.key, attempt);
  return attempts;
}
