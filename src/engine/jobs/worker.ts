import { SYSTEM } from "../../core/people/actor.ts";
import type { WorkerId } from "../../core/id.ts";
import type { Changes } from "../../core/changes.ts";
import { isTimer } from "../../core/question/question-timer.ts";
import { type Instant, SECOND_MS, epochMs } from "../../core/instant.ts";
import type { ClaimedJob, JobKind } from "../../core/run/job.ts";
import { Refusal } from "../../core/refusal.ts";
import type { ClaimFilter, Store } from "../../store/store.ts";
import type { ClockKnown, ClockWatch } from "./clock-watch.ts";
import { type Decider, JobLost } from "../decide.ts";
import { retryOf } from "./job-retry.ts";

const LEASE_MS = 15_000;
const CLAIMED_AT_ONCE = 128;
const LONGEST_SLEEP_MS = 30_000;
/** Retry interval while the store is unreachable; a store that reports its return is used at once. */
const OUTAGE_PAUSES_MS = [500, SECOND_MS, 2 * SECOND_MS, 5 * SECOND_MS];

/** Everything a job handler works with. */
export interface JobContext {
  store: Store;
  decider: Decider;
  /** The store's time at the claim. */
  now: Instant;
  /** The state of the clock that showed it. */
  clock?: ClockKnown | undefined;
  /** Reports a failed job that its handler reschedules by itself. */
  onFailure: WorkerDeps["onFailure"];
}

/** Does a job and commits its end; what it throws is tried again later. */
export type Handler = (job: ClaimedJob, work: JobContext) => Promise<void>;

export interface WorkerDeps {
  store: Store;
  decider: Decider;
  /** Made when it is first needed: most commands find nothing to do. */
  id(): WorkerId;
  host: string;
  /** The agents that this machine can start. */
  agents: readonly string[];
  handlers: Partial<Record<JobKind, Handler>>;
  /** Receives the store's time with every claim. */
  syncClock(now: Instant): void;
  /** Compares that time with real time before deadlines are met by it. */
  clock?: Pick<ClockWatch, "look" | "uptimeMs">;
  /** Reports failed jobs; they are retried. */
  onFailure(job: ClaimedJob, error: unknown): void;
  /** Arranges what has to be there before the first job; done again if it fails. */
  prepare?(): Promise<void>;
  /** The same for a worker that stays. */
  begin?(): Promise<void>;
  /** Reports that no job could be claimed from the store, and how many times in a row; claiming is retried until it works. */
  onOutage?(error: unknown, times: number): void;
}

/** Does jobs as they fall due: claims, leases, tries again, sleeps until the next one. */
export class Worker {
  readonly #deps: WorkerDeps;
  readonly #filter: ClaimFilter;
  #isStopping = false;
  #working: Promise<void> | undefined;
  #wake: () => void = () => {};
  #wakeAt: Instant | undefined;
  #isPrepared = false;
  #hasBegun = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    const kinds = Object.keys(deps.handlers) as JobKind[]; // the keys of a record of kinds
    this.#filter = {
      get worker() {
        return deps.id();
      },
      kinds,
      host: deps.host,
      agents: deps.agents,
      leaseMs: LEASE_MS,
      limit: CLAIMED_AT_ONCE,
    };
  }

  /** Does everything that is due now and says how much that was. */
  async doDue(): Promise<number> {
    if (!this.#isPrepared) await this.#deps.prepare?.();
    this.#isPrepared = true;
    const { store, decider, syncClock, clock, onFailure } = this.#deps;
    let done = 0;
    while (!this.#isStopping) {
      const beforeMs = clock?.uptimeMs() ?? 0;
      const { now, jobs } = await store.claimJobs(this.#filter);
      syncClock(now);
      const known = await clock?.look(now, beforeMs);
      if (jobs.length === 0) break;
      const work: JobContext = { store, decider, now, clock: known, onFailure };
      await Promise.all(inOrder(jobs).map((line) => this.#doLine(line, work)));
      done += jobs.length;
    }
    return done;
  }

  /** Works until stopped; a store that is away for a while is waited for. */
  work(): Promise<void> {
    this.#working ??= this.#loop();
    return this.#working;
  }

  /** Lets the jobs in hand end and takes no new ones. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#working;
  }

  async #loop() {
    const stopListening = this.#deps.store.onChange((change) => {
      if (change.all || change.dueAt === undefined || this.#wakeAt === undefined || change.dueAt < this.#wakeAt)
        this.#wake();
    });
    try {
      for (let failures = 0; !this.#isStopping;) {
        const woken = this.#untilWoken();
        try {
          const sleepMs = await this.#turn();
          failures = 0;
          await woken.within(sleepMs);
        } catch (error) {
          // Only a newer program's store stays closed to this one.
          if (error instanceof Refusal && error.code === "newer_schema") throw error;
          failures += 1;
          this.#deps.onOutage?.(error, failures);
          await woken.within(OUTAGE_PAUSES_MS[Math.min(failures, OUTAGE_PAUSES_MS.length) - 1] ?? SECOND_MS);
        }
      }
    } finally {
      stopListening();
    }
  }

  /** Does what is due and says how long nothing else will be. */
  async #turn() {
    this.#wakeAt = undefined;
    if (!this.#hasBegun) await this.#deps.begin?.();
    this.#hasBegun = true;
    await this.doDue();
    const next = await this.#deps.store.nextJobAt(this.#filter);
    this.#wakeAt = next;
    if (next === undefined) return LONGEST_SLEEP_MS;
    return Math.min(LONGEST_SLEEP_MS, epochMs(next) - epochMs(await this.#deps.store.now()));
  }

  /** Listens from now on for a reason to look again, so that none is missed while this turn goes on. */
  #untilWoken(): { within(ms: number): Promise<void> } {
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    return {
      within: async (ms) => {
        if (this.#isStopping) return;
        const timer = setTimeout(() => this.#wake(), Math.max(1, ms));
        await woken;
        clearTimeout(timer);
      },
    };
  }

  async #doLine(jobs: readonly ClaimedJob[], work: JobContext) {
    for (const job of jobs) await this.#do(job, work);
  }

  async #do(job: ClaimedJob, work: JobContext) {
    try {
      await this.#deps.handlers[job.kind]?.(job, work);
    } catch (error) {
      if (error instanceof JobLost) return; // its lease ended: whoever has it now does it
      work.onFailure(job, error);
      await this.#postpone(job, error);
    }
  }

  async #postpone(job: ClaimedJob, why: unknown) {
    const { decider } = this.#deps;
    try {
      // By the time it is now: what failed may have taken long, and must not be due again at once.
      await decider.commit({ postponed: [retryOf(job, why, decider.at(SYSTEM).now)] });
    } catch (error) {
      // The store is gone or the lease is over; in both cases the job comes back by itself.
      if (!(error instanceof JobLost)) this.#deps.onFailure(job, error);
    }
  }
}

/** Timer jobs of one run are done in order; all other jobs run concurrently. */
function inOrder(jobs: readonly ClaimedJob[]): ClaimedJob[][] {
  const lines = new Map<string, ClaimedJob[]>();
  for (const job of jobs) {
    const name = isTimer(job) ? (job.runId ?? job.key) : job.key;
    const line = lines.get(name);
    if (line) line.push(job);
    else lines.set(name, [job]);
  }
  return [...lines.values()];
}

/** The changes together with the end of the job, unless they schedule the very same job anew. */
export function finishing(job: ClaimedJob, changes: Changes): Changes {
  const isRescheduled = changes.scheduled?.some((next) => next.key === job.key);
  return isRescheduled
    ? changes
    : { ...changes, dropped: changes.dropped?.filter((key) => key !== job.key), finished: [job] };
}
