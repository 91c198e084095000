import { randomBytes } from "node:crypto";
import { SYSTEM } from "../../core/people/actor.ts";
import { isStartable, failLostLaunch, claimRun, recordSession } from "../../core/run/run-ownership.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { give, returnToOwed } from "../../core/run/handover.ts";
import type { WorkerId, RunId } from "../../core/id.ts";
import { SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Run } from "../../core/run/run.ts";
import { allQuestions } from "../../engine/row-cache.ts";
import { type JobContext, finishing } from "../../engine/jobs/worker.ts";
import type { Agent, Start } from "../agent.ts";
import { findVersion, taskOf } from "./launch.ts";
import { mirrorRunOrNote } from "./state-mirror.ts";
import {
  findAskCall,
  hasSessionRecord,
  listHandoverEvidence,
  readHandedQuestions,
  readRunHistory,
  askWitness,
  findForgotten,
} from "./handover-evidence.ts";
import { isAgentPresent } from "../process/process-identity.ts";
import { blockEpochs, findAgentProcess, startProcess } from "../process/process.ts";
import { type Launch, findKeptLaunch, listEpochs, makeRunDir, startDirOf } from "./run-files.ts";
import { sayLeft, stopRun } from "../process/stop.ts";
import { buildResume, restartPrompt } from "./resume-message.ts";
import { UsageMeter, saveUsageBase } from "./usage-meter.ts";

const WAIT_MS = 2 * SECOND_MS;

export interface StarterDeps {
  worker: WorkerId;
  stateDir: string;
  agents: Readonly<Record<string, Agent>>;
  /** The command that starts askd itself. */
  askd: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  liveWindowMs: number;
  note(run: Run, text: string): void;
  /** Called at each step of the work with an agent; tests kill the process there. */
  onStep?: ((step: string) => void) | undefined;
}

/** A run that this worker has claimed, and what it needs to start its agent. */
export interface ClaimedRun {
  run: Run;
  runDir: string;
  agent: Agent;
  launch: Launch;
  /** The run's epoch before the claim; later starts on this machine are unknown to the store. */
  knownEpoch: number;
}

/** Claims a run to start or resume; undefined if it cannot be started. */
export async function claimForStart(
  job: ClaimedJob,
  work: JobContext,
  deps: StarterDeps,
): Promise<ClaimedRun | undefined> {
  const { store, decider } = work;
  const found = job.runId && (await store.findRun(job.runId));
  const agent = found && deps.agents[found.agent];
  if (!found || !agent || !isStartable(found)) {
    await decider.commit({ finished: [job] });
    return undefined;
  }
  const runDir = await makeRunDir(deps.stateDir, found.id);
  deps.onStep?.("claimed");
  if (found.worker !== undefined || (await hasLiveAgent(found, runDir))) {
    // Its owner will end it, or the ownership check will notice that the owner is gone.
    await decider.commit({ postponed: [{ job, dueAt: later(work.now, WAIT_MS), tries: job.tries }] });
    return undefined;
  }
  const launch = await findKeptLaunch(runDir);
  if (!launch) {
    deps.note(found, "its launch record is no longer on this machine; it cannot be resumed");
    await decider.changeRun(found.id, SYSTEM, (read, at) => finishing(job, failLostLaunch(read, at)));
    return undefined;
  }
  deps.onStep?.("taking");
  // Listed before the run is read: a start that another worker makes meanwhile has changed the run.
  const lastEpoch = (await listEpochs(runDir, "pid")).at(-1);
  let knownEpoch = 0;
  const asked = await allQuestions(store, found.id);
  const run = await decider.changeRun(found.id, SYSTEM, (read, at) => {
    knownEpoch = read.run.epoch;
    return finishing(job, claimRun(read, { worker: deps.worker, lastEpoch, asked }, at));
  });
  if (run.worker !== deps.worker) return undefined;
  if (run.epoch > knownEpoch + 1)
    deps.note(run, `start ${lastEpoch} on this machine is unknown to the store: restored?`);
  deps.onStep?.("taken");
  return { run, runDir, agent, launch, knownEpoch };
}

/** Starts the agent of a claimed run; false if the run has a new owner or has ended. */
export async function startAgent(taken: ClaimedRun, work: JobContext, deps: StarterDeps): Promise<boolean> {
  const { run, launch, runDir } = taken;
  const { id: runId, epoch } = run;
  await blockEpochs(runDir, epoch - 1);
  deps.onStep?.("blocked");
  const { left } = await stopRun({ runId, runDir, lastEpoch: epoch - 1 });
  if (left.length > 0) throw new Error(sayLeft(left, "an earlier start"));
  deps.onStep?.("cleared");
  await confirmGiven(taken, work);
  const confirmed = await refreshOwnRun(run, work, deps);
  if (!confirmed) return false;
  deps.onStep?.("confirmed");
  const built = await buildStart({ ...taken, run: confirmed }, work, deps);
  await saveUsageBase(runDir, epoch, work.store, runId);
  // An agent that dies before its first output can be resumed too.
  if (built.session !== undefined) await saveSession(runId, built.session, epoch, work);
  deps.onStep?.("built");
  // Right before the start: another worker may have taken the run over while this process slept.
  if (!(await refreshOwnRun(run, work, deps))) return false;
  for (const text of built.added) deps.note(run, `added: ${text}`);
  const { dir, env, umask } = launch;
  deps.onStep?.("starting");
  const { won } = await startProcess({ runId, epoch, runDir, dir, env, umask, start: built });
  if (won) deps.onStep?.("started");
  await mirrorRunOrNote(work.store, runId, (text) => deps.note(run, text));
  return won;
}

/** Says whether an earlier agent is alive: two would undo each other's work. */
async function hasLiveAgent(run: Run, runDir: string): Promise<boolean> {
  if ((await findAgentProcess(runDir, run.epoch)).state === "alive") return true;
  return run.seen !== undefined && (await isAgentPresent(run.seen));
}

/** Reads the run again; undefined if this worker no longer owns it in this epoch. */
async function refreshOwnRun(run: Run, { store }: JobContext, deps: StarterDeps): Promise<Run | undefined> {
  const now = await store.findRun(run.id);
  return now?.worker === deps.worker && now.epoch === run.epoch ? now : undefined;
}

/** Marks what an earlier epoch handed over as given if the agent's transcript shows it. */
async function confirmGiven({ run, agent, launch }: ClaimedRun, { store, decider }: JobContext): Promise<void> {
  for (const evident of await listHandoverEvidence(store, run)) {
    if ((await askWitness(agent, run, launch, evident)) !== "given") continue;
    await decider.changeQuestion(evident.question.id, SYSTEM, (read, at) => give(read, { witness: "transcript" }, at));
  }
}

async function buildStart(
  { run, agent, launch, runDir, knownEpoch }: ClaimedRun,
  work: JobContext,
  deps: StarterDeps,
): Promise<Start> {
  const { store } = work;
  const version = await findVersion(agent, launch);
  const { before } = await UsageMeter.open(store, run.id, undefined);
  const task = taskOf(
    run,
    { ...deps, epoch: run.epoch, startDir: startDirOf(runDir, run.epoch), version },
    launch,
    before,
  );
  const delimiter = delimiterFrom(randomBytes(DELIMITER_BYTES));
  const reads = await readHandedQuestions(store, run);
  const isKnown = run.session !== undefined && (await hasSessionRecord(agent, run, launch));
  if (!isKnown && reads.length === 0 && !(await hasStarted(runDir, knownEpoch))) return agent.start(task);
  const history = await readRunHistory(store, run);
  const known = remembers(agent, run, launch) ? [] : findForgotten(history, reads);
  const how = await buildResume(run, { agent, launch, runDir }, { delimiter, reads, known });
  if (how.by === "call") await leaveForNextStart(run, reads, how.callId, work);
  if (agent.program === "" || isKnown) return agent.resume({ ...task, session: run.session ?? "" }, how);
  deps.note(run, `the session ${run.session ?? ""} is gone; a new one is told what is known`);
  const prompt = await restartPrompt({ prompt: launch.prompt, dir: launch.dir, runDir }, agent, history, delimiter);
  return agent.start({ ...task, prompt });
}

/** Says whether a resumed agent has a session of its own to go on with; a command has none unless it is named one. */
function remembers(agent: Agent, { session }: Run, { options }: Launch): boolean {
  if (agent.program !== "") return true;
  return session !== undefined && (options.resumeWith ?? []).some((word) => word.includes("{session}"));
}

/** Leaves other outcomes to the next start: the agent gets the answer to its call and nothing else. */
async function leaveForNextStart(
  run: Run,
  reads: readonly QuestionSnapshot[],
  callId: string,
  { decider }: JobContext,
): Promise<void> {
  for (const { question } of reads) {
    if (findAskCall(question, run.session) === callId) continue;
    await decider.changeQuestion(question.id, SYSTEM, (read, at) =>
      returnToOwed(read.run, [read.question], run.epoch, at),
    );
  }
}

/** Says whether an agent ran up to this epoch; voided starts do not count. */
async function hasStarted(runDir: string, lastEpoch: number): Promise<boolean> {
  for (const epoch of await listEpochs(runDir, "pid")) {
    if (epoch <= lastEpoch && (await findAgentProcess(runDir, epoch)).state === "dead") return true;
  }
  return false;
}

const RUNS_OF_A_SESSION = 10;

/** Records the agent's own handle for resuming; false if another run has the session. */
export async function saveSession(
  id: RunId,
  session: string,
  epoch: number,
  { store, decider }: Pick<JobContext, "store" | "decider">,
): Promise<boolean> {
  const run = await store.findRun(id);
  const { runs } = await store.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION);
  if (runs.some((other) => other.id !== id && other.host === run?.host && other.agent === run.agent)) return false;
  await decider.changeRun(id, SYSTEM, (read, at) => recordSession(read, session, epoch, at));
  return true;
}
