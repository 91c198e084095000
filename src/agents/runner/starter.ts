import { randomBytes } from "node:crypto";
import { SYSTEM } from "../../core/people/actor.ts";
import { isStartable, loseLaunch, takeRun } from "../../core/run/run-ownership.ts";
import type { Read } from "../../core/changes.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { give, takeBack } from "../../core/run/handover.ts";
import type { WorkerId } from "../../core/id.ts";
import { SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Run } from "../../core/run/run.ts";
import { type Work, finishing } from "../../engine/jobs/worker.ts";
import type { Agent, Start } from "../agent.ts";
import { findLaunch, findVersion, taskOf } from "./launch.ts";
import { mirrorNoted } from "./state-mirror.ts";
import { callOf, isSessionThere, listOnTheWay, readHanded, readHistory, witness } from "./handover-evidence.ts";
import { isSeenAlive } from "../process/process-identity.ts";
import { blockEpochs, findAgent, startProcess } from "../process/process.ts";
import { type Launch, listEpochs, makeRunDir } from "./run-files.ts";
import { keepSession } from "../process/agent-session.ts";
import { stopRun } from "../process/stop.ts";
import { resumeBy, retell } from "./resume-message.ts";
import { keepBase } from "./usage-meter.ts";

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

/** A run that this worker has taken up, and what it takes to start its agent. */
export interface Taken {
  run: Run;
  runDir: string;
  agent: Agent;
  launch: Launch;
}

/** Takes a run up, for its first start or with what its agent is owed; nothing if that is not to be. */
export async function takeUp(job: ClaimedJob, work: Work, deps: StarterDeps): Promise<Taken | undefined> {
  const { store, decider } = work;
  const found = job.runId && (await store.findRun(job.runId));
  const agent = found && deps.agents[found.agent];
  if (!found || !agent || !isStartable(found)) {
    await decider.commit({ finished: [job] });
    return undefined;
  }
  const runDir = await makeRunDir(deps.stateDir, found.id);
  deps.onStep?.("claimed");
  if (found.worker !== undefined || (await isStillThere(found, runDir))) {
    // Whoever has it will end, or be stopped, or be missed by the one that looks after it.
    await decider.commit({ postponed: [{ job, dueAt: later(work.now, WAIT_MS), tries: job.tries }] });
    return undefined;
  }
  const launch = await findLaunch(found, runDir, agent, deps.env);
  if (!launch) {
    deps.note(found, "what it was started with is not on this machine any more; it cannot go on");
    await decider.changeRun(found.id, SYSTEM, (read, at) => finishing(job, loseLaunch(read, at)));
    return undefined;
  }
  deps.onStep?.("taking");
  const run = await decider.changeRun(found.id, SYSTEM, (read, at) => finishing(job, takeRun(read, deps.worker, at)));
  if (run.worker !== deps.worker) return undefined;
  deps.onStep?.("taken");
  return { run, runDir, agent, launch };
}

/** Starts the agent of a run that was taken up; false if somebody else has the run, or has ended it, by now. */
export async function startAgent(taken: Taken, work: Work, deps: StarterDeps): Promise<boolean> {
  const { run, launch, runDir } = taken;
  const { id: runId, epoch } = run;
  await blockEpochs(runDir, epoch - 1);
  deps.onStep?.("blocked");
  const { left } = await stopRun({ runId, runDir, lastEpoch: epoch - 1 });
  if (left.length > 0) throw new Error(`${left.length} processes of an earlier start do not go away`);
  deps.onStep?.("cleared");
  await confirmGiven(taken, work);
  const confirmed = await findOwn(run, work, deps);
  if (!confirmed) return false;
  deps.onStep?.("confirmed");
  const built = await build({ ...taken, run: confirmed }, work, deps);
  await keepBase(runDir, epoch, work.store, runId);
  // An agent that dies before its first word can be taken up again, too.
  if (built.session !== undefined) await keepSession(runId, built.session, epoch, work);
  deps.onStep?.("built");
  // Right before the start: somebody may have taken the run over while this process slept.
  if (!(await findOwn(run, work, deps))) return false;
  for (const text of built.added) deps.note(run, `added: ${text}`);
  const { dir, env, umask } = launch;
  deps.onStep?.("starting");
  const { won } = await startProcess({ runId, epoch, runDir, dir, env, umask, start: built });
  if (won) deps.onStep?.("started");
  await mirrorNoted(work.store, runId, (text) => deps.note(run, text));
  return won;
}

/** Of two agents of a run one would undo what the other does: the earlier one has to be gone. */
async function isStillThere(run: Run, runDir: string): Promise<boolean> {
  if ((await findAgent(runDir, run.epoch)).state === "alive") return true;
  return run.seen !== undefined && (await isSeenAlive(run.seen));
}

/** The run as it is now, if it is still this worker's and at the same start. */
async function findOwn(run: Run, { store }: Work, deps: StarterDeps): Promise<Run | undefined> {
  const now = await store.findRun(run.id);
  return now?.worker === deps.worker && now.epoch === run.epoch ? now : undefined;
}

/** What an earlier start was about to give may have arrived; now that it is gone, the agent's own record says so. */
async function confirmGiven({ run, agent, launch }: Taken, { store, decider }: Work): Promise<void> {
  for (const evident of await listOnTheWay(store, run)) {
    if ((await witness(agent, run, launch, evident)) !== "given") continue;
    await decider.changeQuestion(evident.question.id, SYSTEM, (read, at) => give(read, { witness: "transcript" }, at));
  }
}

async function build({ run, agent, launch, runDir }: Taken, work: Work, deps: StarterDeps): Promise<Start> {
  const { store } = work;
  const version = await findVersion(agent, launch);
  const task = taskOf(run, { ...deps, epoch: run.epoch, runDir, version }, launch);
  const delimiter = delimiterFrom(randomBytes(DELIMITER_BYTES));
  const reads = await readHanded(store, run);
  const isKnown = run.session !== undefined && (await isSessionThere(agent, run, launch));
  if (!isKnown && reads.length === 0 && !(await hasStarted(runDir, run.epoch - 1))) return agent.start(task);
  const how = await resumeBy(run, { agent, launch, runDir }, { delimiter, reads });
  if (how.by === "call") await leaveForNextStart(run, reads, how.callId, work);
  if (agent.program === "" || isKnown) return agent.resume({ ...task, session: run.session ?? "" }, how);
  deps.note(run, `the session ${run.session ?? ""} is gone; a new one is told what is known`);
  const history = await readHistory(store, run);
  const prompt = await retell({ prompt: launch.prompt, dir: launch.dir, runDir }, agent, history, delimiter);
  return agent.start({ ...task, prompt });
}

/** At its call the agent gets the answer to that call and nothing else. */
async function leaveForNextStart(run: Run, reads: readonly Read[], callId: string, { decider }: Work): Promise<void> {
  for (const { question } of reads) {
    if (callOf(question, run.session) === callId) continue;
    await decider.changeQuestion(question.id, SYSTEM, (read, at) => takeBack(read.run, [read.question], run.epoch, at));
  }
}

/** Says whether the agent was ever there up to this epoch; a start that was made void does not count. */
async function hasStarted(runDir: string, lastEpoch: number): Promise<boolean> {
  for (const epoch of await listEpochs(runDir, "pid")) {
    if (epoch <= lastEpoch && (await findAgent(runDir, epoch)).state === "dead") return true;
  }
  return false;
}
