import { SYSTEM } from "../core/actor.ts";
import { CARRY_MS, adoptRun, putBack } from "../core/carry.ts";
import type { RunId } from "../core/id.ts";
import { later } from "../core/instant.ts";
import type { ClaimedJob, JobKind } from "../core/job.ts";
import { isPending } from "../core/question.ts";
import type { Rules } from "../core/rules.ts";
import { type Run, hasEnded } from "../core/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { Handler, Work } from "../engine/worker.ts";
import { Follower } from "./follower.ts";
import { launchOf } from "./launch.ts";
import { blockEpochs, findAgent } from "./process.ts";
import { readOwnIdentity } from "./process-identity.ts";
import { makeRunDir } from "./run-files.ts";
import { type Begun, type StarterDeps, startRun } from "./starter.ts";
import { stopRun } from "./stop.ts";
import { Heart, isWorkerGone } from "./worker-row.ts";

export interface RunnerDeps extends StarterDeps {
  host: string;
  rules: Rules;
  /** The engine that this runner works for. */
  engine(): Engine;
  onFailure(run: Run, error: unknown): void;
}

/** Starts, follows, stops and takes over the agents of this host, as jobs say. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #carried = new Map<RunId, Promise<void>>();
  readonly #leave = new AbortController();
  #heart: Heart | undefined;

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
    await Promise.all(this.#carried.values());
    this.#heart?.stop();
  }

  async #start(job: ClaimedJob, work: Work): Promise<void> {
    await this.#beat(work);
    const begun = await startRun(job, work, this.#deps);
    if (begun) this.#follow(begun, work);
    else this.#deps.onStep?.("lost");
  }

  /** Somebody has to be there for every agent: if its worker is gone, this one goes on with it. */
  async #carry(job: ClaimedJob, work: Work): Promise<void> {
    const { store, decider } = work;
    const run = job.runId && (await store.findRun(job.runId));
    const again = { postponed: [{ job, dueAt: later(work.now, CARRY_MS), tries: 0 }] };
    if (!run || run.worker === undefined) return void (await decider.commit({ finished: [job] }));
    const isOurs = run.worker === this.#deps.worker;
    const isLookedAfter = isOurs ? this.#carried.has(run.id) : !(await isWorkerGone(store, run.worker));
    if (!isLookedAfter && !this.#leave.signal.aborted) await this.#adopt(run, work);
    await decider.commit(again);
  }

  async #adopt(run: Run, work: Work): Promise<void> {
    const { agents, stateDir, worker, env } = this.#deps;
    const agent = agents[run.agent];
    if (!agent) return;
    await this.#beat(work);
    const runDir = await makeRunDir(stateDir, run.id);
    // A run that was cancelled is an epoch ahead of its last agent.
    const epoch = hasEnded(run) ? run.epoch - 1 : run.epoch;
    if ((await findAgent(runDir, epoch)).state === "none") await blockEpochs(runDir, epoch);
    if ((await findAgent(runDir, epoch)).state === "void") {
      await work.decider.changeRun(run.id, SYSTEM, (read, at) => putBack(read, run.epoch, at));
      return;
    }
    const adopted = await work.decider.changeRun(run.id, SYSTEM, (read, at) =>
      adoptRun(read, { worker, epoch: run.epoch }, at),
    );
    if (adopted.worker !== worker) return;
    const launch = await launchOf(adopted, runDir, agent, env);
    this.#follow({ run: { ...adopted, epoch }, runDir, agent, launch }, work);
  }

  /** Ends what is over: the agent of a cancelled run, or one that was told to stop and did not. */
  async #stop(job: ClaimedJob, work: Work): Promise<void> {
    const run = job.runId && (await work.store.findRun(job.runId));
    if (run && (await isToStop(run, work))) {
      const runDir = await makeRunDir(this.#deps.stateDir, run.id);
      const { left } = await stopRun({ runId: run.id, runDir, lastEpoch: run.epoch });
      if (left.length > 0) throw new Error(`${left.length} processes of run #${run.number} do not go away`);
    }
    await work.decider.commit({ finished: [job] });
  }

  #follow({ run, runDir, agent, launch }: Begun, work: Work): void {
    const { engine, rules, worker, note, onFailure, onStep } = this.#deps;
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
    const following = follower
      .follow()
      // The job that looks after the run finds that nobody follows it, and tries again.
      .catch((error: unknown) => onFailure(run, error))
      .finally(() => this.#carried.delete(run.id));
    this.#carried.set(run.id, following);
  }

  async #beat({ store }: Work): Promise<void> {
    const { worker: id, host, engine: _engine } = this.#deps;
    const onFailure = (): void => undefined; // the next beat comes soon, and who misses many takes over
    this.#heart ??= new Heart({ store, id, host, process: await readOwnIdentity(), onFailure });
    await this.#heart.start();
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
