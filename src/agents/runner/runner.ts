import { setTimeout as sleep } from "node:timers/promises";
import { SYSTEM } from "../../core/people/actor.ts";
import { CARRY_MS, adoptRun, endCarried, putBack } from "../../core/run/run-ownership.ts";
import type { RunId } from "../../core/id.ts";
import type { Postponed } from "../../core/changes.ts";
import { SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob, JobKind } from "../../core/run/job.ts";
import { isOutage } from "../../core/run/outage.ts";
import { isPending } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { JobLost } from "../../engine/decide.ts";
import { retryOf, sayWhy } from "../../engine/jobs/job-retry.ts";
import type { Handler, Work } from "../../engine/jobs/worker.ts";
import { Follower } from "./follower.ts";
import { findLaunch } from "./launch.ts";
import { MirrorWatch } from "./mirror-watch.ts";
import { blockEpochs, findAgent } from "../process/process.ts";
import { readOwnIdentity } from "../process/process-identity.ts";
import { hasRunDir, listEpochs, makeRunDir } from "./run-files.ts";
import { type StarterDeps, type Taken, startAgent, takeUp } from "./starter.ts";
import { stopRun } from "../process/stop.ts";
import { sweepRuns } from "../sweep.ts";
import { Heart, isWorkerGone } from "./worker-row.ts";

const OUTAGE_PAUSE_MS = 2 * SECOND_MS;

export interface RunnerDeps extends StarterDeps {
  host: string;
  /** The version of this askd, for those who look after it. */
  version?: string;
  rules: Rules;
  /** The engine that this runner works for. */
  engine(): Engine;
  onFailure(run: Run, error: unknown): void;
  /** How long before a start is tried again that the store or this machine stood in the way of. */
  outagePauseMs?: number;
}

/** Starts, follows, stops and takes over the agents of this host, as jobs say. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #carried = new Map<RunId, Promise<void>>();
  readonly #stopping = new Set<Promise<void>>();
  /** What went wrong with a run since it was last looked after. */
  readonly #failed = new Map<RunId, unknown>();
  /** What the log says of it: the same again is no news. */
  readonly #told = new Map<RunId, string>();
  readonly #leave = new AbortController();
  #heart: Promise<Heart> | undefined;
  #mirrors: MirrorWatch | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  get agents(): readonly string[] {
    return Object.keys(this.#deps.agents);
  }

  /** How many agents this process follows. */
  get count(): number {
    return this.#carried.size;
  }

  handlers(): Partial<Record<JobKind, Handler>> {
    return {
      resume: (job, work) => this.#start(job, work),
      carry: (job, work) => this.#carry(job, work),
      stop: (job, work) => this.#stop(job, work),
    };
  }

  /** Beats from now on, so that everybody sees that this worker is there although it has nothing to do. */
  begin(work: Pick<Work, "store" | "decider">): Promise<void> {
    return this.#beat(work);
  }

  /** Leaves all agents as they are; whoever comes next takes them over. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await Promise.all([...this.#carried.values(), ...this.#stopping]);
    (await this.#heart?.catch(() => undefined))?.stop(); // whoever wanted it heard why there is none
    await this.#mirrors?.stop();
  }

  async #start(job: ClaimedJob, work: Work): Promise<void> {
    await this.#beat(work);
    const taken = await takeUp(job, work, this.#deps);
    // The rest may take long, and other jobs wait for this one to end.
    if (taken) this.#keep(taken.run, () => this.#startAndFollow(taken, work));
    else this.#deps.onStep?.("lost");
  }

  async #startAndFollow(taken: Taken, work: Work): Promise<void> {
    const { worker, onStep } = this.#deps;
    let failure: string | undefined;
    try {
      if (await this.#startPatiently(taken, work)) return await this.#follow(taken, work);
      onStep?.("lost");
    } catch (error) {
      // Only what says something about the agent counts as a failed start of it.
      if (!isOutage(error)) failure = error instanceof Error ? error.message : String(error);
      this.#deps.onFailure(taken.run, error);
    }
    const run = await work.store.findRun(taken.run.id);
    if (run?.worker === worker) await this.#adopt(run, work, failure);
  }

  /**
   * Starts the agent. What the store or this machine lacks says nothing about the agent: the same start is tried again
   * until it is there, while nobody else has the run; the job that looks after the run says meanwhile what is missing.
   */
  async #startPatiently(taken: Taken, work: Work): Promise<boolean> {
    const { run, runDir } = taken;
    for (;;) {
      try {
        return await startAgent(taken, work, this.#deps);
      } catch (error) {
        const mayRepeat = isOutage(error) && !this.#leave.signal.aborted;
        if (!mayRepeat || (await findAgent(runDir, run.epoch)).state !== "none") throw error;
        this.#note(run, error);
      }
      const pauseMs = this.#deps.outagePauseMs ?? OUTAGE_PAUSE_MS;
      await sleep(pauseMs, undefined, { signal: this.#leave.signal }).catch(() => undefined); // told to leave
    }
  }

  /** Keeps what went wrong for the job that looks after the run, which shows it to everybody. */
  #note(run: Run, error: unknown): void {
    const isNews = this.#told.get(run.id) !== sayWhy(error);
    this.#failed.set(run.id, error);
    this.#told.set(run.id, sayWhy(error));
    if (isNews) this.#deps.onFailure(run, error);
  }

  /** Somebody has to be there for every agent: if its worker is gone, this one goes on with it. */
  async #carry(job: ClaimedJob, work: Work): Promise<void> {
    const { store, decider } = work;
    const run = job.runId && (await store.findRun(job.runId));
    if (!run || run.worker === undefined) return void (await decider.commit({ finished: [job] }));
    const isOurs = run.worker === this.#deps.worker;
    const isLookedAfter = this.#carried.has(run.id) || (!isOurs && !(await isWorkerGone(store, run.worker)));
    if (!isLookedAfter && !this.#leave.signal.aborted) {
      await this.#beat(work);
      this.#keep(run, () => this.#adopt(run, work, undefined));
    }
    await decider.commit({ postponed: [this.#carryAgain(job, work)] });
  }

  /** The next look after a run; with what went wrong since the last one, if anything did. */
  #carryAgain(job: ClaimedJob, { now }: Work): Postponed {
    const dueAt = later(now, CARRY_MS);
    const error = job.runId && this.#failed.get(job.runId);
    if (job.runId) (error === undefined ? this.#told : this.#failed).delete(job.runId);
    if (error === undefined) return { job, dueAt, tries: 0 };
    return { job, dueAt, tries: job.tries + 1, failure: { why: sayWhy(error), at: now } };
  }

  /** Goes on with an agent that nobody follows; one that was never started is left to a new start. */
  async #adopt(run: Run, work: Work, failure: string | undefined): Promise<void> {
    const { agents, stateDir, worker, env, onStep } = this.#deps;
    const agent = agents[run.agent];
    if (!agent || run.worker === undefined) return;
    const from = { worker: run.worker, epoch: run.epoch };
    // A worker of this host that keeps its files elsewhere cannot tell whether an agent was started.
    if (!hasEnded(run) && !(await hasRunDir(stateDir, run.id))) return;
    const runDir = await makeRunDir(stateDir, run.id);
    // A run that was cancelled is an epoch ahead of its last agent.
    const epoch = hasEnded(run) ? run.epoch - 1 : run.epoch;
    onStep?.("adopting");
    if ((await findAgent(runDir, epoch)).state === "none") await blockEpochs(runDir, epoch);
    if ((await findAgent(runDir, epoch)).state === "void") {
      onStep?.("voided");
      await work.decider.changeRun(run.id, SYSTEM, (read, at) => putBack(read, from, failure, at));
      return;
    }
    const adopted = await work.decider.changeRun(run.id, SYSTEM, (read, at) => adoptRun(read, from, worker, at));
    if (adopted.worker !== worker) return;
    onStep?.("adopted");
    const launch = await findLaunch(adopted, runDir, agent, env);
    if (launch) return this.#follow({ run: { ...adopted, epoch }, runDir, agent, launch }, work);
    // Nobody can say what it wrote, so it is only seen to its end.
    await stopRun({ runId: run.id, runDir, lastEpoch: epoch });
    const lost = { status: "failed", reason: "launch_lost" } as const;
    const by = { worker, epoch: run.epoch };
    await work.decider.changeRun(run.id, SYSTEM, (read, at) => endCarried(read, by, lost, at));
  }

  /** Ends what is over: the agent of a cancelled run, or one that was told to stop and did not. */
  async #stop(job: ClaimedJob, work: Work): Promise<void> {
    const run = job.runId && (await work.store.findRun(job.runId));
    const isMoved = run?.host !== undefined && run.host !== this.#deps.host;
    if (!run || !(isMoved || (await isToStop(run, work)))) return void (await work.decider.commit({ finished: [job] }));
    // It may take its time to end, and other jobs do not wait for that.
    const stopping: Promise<void> = this.#end(run, job, work)
      .catch((error: unknown) => this.#putOff(job, error, work))
      // Its lease ends, and it comes back by itself.
      .catch((error: unknown) => (error instanceof JobLost ? undefined : this.#deps.onFailure(run, error)))
      .finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  async #end(run: Run, job: ClaimedJob, work: Work): Promise<void> {
    const runDir = await makeRunDir(this.#deps.stateDir, run.id);
    // Of a run that went on elsewhere only what was started here is ended.
    const lastEpoch = run.host === this.#deps.host ? run.epoch : ((await listEpochs(runDir, "pid")).at(-1) ?? 0);
    const { left } = await stopRun({ runId: run.id, runDir, lastEpoch });
    if (left.length > 0) throw new Error(`${left.length} processes of run #${run.number} do not go away`);
    await work.decider.commit({ finished: [job] });
  }

  /** A job that failed after its handler had let it go is tried again, and says why. */
  async #putOff(job: ClaimedJob, error: unknown, { decider, onFailure }: Work): Promise<void> {
    if (error instanceof JobLost) return;
    onFailure(job, error);
    await decider.commit({ postponed: [retryOf(job, error, decider.at(SYSTEM).now)] });
  }

  async #follow({ run, runDir, agent, launch }: Taken, work: Work): Promise<void> {
    const { engine, rules, worker, note, onStep } = this.#deps;
    const follower = new Follower({
      ...{
        runId: run.id,
        runDir,
        by: { worker, epoch: run.epoch },
        agent,
        launch,
        engine: engine(),
        work,
        rules,
        onStep,
      },
      note: (text) => note(run, text),
      leave: this.#leave.signal,
    });
    await follower.follow();
  }

  /** Looks after a run here; if that fails, the job that looks after it finds nobody and tries again. */
  #keep(run: Run, carry: () => Promise<void>): void {
    const carried: Promise<void> = carry()
      .catch((error: unknown) => this.#note(run, error))
      .finally(() => {
        if (this.#carried.get(run.id) === carried) this.#carried.delete(run.id);
      });
    this.#carried.set(run.id, carried);
  }

  /** Nobody takes over what this worker has while it beats; the first time it also clears up. */
  async #beat(work: Pick<Work, "store" | "decider">): Promise<void> {
    this.#heart ??= this.#makeHeart(work).catch((error: unknown) => {
      this.#heart = undefined; // the next one to need it makes it anew
      throw error;
    });
    await (await this.#heart).start();
  }

  async #makeHeart(work: Pick<Work, "store" | "decider">): Promise<Heart> {
    const { store } = work;
    const { worker: id, host, stateDir, version } = this.#deps;
    const onFailure = (): void => undefined; // the next beat comes soon, and who misses many takes over
    void sweepRuns(stateDir, work).catch(onFailure); // the next worker sweeps again
    this.#mirrors ??= new MirrorWatch({ store, host, note: this.#deps.note });
    return new Heart({ store, id, host, version, process: await readOwnIdentity(), onFailure });
  }
}

async function isToStop(run: Run, { store }: Work): Promise<boolean> {
  if (hasEnded(run)) return true;
  const pending = run.pendingId && (await store.findQuestion(run.pendingId));
  if (pending) return isPending(pending) && pending.hold === undefined;
  // Answered since: an agent that was told to stop is not told the answer as well.
  const owed = await Promise.all(run.owes.map((id) => store.findQuestion(id)));
  return owed.some((question) => question && "handover" in question && question.handover?.state === "owed");
}
