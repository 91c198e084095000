import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { PreparedCommit, PreparedRow } from "../prepare.ts";
import type { Connection } from "./connection.ts";
import type { CachedRun, WriterCache } from "./writer-cache.ts";
import type { CommitResult } from "../store.ts";

export type CommitFailure = Extract<CommitResult, { ok: false }>["why"];

const SESSION = "select id from run where host = ? and agent = ? and session = ?";
const OF_RUN = "select id, key, status from question where run_id = ?";
const ENTRY = "select version from entry where kind = ? and id = ?";
const SEAL = "select 1 as found from seal where n = ?";
const ATTEMPT = "select attempt from job where key = ?";

interface QuestionOfRun {
  id: string;
  key: string;
  status: string;
}

/** Checks whether a commit may be written, inside its transaction; only reads. */
export class SqliteCommitGuard {
  readonly #connection: Connection;
  readonly #kept: WriterCache;

  constructor(connection: Connection, kept: WriterCache) {
    this.#connection = connection;
    this.#kept = kept;
  }

  /** The first failure found, if any. */
  check(commit: PreparedCommit): CommitFailure | undefined {
    return (
      this.#checkRuns(commit) ??
      this.#checkQuestions(commit) ??
      this.#checkEntries(commit) ??
      this.#checkSeals(commit) ??
      this.#checkJobs(commit)
    );
  }

  #checkRuns(commit: PreparedCommit): CommitFailure | undefined {
    for (const run of commit.runs) {
      const before = this.#kept.findRun(run.id);
      if (run.guard > 0 && before?.version !== run.guard) return "moved";
      if (run.guard === 0 && before !== undefined) return "taken";
      if (this.#isSessionTaken(run, before)) return "taken";
    }
    return undefined;
  }

  #isSessionTaken({ id, row }: PreparedRow<Run>, before: CachedRun | undefined) {
    if (row.session === undefined) return false;
    if (before?.session === row.session && before.host === row.host && before.agent === row.agent) return false;
    const owner = this.#connection.prepare<{ id: string }>(SESSION).get(row.host, row.agent, row.session);
    return owner !== undefined && owner.id !== id;
  }

  #checkQuestions(commit: PreparedCommit): CommitFailure | undefined {
    for (const question of commit.questions) {
      const { id, guard, row } = question;
      const before = this.#kept.findQuestion(id);
      if (guard > 0 && before?.version !== guard) return "moved";
      if (guard === 0 && before !== undefined) return "taken";
      if (before?.status === row.status) continue;
      if ((guard === 0 || row.status === "pending") && this.#isTaken(question, commit)) return "taken";
    }
    return undefined;
  }

  /** Another question of the run has its key, or is pending and not closed by this commit. */
  #isTaken({ id, row }: PreparedRow<Question>, commit: PreparedCommit) {
    const hasRun = this.#kept.findRun(row.runId) !== undefined;
    const others = hasRun ? this.#connection.prepare<QuestionOfRun>(OF_RUN).all(row.runId) : [];
    const isClosed = (other: string) =>
      commit.questions.some((question) => question.id === other && question.row.status !== "pending");
    return others.some(
      (other) =>
        other.id !== id &&
        (other.key === row.key || (row.status === "pending" && other.status === "pending" && !isClosed(other.id))),
    );
  }

  #checkEntries(commit: PreparedCommit): CommitFailure | undefined {
    for (const { kind, id, guard } of commit.entries) {
      const before = this.#connection.prepare<{ version: number }>(ENTRY).get(kind, id);
      if (guard > 0 && before?.version !== guard) return "moved";
      if (guard === 0 && before !== undefined) return "taken";
    }
    return undefined;
  }

  #checkSeals(commit: PreparedCommit): CommitFailure | undefined {
    return commit.seals.some(({ n }) => this.#connection.prepare(SEAL).get(n) !== undefined) ? "taken" : undefined;
  }

  #checkJobs(commit: PreparedCommit): CommitFailure | undefined {
    const isLost = ({ key, attempt }: { key: string; attempt: number }) =>
      this.#connection.prepare<{ attempt: number }>(ATTEMPT).get(key)?.attempt !== attempt;
    return commit.finished.some(isLost) || commit.postponed.some(isLost) ? "job_lost" : undefined;
  }
}
