import type { Changes } from "../core/changes.ts";
import { Refusal } from "../core/refusal.ts";
import { changeOf } from "./change-listeners.ts";
import { nextTurn } from "./next-turn.ts";
import { prepareCommit, type PreparedCommit } from "./prepare.ts";
import type { StoreChange, CommitResult } from "./store.ts";

export const BATCH_COMMITS = 128;
const BATCH_BYTES = 1024 * 1024;
const ALONE_AFTER = 4;
const SHARED_FROM = 16;
/** How many waiting commits are scanned for ones that can be written now. */
const LOOK_AHEAD = 4 * BATCH_COMMITS;

export interface BatcherDeps {
  /** How many batches may be in flight; no two touch the same row. */
  atOnce: number;
  /**
   * Writes a batch in one transaction and returns the result of each commit, in order. The batch is sorted by run id
   * and no two of its commits touch the same row.
   */
  apply(batch: readonly PreparedCommit[]): Promise<CommitResult[]>;
  /** Called with the changes of a batch, after its callers were resolved. */
  tell(change: StoreChange): void;
}

interface Caller {
  resolve(committed: CommitResult): void;
  reject(error: unknown): void;
}

/** A commit and its callers: events about one run are written as one commit. */
interface WaitingCommit {
  commit: PreparedCommit;
  callers: Caller[];
}

type BatchResult = { ok: true; committed: CommitResult[] } | { ok: false; error: unknown };

/** Groups the commits of one turn of the event loop into a transaction; while it is written, the next batch gathers. */
export class Batcher {
  readonly #deps: BatcherDeps;
  #waiting: WaitingCommit[] = [];
  #workers = 0;
  readonly #working = new Set<Promise<void>>();
  /** The rows that batches in flight touch. */
  readonly #busy = new Set<string>();
  /** How many of the latest batches in a row had a single commit. */
  #alone = 0;

  constructor(deps: BatcherDeps) {
    this.#deps = deps;
  }

  /** Resolves when the commit is stored or refused. */
  add(changes: Changes): Promise<CommitResult> {
    const commit = prepareCommit(changes);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, callers: [{ resolve, reject }] });
      this.#start();
    });
  }

  /** Resolves when no commit is in flight. */
  async idle(): Promise<void> {
    await Promise.all(this.#working);
  }

  #start() {
    if (this.#workers >= this.#deps.atOnce) return;
    this.#workers += 1;
    const working = this.#work();
    this.#working.add(working);
    void working.then(() => this.#working.delete(working));
  }

  async #work() {
    while (this.#waiting.length > 0) {
      if (this.#mayGather()) await nextTurn();
      const { batch, rest } = takeBatch(this.#waiting, { busy: this.#busy, most: this.#share() });
      // Everything waiting depends on a batch in flight: its writer continues with it.
      if (batch.length === 0) break;
      this.#waiting = rest;
      this.#alone = batch.length === 1 ? this.#alone + 1 : 0;
      if (rest.length > 0) this.#start();
      const touched = batch.flatMap(({ commit }) => commit.touches);
      for (const name of touched) this.#busy.add(name);
      await this.#write(batch);
      for (const name of touched) this.#busy.delete(name);
    }
    this.#workers -= 1;
  }

  /** One large batch would leave nothing to prepare while it is written; small batches are not worth splitting. */
  #share() {
    const waiting = this.#waiting.length;
    const isShared = this.#deps.atOnce > 1 && this.#busy.size === 0 && waiting >= SHARED_FROM;
    return isShared ? Math.min(Math.ceil(waiting / 2), BATCH_COMMITS) : BATCH_COMMITS;
  }

  /** Waiting for more commits costs time, so after several single commits it is done only now and then. */
  #mayGather() {
    return this.#alone < ALONE_AFTER || this.#alone % ALONE_AFTER === 0 || this.#waiting.length > 1;
  }

  async #write(batch: readonly WaitingCommit[]) {
    const results = await this.#try(batch);
    if (results.ok) return this.#answer(batch, results.committed);
    // A refusal (disk full, store busy) holds for every commit; any other error may be caused by one of them.
    const isForAll = results.error instanceof Refusal;
    for (const one of batch) {
      const again = isForAll ? results : await this.#try([one]);
      if (again.ok) this.#answer([one], again.committed);
      else for (const caller of one.callers) caller.reject(again.error);
    }
  }

  async #try(batch: readonly WaitingCommit[]): Promise<BatchResult> {
    try {
      return { ok: true, committed: await this.#deps.apply(batch.map((one) => one.commit)) };
    } catch (error) {
      return { ok: false, error };
    }
  }

  #answer(batch: readonly WaitingCommit[], results: readonly CommitResult[]) {
    const kept: PreparedCommit[] = [];
    batch.forEach((one, index) => {
      const result = results[index];
      if (result?.ok) kept.push(one.commit);
      for (const caller of one.callers) {
        if (result) caller.resolve(result);
        else caller.reject(new Error("The store did not say what became of a commit."));
      }
    });
    if (kept.length > 0) this.#deps.tell(changeOf(kept));
  }
}

/** Selects the next batch and what has to wait: commits that touch the same row keep their order. */
function takeBatch(
  waiting: readonly WaitingCommit[],
  { busy, most }: { busy: ReadonlySet<string>; most: number },
): { batch: WaitingCommit[]; rest: WaitingCommit[] } {
  const batch: WaitingCommit[] = [];
  const passedOver: WaitingCommit[] = [];
  const touched = new Set<string>();
  const reports = new Map<string, WaitingCommit>();
  let bytes = 0;
  let looked = 0;
  for (const one of waiting) {
    const isFull = batch.length >= most || (batch.length > 0 && bytes + one.commit.bytes > BATCH_BYTES);
    if (isFull || looked >= LOOK_AHEAD) break;
    looked += 1;
    const runId = reportedRun(one.commit);
    const report = runId === undefined ? undefined : reports.get(runId);
    if (report) {
      join(report, one);
      bytes += one.commit.bytes;
      continue;
    }
    const collides = one.commit.touches.some((name) => touched.has(name) || busy.has(name));
    // The rows of waiting commits count too, or a later commit could overtake them.
    for (const name of one.commit.touches) touched.add(name);
    if (collides) {
      passedOver.push(one);
      for (const id of one.commit.runIds) reports.delete(id);
    } else {
      batch.push(one);
      bytes += one.commit.bytes;
      if (runId !== undefined) reports.set(runId, one);
    }
  }
  batch.sort(byRunId);
  return { batch, rest: [...passedOver, ...waiting.slice(looked)] };
}

/** The run a commit only adds events to. Such a commit has no guard, so many of them succeed or fail together. */
function reportedRun({ runIds, touches, runs, questions, contents }: PreparedCommit) {
  const isReport = touches.length === 1 && runIds.length === 1;
  return isReport && runs.length + questions.length + contents.length === 0 ? runIds[0] : undefined;
}

function join(report: WaitingCommit, other: WaitingCommit) {
  const events = [...report.commit.events, ...other.commit.events];
  report.commit = { ...report.commit, events, bytes: report.commit.bytes + other.commit.bytes };
  report.callers.push(...other.callers);
}

function byRunId(one: WaitingCommit, other: WaitingCommit) {
  const left = one.commit.runIds[0] ?? "";
  const right = other.commit.runIds[0] ?? "";
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
