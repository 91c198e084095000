import type { Changes } from "../core/changes.ts";
import { Refusal } from "../core/refusal.ts";
import { changeOf } from "./change-listeners.ts";
import { prepare, type Prepared } from "./prepare.ts";
import type { Change, Committed } from "./store.ts";

export const BATCH_COMMITS = 128;
const BATCH_BYTES = 1024 * 1024;
const ALONE_AFTER = 4;
const SHARED_FROM = 16;
/** How far past commits that must wait we look for others that need not. */
const LOOK_AHEAD = 4 * BATCH_COMMITS;

export interface BatchDeps {
  /** How many batches may be on their way at once; no two of them touch the same thing. */
  atOnce: number;
  /**
   * Writes a batch in one transaction and says what became of each commit, in the same order.
   * The batch is sorted by run id and no two of its commits touch the same thing.
   */
  apply(batch: readonly Prepared[]): Promise<Committed[]>;
  /** Hears what the batch changed, after those who wait for its commits were answered. */
  tell(change: Change): void;
}

interface Caller {
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

/** A commit and all who wait for it: reports on one run are written as one. */
interface Waiting {
  commit: Prepared;
  callers: Caller[];
}

type Tried = { ok: true; committed: Committed[] } | { ok: false; error: unknown };

/** Lets commits that come in one turn of the loop share a transaction; while some are written, the next gather. */
export class Batcher {
  readonly #deps: BatchDeps;
  #waiting: Waiting[] = [];
  #workers = 0;
  readonly #working = new Set<Promise<void>>();
  /** What the batches on their way touch. */
  readonly #busy = new Set<string>();
  /** How many of the latest batches in a row held one commit only. */
  #alone = 0;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
  }

  /** Resolves when the commit is kept or refused. */
  add(changes: Changes): Promise<Committed> {
    const commit = prepare(changes);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, callers: [{ resolve, reject }] });
      this.#start();
    });
  }

  /** Resolves when nothing that was added is still on its way. */
  async idle(): Promise<void> {
    await Promise.all(this.#working);
  }

  #start(): void {
    if (this.#workers >= this.#deps.atOnce) return;
    this.#workers += 1;
    const working = this.#work();
    this.#working.add(working);
    void working.then(() => this.#working.delete(working));
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#mayGather()) await nextTurn();
      const { batch, rest } = takeBatch(this.#waiting, { busy: this.#busy, most: this.#share() });
      // All that waits, waits for a batch on its way: whoever writes that one goes on with it.
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

  /** Who takes all leaves nothing to do while it is written; small batches are not worth sharing. */
  #share(): number {
    const waiting = this.#waiting.length;
    const isShared = this.#deps.atOnce > 1 && this.#busy.size === 0 && waiting >= SHARED_FROM;
    return isShared ? Math.min(Math.ceil(waiting / 2), BATCH_COMMITS) : BATCH_COMMITS;
  }

  /** Waiting for company costs time, so who was alone for a while waits for it only now and then. */
  #mayGather(): boolean {
    return this.#alone < ALONE_AFTER || this.#alone % ALONE_AFTER === 0 || this.#waiting.length > 1;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const results = await this.#try(batch);
    if (results.ok) return this.#answer(batch, results.committed);
    // A refusal (disk full, store busy) holds for every commit alike; anything else may be the fault of one of them.
    const isForAll = results.error instanceof Refusal;
    for (const one of batch) {
      const again = isForAll ? results : await this.#try([one]);
      if (again.ok) this.#answer([one], again.committed);
      else for (const caller of one.callers) caller.reject(again.error);
    }
  }

  async #try(batch: readonly Waiting[]): Promise<Tried> {
    try {
      return { ok: true, committed: await this.#deps.apply(batch.map((one) => one.commit)) };
    } catch (error) {
      return { ok: false, error };
    }
  }

  #answer(batch: readonly Waiting[], results: readonly Committed[]): void {
    const kept: Prepared[] = [];
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

/** The next batch, and what has to wait: commits that touch the same thing keep their order. */
function takeBatch(
  waiting: readonly Waiting[],
  { busy, most }: { busy: ReadonlySet<string>; most: number },
): { batch: Waiting[]; rest: Waiting[] } {
  const batch: Waiting[] = [];
  const passedOver: Waiting[] = [];
  const touched = new Set<string>();
  const reports = new Map<string, Waiting>();
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
    // What a waiting commit touches counts too, or a later one could overtake it.
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

/** The run that a commit only reports on. Such a commit has no guard, so many of them go through or fail together. */
function reportedRun({ runIds, touches, runs, questions, contents }: Prepared): string | undefined {
  const isReport = touches.length === 1 && runIds.length === 1;
  return isReport && runs.length + questions.length + contents.length === 0 ? runIds[0] : undefined;
}

function join(report: Waiting, other: Waiting): void {
  const events = [...report.commit.events, ...other.commit.events];
  report.commit = { ...report.commit, events, bytes: report.commit.bytes + other.commit.bytes };
  report.callers.push(...other.callers);
}

function byRunId(one: Waiting, other: Waiting): number {
  const left = one.commit.runIds[0] ?? "";
  const right = other.commit.runIds[0] ?? "";
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
