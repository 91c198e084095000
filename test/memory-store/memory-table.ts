import { CHAIN_START, chainHash } from "../../src/core/trail/event.ts";
import { STORE_CHAIN } from "../../src/core/id.ts";
import { later, type Instant } from "../../src/core/instant.ts";
import type { Changes, Seal } from "../../src/core/changes.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { Run, RunStatus } from "../../src/core/run/run.ts";
import type {
  PreparedCommit,
  PreparedEntry,
  PreparedJob,
  PreparedPostponed,
  PreparedRow,
} from "../../src/store/prepare.ts";
import { SortedTable } from "./sorted-table.ts";
import type { CommitResult } from "../../src/store/store.ts";

export interface RunRow {
  version: number;
  number: number;
  body: string;
  chain: { n: number; hash: string };
  status: RunStatus;
  /** The unique name of its session, if it has one. */
  session: string | undefined;
  parentId: string | undefined;
  endedAt: Instant | undefined;
}

export interface QuestionRow {
  version: number;
  body: string;
  runId: string;
  key: string;
  status: Question["status"];
}

export interface JobRow {
  body: string;
  kind: string;
  host: string | undefined;
  agent: string | undefined;
  dueAt: Instant;
  attempt: number;
  leaseUntil: Instant | undefined;
}

/** The rows of the memory store, as text with the searched columns. */
export class MemoryTables {
  readonly run = new SortedTable<RunRow>();
  readonly question = new SortedTable<QuestionRow>();
  readonly content = new Map<string, string>();
  readonly entry = new Map<string, Omit<PreparedEntry, "guard"> & { version: number }>();
  readonly event: Array<{ runId: string; n: number; hash: string; body: string; cursor: string }> = [];
  readonly #storeChain = { n: 0, hash: CHAIN_START };
  readonly seal = new Map<number, Seal>();
  readonly job = new Map<string, JobRow>();
  readonly #sessions = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #pending = new Map<string, string>();
  #lastAttempt = 0;
  #lastNumber = 0;

  nextAttempt(): number {
    return (this.#lastAttempt += 1);
  }

  /** The end of the chain of a run, or of the store itself. */
  findChain(runId: string): { n: number; hash: string } | undefined {
    return runId === STORE_CHAIN ? this.#storeChain : this.run.get(runId)?.chain;
  }

  findByKey(runId: string, key: string): string | undefined {
    return this.#keys.get(nameOf(runId, key));
  }

  /** Writes the commit, or returns why not. */
  write(commit: PreparedCommit, now: Instant): CommitResult {
    const why = this.#findMoved(commit) ?? this.#findTaken(commit) ?? this.#findLost(commit);
    if (why) return { ok: false, why };
    this.#requireRuns(commit);
    const numbers = new Map<string, number>();
    for (const run of commit.runs) {
      const number = this.#putRun(run);
      if (run.guard === 0) numbers.set(run.id, number);
    }
    // Closed questions first: a commit may close one and ask the next of the same run.
    for (const question of commit.questions) if (question.row.status !== "pending") this.#putQuestion(question);
    for (const question of commit.questions) if (question.row.status === "pending") this.#putQuestion(question);
    for (const { hash, body } of commit.contents) if (!this.content.has(hash)) this.content.set(hash, body);
    for (const { guard, ...entry } of commit.entries) {
      this.entry.set(nameOf(entry.kind, entry.id), { ...entry, version: guard + 1 });
    }
    for (const event of commit.events) this.#append(event.runId, event.body);
    for (const seal of commit.seals) this.seal.set(seal.n, seal);
    for (const key of commit.dropped) this.job.delete(key);
    for (const { key } of commit.finished) this.job.delete(key);
    for (const postponed of commit.postponed) this.#postpone(postponed);
    const attempts = new Map(commit.scheduled.map((job) => [job.job.key, this.#schedule(job, now)]));
    return { ok: true, numbers, attempts };
  }

  /** Restores the versions and numbers of imported rows. */
  restore({ runs = [], questions = [] }: Changes): void {
    for (const { id, version, number } of runs) {
      const row = this.run.get(id);
      const isFree = number > 0 && ![...this.run.scan("oldest")].some(([, each]) => each.number === number);
      if (row) this.run.set(id, { ...row, version, number: isFree ? number : row.number });
      this.#lastNumber = Math.max(this.#lastNumber, number);
    }
    for (const { id, version } of questions) {
      const row = this.question.get(id);
      if (row) this.question.set(id, { ...row, version });
    }
  }

  #findMoved(commit: PreparedCommit): "moved" | undefined {
    const isMoved = (kept: { version: number } | undefined, guard: number): boolean =>
      guard > 0 && kept?.version !== guard;
    if (commit.runs.some((run) => isMoved(this.run.get(run.id), run.guard))) return "moved";
    if (commit.questions.some((question) => isMoved(this.question.get(question.id), question.guard))) return "moved";
    if (commit.entries.some((entry) => isMoved(this.entry.get(nameOf(entry.kind, entry.id)), entry.guard))) {
      return "moved";
    }
    return undefined;
  }

  #findTaken(commit: PreparedCommit): "taken" | undefined {
    const isOther = (owner: string | undefined, id: string): boolean => owner !== undefined && owner !== id;
    const closing = new Set(commit.questions.filter(({ row }) => row.status !== "pending").map(({ id }) => id));
    const isRunTaken = commit.runs.some(
      ({ id, guard, row }) =>
        (guard === 0 && this.run.has(id)) || isOther(this.#sessions.get(sessionOf(row) ?? ""), id),
    );
    const isQuestionTaken = commit.questions.some(({ id, guard, row }) => {
      const pending = this.#pending.get(row.runId);
      if (guard === 0 && this.question.has(id)) return true;
      if (isOther(this.findByKey(row.runId, row.key), id)) return true;
      return row.status === "pending" && isOther(pending, id) && !closing.has(pending ?? "");
    });
    const isEntryTaken = commit.entries.some(({ kind, id, guard }) => guard === 0 && this.entry.has(nameOf(kind, id)));
    const isSealTaken = commit.seals.some((seal) => this.seal.has(seal.n));
    return isRunTaken || isQuestionTaken || isEntryTaken || isSealTaken ? "taken" : undefined;
  }

  #findLost(commit: PreparedCommit): "job_lost" | undefined {
    const claimed = [...commit.finished, ...commit.postponed];
    return claimed.some(({ key, attempt }) => this.job.get(key)?.attempt !== attempt) ? "job_lost" : undefined;
  }

  #requireRuns(commit: PreparedCommit): void {
    const isKept = (id: string): boolean =>
      id === STORE_CHAIN || this.run.has(id) || commit.runs.some((run) => run.id === id);
    const lost = commit.runIds.find((id) => !isKept(id));
    if (lost !== undefined) throw new Error(`A commit is about run ${lost}, which is not kept.`);
  }

  #putRun({ id, guard, body, row }: PreparedRow<Run>): number {
    const before = this.run.get(id);
    const number = before?.number ?? (this.#lastNumber += 1);
    const session = sessionOf(row);
    if (before?.session !== undefined) this.#sessions.delete(before.session);
    if (session !== undefined) this.#sessions.set(session, id);
    const chain = before?.chain ?? { n: 0, hash: CHAIN_START };
    const { status, parentId, endedAt } = row;
    this.run.set(id, { version: guard + 1, number, body, chain, status, session, parentId, endedAt });
    return number;
  }

  #putQuestion({ id, guard, body, row }: PreparedRow<Question>): void {
    if (this.#pending.get(row.runId) === id) this.#pending.delete(row.runId);
    if (row.status === "pending") this.#pending.set(row.runId, id);
    this.#keys.set(nameOf(row.runId, row.key), id);
    this.question.set(id, { version: guard + 1, body, runId: row.runId, key: row.key, status: row.status });
  }

  #append(runId: string, body: string): void {
    const chain = this.findChain(runId);
    if (!chain) return;
    chain.n += 1;
    chain.hash = chainHash(chain.hash, body);
    this.event.push({ runId, ...chain, body, cursor: String(this.event.length + 1) });
  }

  #schedule({ job, body }: PreparedJob, now: Instant): number {
    const { kind, host, agent, dueAt, claim } = job;
    const attempt = this.nextAttempt();
    const leaseUntil = claim && later(now, claim.leaseMs);
    this.job.set(job.key, { body, kind, host, agent, dueAt, attempt, leaseUntil });
    return attempt;
  }

  #postpone({ key, dueAt, body }: PreparedPostponed): void {
    const job = this.job.get(key);
    if (job) this.job.set(key, { ...job, body, dueAt, attempt: this.nextAttempt(), leaseUntil: undefined });
  }
}

export function nameOf(...parts: string[]): string {
  return JSON.stringify(parts);
}

function sessionOf(run: Pick<Run, "host" | "agent" | "session">): string | undefined {
  return run.session === undefined ? undefined : nameOf(run.host, run.agent, run.session);
}
