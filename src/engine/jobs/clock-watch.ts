import { SYSTEM } from "../../core/people/actor.ts";
import { isTimer, setTimer } from "../../core/question/question-timer.ts";
import { type ClockRow as Row, type ClockReading, updateClock, parseClock } from "../../core/run/clock-jump.ts";
import { type Instant, MINUTE_MS, later } from "../../core/instant.ts";
import type { Job } from "../../core/run/job.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import type { KeptJob, Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

const MOST_JOBS = 10_000;
const AT_ONCE = 64;
/** Leases are seconds; one this long was made by a clock that was put back since. */
const LONG_LEASE_MS = MINUTE_MS;

/** The machine, as far as its real time is concerned. */
export interface ClockMachine {
  /** Its lasting id: names of hosts change, of containers with every start. */
  id(): string | Promise<string>;
  /** Names its start. */
  boot(): Promise<string>;
  /** How long it has been up, sleep included. */
  uptimeMs(): number;
}

export interface ClockWatchDeps {
  store: Store;
  decider: Decider;
  rules: Rules;
  machine: ClockMachine;
}

/** The state of the clock when it was checked. */
export interface ClockKnown {
  row: Row;
  sight: ClockReading;
}

/**
 * Compares the clock that decides deadlines with the real time of this machine, before deadlines are met. What it knows
 * is kept in the store: a command that runs for a moment sees a jump that came since the one before it.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps;
  #boot: Promise<string | undefined> | undefined;
  #row: Row | undefined;
  #machineId: string | undefined;

  constructor(deps: ClockWatchDeps) {
    this.#deps = deps;
  }

  /** Real time, for callers that are about to read the clock. */
  uptimeMs(): number {
    return this.#deps.machine.uptimeMs();
  }

  /** Looks at the clock, which was read since the machine had been up for `beforeMs`; undefined where nothing is known. */
  async look(now: Instant, beforeMs: number): Promise<ClockKnown | undefined> {
    const { machine } = this.#deps;
    const uptimeMs = { before: beforeMs, after: machine.uptimeMs() };
    // On a system that does not name its starts, the clock is all there is.
    const boot = await (this.#boot ??= machine.boot().catch(() => undefined));
    if (boot === undefined) return undefined;
    const sight: ClockReading = { now, boot, uptimeMs };
    // A jump that another process noticed, believed or saw put right changes its row.
    if (this.#row && isQuiet(this.#row, sight)) return { row: this.#row, sight };
    const row = await this.#keep(sight);
    if (row.putBackMs === undefined) return { row, sight };
    await this.#realign(row.putBackMs, now);
    return { row: await this.#keep(sight, { isRealigned: true }), sight };
  }

  /** Keeps what is new, unless another process does so at this moment: then what that one kept is looked at. */
  async #keep(sight: ClockReading, { isRealigned = false } = {}) {
    const { store, decider, machine } = this.#deps;
    return decider.retry(async () => {
      const id = (this.#machineId ??= await machine.id());
      const entry = await store.findEntry("clock", id);
      const found = parseClock(entry?.body);
      const looked = updateClock(found, sight);
      const row = isRealigned ? { ...looked, putBackMs: undefined } : looked;
      const version = entry?.version ?? 0;
      const entries = [{ kind: "clock", id, version, body: row } as const];
      if (row !== found && !(await decider.commit({ entries })).ok) return undefined;
      return (this.#row = row);
    });
  }

  /**
   * Brings the jobs in line with a clock that was put back: what is due by questions is set by them anew, everything
   * else comes that much sooner, and leases that would last for hours end.
   */
  async #realign(byMs: number, now: Instant) {
    const jobs = await this.#deps.store.listJobs(MOST_JOBS);
    for (let at = 0; at < jobs.length; at += AT_ONCE) {
      await Promise.all(jobs.slice(at, at + AT_ONCE).map((job) => this.#realignJob(job, byMs, now)));
    }
  }

  async #realignJob(kept: KeptJob, byMs: number, now: Instant) {
    const { attempt: _attempt, leaseUntil, ...job } = kept;
    const isLeased = leaseUntil !== undefined && leaseUntil > now && leaseUntil <= later(now, LONG_LEASE_MS);
    if (isLeased) return; // somebody does it at this moment
    if (isTimer(job) && job.questionId !== undefined) return this.#resetClock(job);
    if (job.dueAt <= now && leaseUntil === undefined) return;
    const sooner = later(job.dueAt, -byMs);
    await this.#deps.decider.commit({ scheduled: [{ ...job, dueAt: sooner > now ? sooner : now }] });
  }

  async #resetClock({ questionId, key }: Job) {
    const { decider, rules } = this.#deps;
    if (questionId === undefined) return;
    try {
      await decider.changeQuestion(questionId, SYSTEM, ({ question }) =>
        isPending(question) ? setTimer(question, rules) : {},
      );
    } catch (error) {
      if (error instanceof Refusal && error.code === "store_unusable") return; // a damaged row; the others go on
      if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
      await decider.commit({ dropped: [key] });
    }
  }
}

/** Returns whether a row that was read before is still complete. */
function isQuiet(row: Row, sight: ClockReading) {
  return row.doubted === undefined && row.putBackMs === undefined && updateClock(row, sight) === row;
}
