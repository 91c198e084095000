import { SYSTEM } from "../core/actor.ts";
import { CARRY_MS, adoptRun, endCarried, putBack } from "../core/carry.ts";
import type { RunId } from "../core/id.ts";
import { later } from "../core/instant.ts";
import type { ClaimedJob, JobKind } from "../core/job.ts";
import { isPending } from "../core/question.ts";
import type { Rules } from "../core/rules.ts";
import { type Run, hasEnded } from "../core/run.ts";
import type { Engine } from "../engine/engine.ts";
import { JobLost } from "../engine/decide.ts";
import type { Handler, Work } from "../engine/worker.ts";
import { Follower } from "./follower.ts";
import { findLaunch } from "./launch.ts";
import { MirrorWatch } from "./mirror-watch.ts";
import { blockEpochs, findAgent } from "./process.ts";
import { readOwnIdentity } from "./process-identity.ts";
import { hasRunDir, makeRunDir } from "./run-files.ts";
import { type StarterDeps, type Taken, startAgent, takeUp } from "./starter.ts";
import { stopRun } from "./stop.ts";
import { sweepRuns } from "./sweep.ts";
import { Heart, isWorkerGone } from "./worker-row.ts";

export interface RunnerDeps extends StarterDeps {
  host: string;
  /** The version of this askd, for those who look after it. */
  version?: string;
  rules: Rules;
  /** The engine that this runner works for. */
  engine(): Engine;
  onFailure(run: Run, error: unknown): void;
}

/** Starts, follows, stops and takes over the agents of this host, as jobs say. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #carried = new Map<RunId, Promise<void>>();
  readonly #stopping = new Set<Promise<void>>();
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

  /** Leaves all agents as they are; whoever comes next takes them over. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await Promise.all([...this.#carried.values(), ...this.#stopping]);
    (await this.#heart)?.stop();
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
      if (await startAgent(taken, work, this.#deps)) return await this.#follow(taken, work);
      onStep?.("lost");
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      this.#deps.onFailure(taken.run, error);
    }
    const run = await work.store.findRun(taken.run.id);
    if (run?.worker === worker) await this.#adopt(run, work, failure);
  }

  /** Somebody has to be there for every agent: if its worker is gone, this one goes on with it. */
  async #carry(job: ClaimedJob, work: Work): Promise<void> {
    const { store, decider } = work;
    const run = job.runId && (await store.findRun(job.runId));
    const again = { postponed: [{ job, dueAt: later(work.now, CARRY_MS), tries: 0 }] };
    if (!run || run.worker === undefined) return void (await decider.commit({ finished: [job] }));
    const isOurs = run.worker === this.#deps.worker;
    const isLookedAfter = this.#carried.has(run.id) || (!isOurs && !(await isWorkerGone(store, run.worker)));
    if (!isLookedAfter && !this.#leave.signal.aborted) {
      await this.#beat(work);
      this.#keep(run, () => this.#adopt(run, work, undefined));
    }
    await decider.commit(again);
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
    if (!run || !(await isToStop(run, work))) return void (await work.decider.commit({ finished: [job] }));
    // It may take its time to end, and other jobs do not wait for that; if this fails, the job comes back by itself.
    const stopping: Promise<void> = this.#end(run, job, work)
      .catch((error: unknown) => (error instanceof JobLost ? undefined : this.#deps.onFailure(run, error)))
      .finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  async #end(run: Run, job: ClaimedJob, work: Work): Promise<void> {
    const runDir = await makeRunDir(this.#deps.stateDir, run.id);
    const { left } = await stopRun({ runId: run.id, runDir, lastEpoch: run.epoch });
    if (left.length > 0) throw new Error(`${left.length} processes of run #${run.number} do not go away`);
    await work.decider.commit({ finished: [job] });
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
      .catch((error: unknown) => this.#deps.onFailure(run, error))
      .finally(() => {
        if (this.#carried.get(run.id) === carried) this.#carried.delete(run.id);
      });
    this.#carried.set(run.id, carried);
  }

  /** Nobody takes over what this worker has while it beats; the first time it also clears up. */
  async #beat(work: Work): Promise<void> {
    this.#heart ??= this.#makeHeart(work);
    await (await this.#heart).start();
  }

  async #makeHeart(work: Work): Promise<Heart> {
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
