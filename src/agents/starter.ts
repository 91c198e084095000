import { randomBytes } from "node:crypto";
import { SYSTEM } from "../core/actor.ts";
import { isStartable, takeRun } from "../core/carry.ts";
import { give } from "../core/handover.ts";
import type { WorkerId } from "../core/id.ts";
import { SECOND_MS, later } from "../core/instant.ts";
import type { ClaimedJob } from "../core/job.ts";
import type { Run } from "../core/run.ts";
import { type Work, finishing } from "../engine/worker.ts";
import type { Agent, Start } from "./agent.ts";
import { findVersion, launchOf, taskOf } from "./launch.ts";
import { isSessionThere, listOnTheWay, readOwed, witness } from "./outcome.ts";
import { isAlive } from "./process-identity.ts";
import { blockEpochs, findAgent, startProcess } from "./process.ts";
import { type Launch, makeRunDir } from "./run-files.ts";
import { stopRun } from "./stop.ts";
import { resumeBy, retell } from "./told.ts";
import { keepBase } from "./usage.ts";

const WAIT_MS = 2 * SECOND_MS;

export interface StarterDeps {
  worker: WorkerId;
  stateDir: string;
  agents: Readonly<Record<string, Agent>>;
  /** How to start askd itself. */
  askd: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  liveWindowMs: number;
  note(run: Run, text: string): void;
  /** Hears how far the work with an agent has come; proofs end the process there. */
  onStep?: ((step: string) => void) | undefined;
}

/** A start that went through: this worker carries that run now. */
export interface Begun {
  run: Run;
  runDir: string;
  agent: Agent;
  launch: Launch;
}

/** Takes a run up and starts its agent, for the first time or with what it is owed; nothing if that is not to be. */
export async function startRun(job: ClaimedJob, work: Work, deps: StarterDeps): Promise<Begun | undefined> {
  const { store, decider } = work;
  const found = job.runId && (await store.findRun(job.runId));
  const agent = found && deps.agents[found.agent];
  if (!found || !agent || !isStartable(found)) {
    await decider.commit({ finished: [job] });
    return undefined;
  }
  const runDir = await makeRunDir(deps.stateDir, found.id);
  deps.onStep?.("claimed");
  if (await isStillThere(found, runDir)) {
    // Whoever has it will end, or be stopped, or be missed by the one that looks after it.
    await decider.commit({ postponed: [{ job, dueAt: later(work.now, WAIT_MS), tries: job.tries }] });
    return undefined;
  }
  const launch = await launchOf(found, runDir, agent, deps.env);
  await confirmGiven(found, agent, launch, work);
  deps.onStep?.("confirmed");
  const run = await decider.changeRun(found.id, SYSTEM, (read, at) => finishing(job, takeRun(read, deps.worker, at)));
  if (run.worker !== deps.worker || run.epoch !== found.epoch + 1) return undefined;
  deps.onStep?.("taken");
  return (await start(run, { agent, launch, runDir }, work, deps)) ? { run, runDir, agent, launch } : undefined;
}

/** Of two agents of a run one would undo what the other does: the earlier one has to be gone. */
async function isStillThere(run: Run, runDir: string): Promise<boolean> {
  if ((await findAgent(runDir, run.epoch)).state === "alive") return true;
  if (!run.seen) return false;
  const [boot = "", born = ""] = run.seen.startedAt.split(":");
  return isAlive({ pid: run.seen.pid, born, boot });
}

/** What an earlier start was about to give may have arrived; the agent's own record says so. */
async function confirmGiven(run: Run, agent: Agent, launch: Launch, { store, decider }: Work): Promise<void> {
  for (const evident of await listOnTheWay(store, run)) {
    const { question } = evident;
    const wasHanded = !("handover" in question) || question.handover?.state === "handing";
    if (!wasHanded || (await witness(agent, run, launch, evident)) !== "given") continue;
    await decider.changeQuestion(question.id, SYSTEM, (read, at) => give(read.run, [read.question], "transcript", at));
  }
}

async function start(
  run: Run,
  at: { agent: Agent; launch: Launch; runDir: string },
  { store }: Work,
  deps: StarterDeps,
): Promise<boolean> {
  const { launch, runDir } = at;
  await blockEpochs(runDir, run.epoch - 1);
  deps.onStep?.("blocked");
  await stopRun({ runId: run.id, runDir, lastEpoch: run.epoch - 1 });
  deps.onStep?.("cleared");
  const built = await build(run, at, store, deps);
  await keepBase(runDir, run.epoch, store, run.id);
  deps.onStep?.("built");
  // Right before the start: somebody may have taken the run over while this process slept.
  const now = await store.findRun(run.id);
  if (now?.worker !== deps.worker || now.epoch !== run.epoch) return false;
  for (const text of built.added) deps.note(run, `added: ${text}`);
  const { dir, env, umask } = launch;
  deps.onStep?.("starting");
  const begun = await startProcess({ runId: run.id, epoch: run.epoch, runDir, dir, env, umask, start: built });
  deps.onStep?.(begun.won ? "started" : "beaten");
  return begun.won;
}

async function build(
  run: Run,
  { agent, launch, runDir }: { agent: Agent; launch: Launch; runDir: string },
  store: Work["store"],
  deps: StarterDeps,
): Promise<Start> {
  const version = await findVersion(agent, launch);
  const task = taskOf(run, { ...deps, epoch: run.epoch, runDir, version }, launch);
  const delimiter = `answer-${randomBytes(4).toString("hex")}`;
  const reads = await readOwed(store, run);
  if (run.session === undefined && reads.length === 0 && run.epoch === 1) return agent.start(task);
  const how = await resumeBy(run, runDir, launch.dir, { delimiter, reads });
  if (agent.program === "") return agent.resume({ ...task, session: run.session ?? "" }, how);
  if (run.session !== undefined && (await isSessionThere(agent, run, launch))) {
    return agent.resume({ ...task, session: run.session }, how);
  }
  if (run.status === "running" && reads.length === 0) return agent.start(task);
  deps.note(run, `the session ${run.session ?? ""} is gone; a new one is told what is known`);
  const prompt = await retell({ prompt: launch.prompt, dir: launch.dir, runDir }, agent, reads, delimiter);
  return agent.start({ ...task, prompt });
}
