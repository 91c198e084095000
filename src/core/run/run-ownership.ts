import type { DecisionContext, Changes } from "../changes.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import {
  giveSpentApprovals,
  handOver,
  reopenCorrections,
  requireEpoch,
  resume,
  startJob,
  voidHandover,
} from "./handover.ts";
import type { WorkerId } from "../id.ts";
import { type Instant, MINUTE_MS, SECOND_MS, later } from "../instant.ts";
import { type Job, jobKey, runJob } from "./job.ts";
import { LIMITS, type RunSnapshot, type RunResult, USAGE_LIMIT, endRun } from "./run-lifecycle.ts";
import { type Question, handoversOf, isHandedInEpoch, isPending, isApprovalSpent } from "../question/question.ts";
import { NOT_LOGGED_IN, type Run, findAgentSession, hasEnded } from "./run.ts";

/** How often the owner of a run is checked. */
export const OWNERSHIP_MS = 5 * SECOND_MS;
/** The delay before each new attempt to hand an outcome to an agent that ended without taking it. */
const RETRY_MS = [0, SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS] as const;

/** The same while the model's API does not work, and while a usage limit lasts for which the agent names no end. */
const API_RETRY_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS] as const;
const LIMIT_RETRY_MS: readonly number[] = Array.from({ length: 48 }, () => 30 * MINUTE_MS);

/** Ends that say nothing about the work, such as a crashed machine or a killed agent. */
const UNKNOWN_ENDS: ReadonlySet<string | undefined> = new Set(["worker_lost", "agent_killed", "tools_lost"]);

/** The worker that owns a run, and the epoch it owns. */
export interface RunOwner {
  worker: WorkerId;
  epoch: number;
}

/** A worker that begins the next start of a run. */
export interface RunClaim {
  worker: WorkerId;
  /** The last start that left files on the worker's machine; a restored store may not know of it. */
  lastEpoch?: number | undefined;
  /** All questions of the run. */
  asked?: readonly Question[];
}

/** The job that checks the owner of a run while its agent may be alive; only its host can do it. */
export function ownershipJob(run: Pick<Run, "id" | "host">, at: Instant): Job {
  return runJob("carry", run, later(at, OWNERSHIP_MS));
}

/** Says whether a worker should start or resume the agent of this run. */
export function isStartable(run: Run): boolean {
  return run.giveBack === "worker" && (run.status === "queued" || run.status === "resuming");
}

/**
 * Claims a run for a worker: a new epoch begins, and everything owed to the agent is being handed over. The epoch is
 * later than every start on this machine, so that files of a start which a restored store does not know of are never
 * taken for those of the new one. Corrections that were recorded after the end of the run go along.
 */
export function claimRun({ run, open }: RunSnapshot, by: RunClaim, at: DecisionContext): Changes {
  const { worker, lastEpoch = 0, asked = [] } = by;
  if (!isStartable(run) || run.worker !== undefined) return {};
  const taken: Run = {
    ...run,
    worker,
    // From now on a worker watches the processes, whoever started the session before.
    implicit: false,
    seen: undefined,
    epoch: Math.max(run.epoch, lastEpoch) + 1,
    starts: run.starts + 1,
    status: run.status === "queued" ? "running" : run.status,
    startedAt: run.startedAt ?? at.now,
    reason: undefined,
    resumesAt: undefined,
  };
  const late = reopenCorrections(taken, [...open, ...asked], at);
  const owed = open.map((question) => late.questions.find(({ id }) => id === question.id) ?? question);
  const added = late.questions.filter(({ id }) => open.every((question) => question.id !== id));
  const spent = giveSpentApprovals({ ...taken, owes: late.owes }, owed, at);
  const closed = [...owed, ...added].filter((question) => !isPending(question) && !isApprovalSpent(question));
  const handed = handOver(taken, closed, { epoch: taken.epoch, by: "start" }, at);
  return {
    runs: [{ ...taken, owes: spent.owes }],
    questions: [...spent.questions, ...(handed.questions ?? [])],
    events: [
      runEvent(run, taken, at, { epoch: taken.epoch, worker }),
      ...late.events,
      ...spent.events,
      ...(handed.events ?? []),
    ],
    scheduled: [ownershipJob(run, at.now)],
  };
}

/**
 * Transfers a run from a dead worker to another; agent and epoch stay the same. An ended run is transferred too:
 * somebody has to see its processes gone.
 */
export function transferRun({ run }: RunSnapshot, from: RunOwner, worker: WorkerId, at: DecisionContext): Changes {
  if (run.worker !== from.worker || run.epoch !== from.epoch || run.worker === worker) return {};
  const adopted: Run = { ...run, worker };
  const detail = { epoch: from.epoch, worker, adopted_from: from.worker };
  return { runs: [adopted], events: [runEvent(run, adopted, at, detail)] };
}

/**
 * Requeues a run whose agent was never started in this epoch and can no longer be. Failed starts are retried a limited
 * number of times; a worker's death does not count.
 */
export function requeueRun(
  read: RunSnapshot,
  from: RunOwner,
  failure: string | undefined,
  at: DecisionContext,
): Changes {
  const { run } = read;
  if (run.worker !== from.worker || run.epoch !== from.epoch) return {};
  if (hasEnded(run)) return releaseEndedRun(run, at);
  const dropped = [jobKey("carry", run.id)];
  const delayMs = failure === undefined ? 0 : retryMs(run);
  if (delayMs === undefined) return { ...failRun(read, { reason: "start_failed", summary: failure }, at), dropped };
  const back: Run = {
    ...run,
    worker: undefined,
    status: run.status === "resuming" ? "resuming" : "queued",
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

/** Fails a run whose launch record is missing on its machine; its answers stay readable. */
export function failLostLaunch(read: RunSnapshot, at: DecisionContext): Changes {
  const { run } = read;
  if (!isStartable(run) || run.worker !== undefined) return {};
  const wayOn = findAgentSession(run) && `; continue its session yourself: askd takeover ${run.number}`;
  const summary = `The launch record of run #${run.number} is no longer on its machine${wayOn ?? ""}`;
  return failRun(read, { reason: "launch_lost", summary }, at);
}

/** Records the agent's own handle for resuming. */
export function recordSession({ run }: RunSnapshot, session: string, epoch: number, at: DecisionContext): Changes {
  // The follower of a cancelled run reads the same lines; nothing will be resumed.
  if (hasEnded(run) || run.session === session) return {};
  requireEpoch(run, epoch);
  const named: Run = { ...run, session };
  return { runs: [named], events: [runEvent(run, named, at, { epoch, session })] };
}

/**
 * Ends the epoch of a run whose processes are gone; only its owner is believed. The run is continued from its session
 * once if its end was not seen, and several times if an outcome is owed.
 */
export function endOwnedRun(read: RunSnapshot, by: RunOwner, result: RunResult, at: DecisionContext): Changes {
  const { run, open } = read;
  // A cancelled run is already at a later epoch; the end of its processes is still recorded.
  if (run.worker !== by.worker || (run.epoch !== by.epoch && !hasEnded(run))) return {};
  // A policy blocked the run while its agent was alive.
  if (hasEnded(run) || run.status === "blocked") return releaseEndedRun(run, at);
  const dropped = [jobKey("carry", run.id), jobKey("stop", run.id)];
  if (open.some(isPending)) return { ...endRun(read, result, at), dropped };
  if (needsLogin(run, result)) return { ...waitForLogin(run, result, at), dropped };
  const waited = result.retry && run.session !== undefined ? waitForApi(run, result, at) : undefined;
  if (waited) return { ...waited, dropped };
  // A start that asked or received something did not fail: what is owed since then is handed over at once.
  const isFailed = run.starts > 0 && open.some((question) => wasHanded(question, run.epoch));
  if (isFailed && LIMITS.has(result.reason ?? "")) {
    const { reason = "", summary } = result;
    return { ...failRun(read, { reason, summary }, at), dropped };
  }
  if (open.length > 0) return { ...(isFailed ? retryResume(read, result, at) : endRun(read, result, at)), dropped };
  if (UNKNOWN_ENDS.has(result.reason) && run.session !== undefined && !run.isContinued) {
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

/** Releases an ended or blocked run whose processes are gone. */
function releaseEndedRun(run: Run, at: DecisionContext): Changes {
  const left: Run = { ...run, worker: undefined };
  const dropped = [jobKey("carry", run.id), jobKey("stop", run.id)];
  return { runs: [left], events: [runEvent(run, left, at, { processes: "gone" })], dropped };
}

/** Says whether this epoch was to hand over something of the question. */
function wasHanded(question: Question, epoch: number) {
  return handoversOf(question).some((handover) => isHandedInEpoch(handover, epoch));
}

/** The delay before the next start; undefined after the last attempt. */
function retryMs({ starts }: Pick<Run, "starts">) {
  return RETRY_MS[Math.max(1, starts) - 1];
}

/** Says whether the agent needs a login: further starts do not help before that. */
function needsLogin(run: Run, { reason }: RunResult) {
  return reason === NOT_LOGGED_IN && run.session !== undefined && run.lastQuestionId !== undefined;
}

/** Blocks a run until a person logs the agent in; the start does not count as an attempt. */
function waitForLogin(run: Run, { reason, summary }: RunResult, at: DecisionContext): Changes {
  const blocked: Run = {
    ...run,
    worker: undefined,
    status: "blocked",
    reason,
    starts: Math.max(0, run.starts - 1),
    result: summary === undefined ? run.result : { summary },
  };
  return { runs: [blocked], events: [runEvent(run, blocked, at)] };
}

/** Resumes an agent later whose model did not reply, up to a limit; the start does not count as an attempt. */
function waitForApi(
  run: Run,
  { reason = "api_error", retry, summary }: RunResult,
  at: DecisionContext,
): Changes | undefined {
  const delaysMs = reason === USAGE_LIMIT ? LIMIT_RETRY_MS : API_RETRY_MS;
  const tries = run.apiTries ?? 0;
  const delayMs = retry?.afterMs ?? delaysMs[tries];
  if (delayMs === undefined || tries >= delaysMs.length) return undefined;
  const resumesAt = retry?.at !== undefined && retry.at > at.now ? retry.at : later(at.now, delayMs);
  const waiting = { ...run, worker: undefined, starts: Math.max(0, run.starts - 1), apiTries: tries + 1 };
  const next = resume(waiting, undefined, { ...at, now: resumesAt });
  const result = summary === undefined ? run.result : { summary };
  const resumed: Run = { ...next.run, reason, resumesAt, result };
  return {
    runs: [resumed],
    events: [runEvent(run, resumed, at, { resumes_at: resumesAt })],
    scheduled: next.scheduled,
  };
}

/** Resumes an agent that ended without taking its outcome, up to a limit. */
function retryResume({ run, open }: RunSnapshot, result: RunResult, at: DecisionContext): Changes {
  const delayMs = retryMs(run);
  if (delayMs !== undefined) {
    const next = resume({ ...run, worker: undefined }, undefined, { ...at, now: later(at.now, delayMs) });
    const events = [runEvent(run, next.run, at, { tries: run.starts, after_ms: delayMs })];
    return { runs: [next.run], events, scheduled: next.scheduled };
  }
  const summary = result.summary ?? `The agent ended ${run.starts} times without taking the answer`;
  return failRun({ run, open }, { reason: "resume_failed", summary }, at);
}

/** Fails a run and voids what it owes. */
function failRun(
  { run, open }: RunSnapshot,
  why: { reason: string; summary: string | undefined },
  at: DecisionContext,
): Changes {
  const { reason, summary } = why;
  const ended: Run = {
    ...run,
    worker: undefined,
    status: "failed",
    reason,
    endedAt: at.now,
    owes: [],
    result: summary === undefined ? run.result : { summary },
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
