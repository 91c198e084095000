import type { At, Changes } from "../changes.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { giveSpent, handOver, requireEpoch, resume, startJob, voidHandover } from "./handover.ts";
import type { WorkerId } from "../id.ts";
import { type Instant, SECOND_MS, later } from "../instant.ts";
import { type Job, jobKey } from "./job.ts";
import { type RunRead, type RunResult, endRun } from "./run-lifecycle.ts";
import { type Question, handoversOf, isHandedIn, isPending, isSpent } from "../question/question.ts";
import { NOT_LOGGED_IN, type Run, hasEnded } from "./run.ts";

/** How often somebody looks whether the worker that carries a run is still there. */
export const CARRY_MS = 5 * SECOND_MS;
/** How long before each new try to bring an outcome to an agent that ends without having taken it. */
const RETRY_MS = [0, SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS] as const;

/** Ends that say nothing about the work: the machine went down, or somebody killed the agent. */
const UNSEEN: ReadonlySet<string | undefined> = new Set(["worker_lost", "agent_killed", "tools_lost"]);

/** The one who starts and follows an agent, and which start of it that is. */
export interface Carrier {
  worker: WorkerId;
  epoch: number;
}

/** Looks after a run while an agent of it may be alive; only its own host can. */
export function carryJob(run: Pick<Run, "id" | "host">, at: Instant): Job {
  const dueAt = later(at, CARRY_MS);
  return { key: jobKey("carry", run.id), kind: "carry", dueAt, runId: run.id, host: run.host, tries: 0 };
}

/** Says whether a worker is to start the agent of this run, for the first time or again. */
export function isStartable(run: Run): boolean {
  return run.giveBack === "worker" && (run.status === "queued" || run.status === "resuming");
}

/** A worker takes a run up: a new epoch begins, and all that its agent is owed is on its way. */
export function takeRun({ run, open }: RunRead, worker: WorkerId, at: At): Changes {
  if (!isStartable(run) || run.worker !== undefined) return {};
  const taken: Run = {
    ...run,
    worker,
    // Whoever started the session before, from here on its processes are ours to see.
    implicit: false,
    seen: undefined,
    epoch: run.epoch + 1,
    starts: run.starts + 1,
    status: run.status === "queued" ? "running" : run.status,
    startedAt: run.startedAt ?? at.now,
  };
  const spent = giveSpent(taken, open, at);
  const closed = open.filter((question) => !isPending(question) && !isSpent(question));
  const handed = handOver(taken, closed, { epoch: taken.epoch, by: "start" }, at);
  return {
    runs: [{ ...taken, owes: spent.owes }],
    questions: [...spent.questions, ...(handed.questions ?? [])],
    events: [runEvent(run, taken, at, { epoch: taken.epoch, worker }), ...spent.events, ...(handed.events ?? [])],
    scheduled: [carryJob(run, at.now)],
  };
}

/**
 * Another worker goes on with an agent whose worker is gone; the agent is the same, and so is its epoch. A run that has
 * ended is adopted too: somebody has to see that its processes are gone.
 */
export function adoptRun({ run }: RunRead, from: Carrier, worker: WorkerId, at: At): Changes {
  if (run.worker !== from.worker || run.epoch !== from.epoch || run.worker === worker) return {};
  const adopted: Run = { ...run, worker };
  const detail = { epoch: from.epoch, worker, adopted_from: from.worker };
  return { runs: [adopted], events: [runEvent(run, adopted, at, detail)] };
}

/**
 * The agent of this epoch was never started, and cannot be any more: the run waits for another start as before. Where
 * starting failed, that is tried again, but not for ever; that a worker died says nothing about the run.
 */
export function putBack(read: RunRead, from: Carrier, failure: string | undefined, at: At): Changes {
  const { run } = read;
  if (run.worker !== from.worker || run.epoch !== from.epoch) return {};
  if (hasEnded(run)) return letGo(run, at);
  const dropped = [jobKey("carry", run.id)];
  const delayMs = failure === undefined ? 0 : retryMs(run);
  if (delayMs === undefined) return { ...giveUp(read, { reason: "start_failed", summary: failure }, at), dropped };
  const back: Run = {
    ...{ ...run, worker: undefined, status: run.status === "resuming" ? "resuming" : "queued" },
    starts: failure === undefined ? Math.max(0, run.starts - 1) : run.starts,
  };
  const tried = failure !== undefined && { failure, after_ms: delayMs };
  const detail = { epoch: from.epoch, reason: "never_started", ...tried };
  return {
    runs: [back],
    events: [runEvent(run, back, at, detail)],
    scheduled: [startJob(run, later(at.now, delayMs))],
    dropped,
  };
}

/** What the run was started with is not on its machine any more: nothing starts it, and its answers stay readable. */
export function loseLaunch(read: RunRead, at: At): Changes {
  const { run } = read;
  if (!isStartable(run) || run.worker !== undefined) return {};
  const summary = `What run #${run.number} was started with is not on its machine any more`;
  return giveUp(read, { reason: "launch_lost", summary }, at);
}

/** The agent's own handle for resuming. */
export function nameSession({ run }: RunRead, session: string, epoch: number, at: At): Changes {
  // Who sees a cancelled run to its end reads the same lines; there is nothing to take up again.
  if (hasEnded(run) || run.session === session) return {};
  requireEpoch(run, epoch);
  const named: Run = { ...run, session };
  return { runs: [named], events: [runEvent(run, named, at, { epoch, session })] };
}

/**
 * The processes of an epoch are gone, as the worker that carries the run has seen; of another nothing is believed.
 * A run goes on from its session once if nobody saw how its agent ended, and several times if an outcome is owed.
 */
export function endCarried(read: RunRead, by: Carrier, result: RunResult, at: At): Changes {
  const { run, open } = read;
  // A run that was cancelled is at a later epoch already; that its processes are gone is still to be written down.
  if (run.worker !== by.worker || (run.epoch !== by.epoch && !hasEnded(run))) return {};
  if (hasEnded(run)) return letGo(run, at);
  const dropped = [jobKey("carry", run.id), jobKey("stop", run.id)];
  if (open.some(isPending)) return { ...endRun(read, result, at), dropped };
  if (isForLogin(run, result)) return { ...waitForLogin(run, result, at), dropped };
  // A start that has asked or taken something since did not fail: what came after that is brought at once.
  const isFailed = run.starts > 0 && open.some((question) => wasHanded(question, run.epoch));
  if (open.length > 0) return { ...(isFailed ? bringAgain(read, result, at) : endRun(read, result, at)), dropped };
  if (UNSEEN.has(result.reason) && run.session !== undefined && !run.isContinued) {
    const next = resume({ ...run, worker: undefined, isContinued: true }, undefined, at);
    return {
      runs: [next.run],
      events: [runEvent(run, next.run, at, { reason: result.reason })],
      scheduled: next.scheduled,
      dropped,
    };
  }
  return { ...endRun(read, result, at), dropped };
}

/** The processes of a run that had ended before are gone as well. */
function letGo(run: Run, at: At): Changes {
  const left: Run = { ...run, worker: undefined };
  const dropped = [jobKey("carry", run.id), jobKey("stop", run.id)];
  return { runs: [left], events: [runEvent(run, left, at, { processes: "gone" })], dropped };
}

/** Says whether this start of the agent was to bring something of it. */
function wasHanded(question: Question, epoch: number): boolean {
  return handoversOf(question).some((handover) => isHandedIn(handover, epoch));
}

/** How long until the next try after a start that failed; undefined when it was tried often enough. */
function retryMs({ starts }: Pick<Run, "starts">): number | undefined {
  return RETRY_MS[Math.max(1, starts) - 1];
}

/** An agent that says that it is not logged in after a person answered: no further start helps before that is put right. */
function isForLogin(run: Run, { reason }: RunResult): boolean {
  return reason === NOT_LOGGED_IN && run.session !== undefined && run.lastQuestionId !== undefined;
}

/** The run waits for a person, with all that it owes; the start does not count as a try. */
function waitForLogin(run: Run, { reason, summary }: RunResult, at: At): Changes {
  const blocked: Run = {
    ...{ ...run, worker: undefined, status: "blocked", reason, starts: Math.max(0, run.starts - 1) },
    ...(summary !== undefined && { result: { summary } }),
  };
  return { runs: [blocked], events: [runEvent(run, blocked, at)] };
}

/** The agent ended without having taken what it was started with: it is started again, but not for ever. */
function bringAgain({ run, open }: RunRead, result: RunResult, at: At): Changes {
  const delayMs = retryMs(run);
  if (delayMs !== undefined) {
    const next = resume({ ...run, worker: undefined }, undefined, { ...at, now: later(at.now, delayMs) });
    const events = [runEvent(run, next.run, at, { tries: run.starts, after_ms: delayMs })];
    return { runs: [next.run], events, scheduled: next.scheduled };
  }
  const summary = result.summary ?? `The agent ended ${run.starts} times without taking the answer`;
  return giveUp({ run, open }, { reason: "resume_failed", summary }, at);
}

/** The agent cannot be brought what it is owed. */
function giveUp({ run, open }: RunRead, why: { reason: string; summary: string | undefined }, at: At): Changes {
  const { reason, summary } = why;
  const ended: Run = {
    ...{ ...run, worker: undefined, status: "failed", reason, endedAt: at.now, owes: [] },
    ...(summary !== undefined && { result: { summary } }),
  };
  const questions = open.map((question) => voidHandover(question, reason));
  return {
    runs: [ended],
    questions,
    events: [
      ...questions.map((question, index) =>
        questionEvent("delivery_failed", open[index], question, at, { reason, tries: run.starts }),
      ),
      runEvent(run, ended, at),
    ],
  };
}
