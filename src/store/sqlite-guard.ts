import type { Question } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import type { Prepared, PreparedRow } from "./prepare.ts";
import type { Connection } from "./sqlite-connection.ts";
import type { Committed } from "./store.ts";

/** A run row as it is before the batch; the chain grows while the batch is written. */
export interface KeptRun {
  version: number;
  host: string;
  agent: string;
  session: string | null;
  name: string;
  external_id: string | null;
  parent_id: string | null;
  status: string;
  ended_at: string | null;
  chain_n: number;
  chain_hash: string;
  chain_seq: number;
}

export type Why = Extract<Committed, { ok: false }>["why"];

const RUN = `select version, host, agent, session, name, external_id, parent_id, status, ended_at,
  chain_n, chain_hash, chain_seq from run where id = ?`;
const SESSION = "select id from run where host = ? and agent = ? and session = ?";
const QUESTION = "select version, status from question where id = ?";
const NEW_QUESTION = `select exists (select 1 from question where id = ?1)
    or exists (select 1 from question where run_id = ?2 and key = ?3) as taken,
  (select id from question where run_id = ?2 and status = 'pending') as pending`;
const ENTRY = "select version from entry where kind = ? and id = ?";
const SEAL = "select 1 as found from seal where n = ?";
const ATTEMPT = "select attempt from job where key = ?";

/** Says why a commit may not be written, inside the transaction that would write it; only reads. */
export class SqliteGuard {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  findRun(id: string): KeptRun | undefined {
    return this.#connection.prepare<KeptRun>(RUN).get(id);
  }

  /** The first reason found, if there is one. `kept` are the rows of the commit's runs. */
  check(commit: Prepared, kept: ReadonlyMap<string, KeptRun>): Why | undefined {
    return (
      this.#checkRuns(commit, kept) ??
      this.#checkQuestions(commit) ??
      this.#checkEntries(commit) ??
      this.#checkSeals(commit) ??
      this.#checkJobs(commit)
    );
  }

  #checkRuns(commit: Prepared, kept: ReadonlyMap<string, KeptRun>): Why | undefined {
    for (const run of commit.runs) {
      const before = kept.get(run.id);
      if (run.guard > 0 && before?.version !== run.guard) return "moved";
      if (run.guard === 0 && before !== undefined) return "taken";
      if (this.#isSessionTaken(run, before)) return "taken";
    }
    return undefined;
  }

  #isSessionTaken({ id, row }: PreparedRow<Run>, before: KeptRun | undefined): boolean {
    if (row.session === undefined) return false;
    if (before?.session === row.session && before.host === row.host && before.agent === row.agent) return false;
    const owner = this.#connection.prepare<{ id: string }>(SESSION).get(row.host, row.agent, row.session);
    return owner !== undefined && owner.id !== id;
  }

  #checkQuestions({ questions }: Prepared): Why | undefined {
    for (const question of questions) {
      const { id, guard, row } = question;
      const before = guard > 0 ? this.#connection.prepare<KeptQuestion>(QUESTION).get(id) : undefined;
      if (guard > 0 && before?.version !== guard) return "moved";
      if (before?.status === row.status) continue;
      if ((guard === 0 || row.status === "pending") && this.#isTaken(question, questions)) return "taken";
    }
    return undefined;
  }

  #isTaken({ id, guard, row }: PreparedRow<Question>, all: ReadonlyArray<PreparedRow<Question>>): boolean {
    const found = this.#connection.prepare<Found>(NEW_QUESTION).get(id, row.runId, row.key);
    if (found === undefined || (guard === 0 && found.taken === 1)) return true;
    if (row.status !== "pending" || found.pending === null) return false;
    // The one that is pending now may be closed by this very commit.
    return !all.some((other) => other.id === found.pending && other.row.status !== "pending");
  }

  #checkEntries(commit: Prepared): Why | undefined {
    for (const { kind, id, guard } of commit.entries) {
      const before = this.#connection.prepare<{ version: number }>(ENTRY).get(kind, id);
      if (guard > 0 && before?.version !== guard) return "moved";
      if (guard === 0 && before !== undefined) return "taken";
    }
    return undefined;
  }

  #checkSeals(commit: Prepared): Why | undefined {
    return commit.seals.some(({ n }) => this.#connection.prepare(SEAL).get(n) !== undefined) ? "taken" : undefined;
  }

  #checkJobs(commit: Prepared): Why | undefined {
    const isLost = ({ key, attempt }: { key: string; attempt: number }): boolean =>
      this.#connection.prepare<{ attempt: number }>(ATTEMPT).get(key)?.attempt !== attempt;
    return commit.finished.some(isLost) || commit.postponed.some(isLost) ? "job_lost" : undefined;
  }
}

interface KeptQuestion {
  version: number;
  status: string;
}

interface Found {
  taken: number;
  pending: string | null;
}
