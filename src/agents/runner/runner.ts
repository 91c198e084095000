import { setTimeout as sleep } from "node:timers/promises";
import { SYSTEM } from "../../core/people/actor.ts";
import { OWNERSHIP_MS, transferRun, endOwnedRun, requeueRun } from "../../core/run/run-ownership.ts";
import type { RunId } from "../../core/id.ts";
import type { PostponedJob } from "../../core/changes.ts";
import { type Instant, SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob, JobKind } from "../../core/run/job.ts";
import { isOutage } from "../../core/run/outage.ts";
import { isPending } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { JobLost } from "../../engine/decide.ts";
import { retryOf, sayWhy } from "../../engine/jobs/job-retry.ts";
import type { Handler, JobContext } from "../../engine/jobs/worker.ts";
import { DailySweep } from "./daily-sweep.ts";
import { Follower } from "./follower.ts";
import { MirrorWatch } from "./mirror-watch.ts";
import { blockEpochs, findAgentProcess } from "../process/process.ts";
import { readOwnIdentity } from "../process/process-identity.ts";
import { launchFromSession } from "./launch.ts";
import { findKeptLaunch, hasRunDir, listEpochs, makeRunDir } from "./run-files.ts";
import { type StarterDeps, type ClaimedRun, startAgent, claimForStart } from "./starter.ts";
import { sayLeft, stopRun } from "../process/stop.ts";
import { Heartbeat, isWorkerGone } from "./worker-row.ts";
import { setMaxListeners } from "node:events";

const OUTAGE_PAUSE_MS = 2 * SECOND_MS;

export interface RunnerDeps extends StarterDeps {
  host: string;
  /** The version of this askd, for the doctor. */
  version?: string;
  rules: Rules;
  /** The engine that this runner works for. */
  engine(): Engine;
  onFailure(run: Run, error: unknown): void;
  /** The delay before a start is retried after an outage of the store or this machine. */
  outagePauseMs?: number;
}

/** Starts, follows, stops and takes over the agents of this host, as jobs demand. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #followed = new Map<RunId, Promise<void>>();
  readonly #stopping = new Set<Promise<void>>();
  /** Failures of a run since its last ownership check. */
  readonly #failed = new Map<RunId, unknown>();
  /** The last logged failure: a repetition is not logged. */
  readonly #logged = new Map<RunId, string>();
  readonly #detached = new AbortController();
  #heartbeat: Promise<Heartbeat> | undefined;
  #mirrors: MirrorWatch | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#detached.signal); // each followed agent listens
  }

  get agents(): readonly string[] {
    return Object.keys(this.#deps.agents);
  }

  /** How many agents this process follows. */
  get count(): number {
    return this.#followed.size;
  }

  handlers(): Partial<Record<JobKind, Handler>> {
    return {
      resume: (job, work) => this.#start(job, work),
      carry: (job, work) => this.#checkOwner(job, work),
      stop: (job, work) => this.#stop(job, work),
    };
  }

  /** Starts the heartbeat, so that an idle worker is visible too. */
  begin(work: Pick<JobContext, "store" | "decider">): Promise<void> {
    return this.#beat(work);
  }

  /** Detaches from all agents; the next worker takes them over. */
  async leave(): Promise<void> {
    this.#detached.abort();
    await Promise.all([...this.#followed.values(), ...this.#stopping]);
    (await this.#heartbeat?.catch(() => undefined))?.stop(); // its caller got the error
    await this.#mirrors?.stop();
  }

  async #start(job: ClaimedJob, work: JobContext): Promise<void> {
    await this.#beat(work);
    const taken = await claimForStart(job, work, this.#deps);
    // The rest may take long, and other jobs must not wait for it.
    if (taken) this.#track(taken.run, () => this.#startAndFollow(taken, work));
    else this.#deps.onStep?.("lost");
  }

  async #startAndFollow(taken: ClaimedRun, work: JobContext): Promise<void> {
    const { worker, onStep } = this.#deps;
    let failure: string | undefined;
    try {
      if (await this.#startWithRetry(taken, work)) return await this.#follow(taken, work);
      onStep?.("lost");
    } catch (error) {
      // An outage does not count as a failed start of the agent.
      if (!isOutage(error)) failure = error instanceof Error ? error.message : String(error);
      this.#deps.onFailure(taken.run, error);
    }
    const run = await work.store.findRun(taken.run.id);
    if (run?.worker === worker) await this.#takeOver(run, work, failure);
  }

  /**
   * Starts the agent. After an outage of the store or this machine the same start is retried while this worker owns the
   * run; the ownership job reports meanwhile what is missing.
   */
  async #startWithRetry(taken: ClaimedRun, work: JobContext): Promise<boolean> {
    const { run, runDir } = taken;
    for (;;) {
      try {
        return await startAgent(taken, work, this.#deps);
      } catch (error) {
        const mayRepeat = isOutage(error) && !this.#detached.signal.aborted;
        if (!mayRepeat || (await findAgentProcess(runDir, run.epoch)).state !== "none") throw error;
        this.#note(run, error);
      }
      const pauseMs = this.#deps.outagePauseMs ?? OUTAGE_PAUSE_MS;
      await sleep(pauseMs, undefined, { signal: this.#detached.signal }).catch(() => undefined); // detached
    }
  }

  /** Stores a failure for the ownership job, which reports it. */
  #note(run: Run, error: unknown): void {
    const isNews = this.#logged.get(run.id) !== sayWhy(error);
    this.#failed.set(run.id, error);
    this.#logged.set(run.id, sayWhy(error));
    if (isNews) this.#deps.onFailure(run, error);
  }

  /** Checks the owner of a run: if its worker is gone, this one takes over. */
  async #checkOwner(job: ClaimedJob, work: JobContext): Promise<void> {
    const { store, decider } = work;
    const run = job.runId && (await store.findRun(job.runId));
    if (!run || run.worker === undefined) return void (await decider.commit({ finished: [job] }));
    const isOurs = run.worker === this.#deps.worker;
    const isOwned = this.#followed.has(run.id) || (!isOurs && !(await isWorkerGone(store, run.worker)));
    if (!isOwned && !this.#detached.signal.aborted) {
      await this.#beat(work);
      this.#track(run, () => this.#takeOver(run, work, undefined));
    }
    await decider.commit({ postponed: [this.#nextOwnerCheck(job, work)] });
  }

  /** The next ownership check, with the failure since the last one, if any. */
  #nextOwnerCheck(job: ClaimedJob, { now }: JobContext): PostponedJob {
    const dueAt = later(now, OWNERSHIP_MS);
    const error = job.runId && this.#failed.get(job.runId);
    if (job.runId) (error === undefined ? this.#logged : this.#failed).delete(job.runId);
    if (error === undefined) return { job, dueAt, tries: 0 };
    return { job, dueAt, tries: job.tries + 1, failure: { why: sayWhy(error), at: now } };
  }

  /** Takes over an agent that nobody follows; one that was never started is requeued. */
  async #takeOver(run: Run, work: JobContext, failure: string | undefined): Promise<void> {
    const { agents, stateDir, worker, env, onStep } = this.#deps;
    const agent = agents[run.agent];
    if (!agent || run.worker === undefined) return;
    const from = { worker: run.worker, epoch: run.epoch };
    // A worker of this host with another state directory cannot tell whether an agent was started.
    if (!hasEnded(run) && !(await hasRunDir(stateDir, run.id))) return;
    const runDir = await makeRunDir(stateDir, run.id);
    // A cancelled run is one epoch ahead of its last agent.
    const epoch = hasEnded(run) ? run.epoch - 1 : run.epoch;
    onStep?.("adopting");
    if ((await findAgentProcess(runDir, epoch)).state === "none") await blockEpochs(runDir, epoch);
    if ((await findAgentProcess(runDir, epoch)).state === "void") {
      onStep?.("voided");
      await work.decider.changeRun(run.id, SYSTEM, (read, at) => requeueRun(read, from, failure, at));
      return;
    }
    const adopted = await work.decider.changeRun(run.id, SYSTEM, (read, at) => transferRun(read, from, worker, at));
    if (adopted.worker !== worker) return;
    onStep?.("adopted");
    // To read the output of an agent that lives takes no more than its session.
    const launch = (await findKeptLaunch(runDir)) ?? (await launchFromSession(adopted, agent, env));
    if (launch) return this.#follow({ run: { ...adopted, epoch }, runDir, agent, launch }, work);
    // Without a launch record its output cannot be read, so it is only stopped.
    await stopRun({ runId: run.id, runDir, lastEpoch: epoch });
    const lost = { status: "failed", reason: "launch_lost" } as const;
    const by = { worker, epoch: run.epoch };
    await work.decider.changeRun(run.id, SYSTEM, (read, at) => endOwnedRun(read, by, lost, at));
  }

  /** Stops the agent of a cancelled run, or one that should have stopped by itself. */
  async #stop(job: ClaimedJob, work: JobContext): Promise<void> {
    const run = job.runId && (await work.store.findRun(job.runId));
    const isMoved = run?.host !== undefined && run.host !== this.#deps.host;
    if (!run || !(isMoved || (await isToStop(run, work)))) return void (await work.decider.commit({ finished: [job] }));
    // Stopping may take long, and other jobs must not wait for it.
    const stopping: Promise<void> = this.#end(run, job, work)
      .catch((error: unknown) => this.#postpone(job, error, work))
      // The lease of the job ends, and it is claimed again.
      .catch((error: unknown) => (error instanceof JobLost ? undefined : this.#deps.onFailure(run, error)))
      .finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  async #end(run: Run, job: ClaimedJob, work: JobContext): Promise<void> {
    const runDir = await makeRunDir(this.#deps.stateDir, run.id);
    // Of a moved run, only what was started here is stopped.
    const lastEpoch = run.host === this.#deps.host ? run.epoch : ((await listEpochs(runDir, "pid")).at(-1) ?? 0);
    const { left, isInside } = await stopRun({ runId: run.id, runDir, lastEpoch });
    if (left.length > 0) throw new Error(sayLeft(left, `run #${run.number}`));
    await work.decider.commit({ finished: [job] });
    // This worker was started by the agent that it has stopped, and is the last process of the run.
    if (isInside) process.kill(process.pid, "SIGTERM");
  }

  /** Postpones a job that failed after its handler returned, with the reason. */
  async #postpone(job: ClaimedJob, error: unknown, { decider, onFailure }: JobContext): Promise<void> {
    if (error instanceof JobLost) return;
    onFailure(job, error);
    await decider.commit({ postponed: [retryOf(job, error, decider.at(SYSTEM).now)] });
  }

  async #follow({ run, runDir, agent, launch }: Omit<ClaimedRun, "knownEpoch">, work: JobContext): Promise<void> {
    const { engine, rules, worker, note, onStep } = this.#deps;
    const follower = new Follower({
      runId: run.id,
      runDir,
      by: { worker, epoch: run.epoch },
      agent,
      launch,
      engine: engine(),
      work,
      rules,
      onStep,
      note: (text) => note(run, text),
      leave: this.#detached.signal,
    });
    await follower.follow();
  }

  /** Tracks a run in this process; if that fails, the ownership job retries. */
  #track(run: Run, follow: () => Promise<void>): void {
    const followed: Promise<void> = follow()
      .catch((error: unknown) => this.#note(run, error))
      .finally(() => {
        if (this.#followed.get(run.id) === followed) this.#followed.delete(run.id);
      });
    this.#followed.set(run.id, followed);
  }

  /** Starts the heartbeat, which keeps others from taking over; the first call also cleans up. */
  async #beat(work: Pick<JobContext, "store" | "decider">): Promise<void> {
    this.#heartbeat ??= this.#createHeartbeat(work).catch((error: unknown) => {
      this.#heartbeat = undefined; // the next one to need it makes it anew
      throw error;
    });
    await (await this.#heartbeat).start();
  }

  async #createHeartbeat(work: Pick<JobContext, "store" | "decider">): Promise<Heartbeat> {
    const { store } = work;
    const { worker: id, host, stateDir, version } = this.#deps;
    const onFailure = (): void => undefined; // the next beat comes soon, and who misses many takes over
    const sweep = new DailySweep(stateDir, work);
    this.#mirrors ??= new MirrorWatch({ store, host, note: this.#deps.note });
    const process = await readOwnIdentity();
    const onBeat = (now: Instant) => void sweep.beat(now).catch(onFailure); // the next one is tomorrow
    return new Heartbeat({ store, id, host, version, process, onFailure, onBeat });
  }
}

async function isToStop(run: Run, { store }: JobContext): Promise<boolean> {
  if (hasEnded(run) || run.status === "blocked") return true;
  const pending = run.pendingId && (await store.findQuestion(run.pendingId));
  if (pending) return isPending(pending) && pending.hold === undefined;
  // Answered since: a stopping agent does not receive the answer as well.
  const owed = await Promise.all(run.owes.map((id) => store.findQuestion(id)));
  return owed.some((question) => question && "handover" in question && question.handover?.state === "owed");
}
