import { requireAccess, requireMayResumeAgent } from "../people/access.ts";
import type { DecisionContext, Changes } from "../changes.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { timerKey, setTimer } from "../question/question-timer.ts";
import { hasLateCorrection, reopenVoided, resume, startJob, voidHandover } from "./handover.ts";
import { shortId } from "../id.ts";
import { DAY_MS, type Instant, msBetween } from "../instant.ts";
import { type Job, jobKey, questionJob, runJob } from "./job.ts";
import {
  LOW_CONFIDENCE,
  NOT_OPEN,
  type PendingQuestion,
  type Question,
  isHeldBack,
  isPending,
} from "../question/question.ts";
import type { Person } from "../people/person.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded, isAgentAlive } from "./run.ts";

/** How an agent's process ended, with the agent's own summary if it gave one. */
export interface RunResult {
  status: "completed" | "failed" | "blocked";
  reason?: string;
  summary?: string;
  details?: string;
  issues?: string[];
  /** Its structured output. */
  output?: unknown;
  /** The failure passes by itself: at a time, after a while, or nobody knows when. */
  retry?: { at?: Instant; afterMs?: number };
  /** Why it may have asked something that could not be read. */
  mayHaveAsked?: string | undefined;
}

/** The reason of a run whose agent has used up what its account may use for now. */
export const USAGE_LIMIT = "usage_limit";

/** A run with its open questions: the pending one, and those with outcomes not yet given. */
export interface RunSnapshot {
  run: Run;
  open: readonly Question[];
  /** All listed people; read where an open question names people. */
  people?: readonly Person[] | undefined;
}

/** Queues a new run for a worker. */
export function queueRun(run: Run, at: DecisionContext): Changes {
  if (at.by.scope === "agent") requireAccess("start_child_run", at.by, { runId: run.parentId ?? at.by.runId });
  else requireAccess("start_run", at.by);
  const scheduled = run.giveBack === "worker" ? [startJob(run, at.now)] : [];
  return { runs: [run], events: [runEvent(undefined, run, at)], scheduled };
}

/** Records that the agent's process has started. */
export function startRun({ run }: RunSnapshot, at: DecisionContext): Changes {
  if (hasEnded(run)) throw runEndedRefusal(run);
  const started: Run = {
    ...run,
    status: "running",
    epoch: run.epoch + 1,
    startedAt: run.startedAt ?? at.now,
    reason: undefined,
  };
  const events = [runEvent(run, started, at, { epoch: started.epoch })];
  return { runs: [started], events, dropped: [jobKey("resume", run.id)] };
}

/**
 * Ends a run whose processes are gone. With a question pending the run is parked, whatever the exit code: an agent that
 * stops to wait ends like one that finished. With an outcome owed it is resumed.
 */
export function endRun({ run, open }: RunSnapshot, result: RunResult, at: DecisionContext): Changes {
  if (hasEnded(run)) return {};
  const pending = open.find(isPending);
  const { status, reason, mayHaveAsked, retry: _retry, ...told } = result;
  const kept: Run = {
    ...run,
    worker: undefined,
    apiTries: undefined,
    result: Object.values(told).some((part) => part !== undefined) ? told : run.result,
  };
  if (pending) return parkRun({ ...kept, mayHaveAsked }, pending, at, detailOf(mayHaveAsked));
  const [owed] = open;
  if (owed) {
    const marked = { ...kept, mayHaveAsked };
    return open.every(isHeldBack) ? parkWithAnswer(marked, at) : resumeOwed(marked, owed, at);
  }
  const ended: Run = { ...kept, status, reason, mayHaveAsked, endedAt: status === "blocked" ? run.endedAt : at.now };
  return { runs: [ended], events: [runEvent(run, ended, at, detailOf(mayHaveAsked))] };
}

function detailOf(mayHaveAsked: string | undefined) {
  return mayHaveAsked === undefined ? undefined : { may_have_asked: mayHaveAsked };
}

/** Cancels a run and its question at a person's request; live processes are stopped. */
export function cancelRun({ run, open }: RunSnapshot, reason: string, at: DecisionContext): Changes {
  requireAccess("cancel_run", at.by);
  if (hasEnded(run)) throw runEndedRefusal(run);
  const pending = open.find(isPending);
  const ended: Run = {
    ...run,
    status: "cancelled",
    reason,
    endedAt: at.now,
    epoch: run.epoch + 1,
    pendingId: undefined,
    resumesAt: undefined,
    owes: [],
  };
  const questions = open.map((question) =>
    isPending(question)
      ? cancelledQuestion(question, { reason: "run_cancelled" }, at)
      : voidHandover(question, "run_cancelled"),
  );
  return {
    runs: [ended],
    questions,
    events: [
      ...questions.map((question, index) => {
        // An existing outcome stays as it is; it only never reaches its agent.
        const before = open[index];
        const name = before && isPending(before) ? "cancelled" : "delivery_failed";
        return questionEvent(name, open[index], question, at, { reason: "run_cancelled" });
      }),
      runEvent(run, ended, at),
    ],
    scheduled: [
      ...stopJob(run, at),
      // The step job cancels the runs that it started.
      ...(run.workflow ? [startJob(run, at.now)] : []),
      ...(pending && run.giveBack === "callback" ? [questionJob("callback", pending, at.now)] : []),
    ],
    dropped: [jobKey("resume", run.id), ...(pending ? [timerKey(pending)] : [])],
  };
}

/** The limits of a run: one that has reached them is not started again by itself. */
export const LIMITS: ReadonlySet<string> = new Set(["error_max_turns", "error_max_budget_usd"]);
/** Reasons of hand-overs that were voided with their run, and are reopened when a person takes it up again. */
export const RESUMABLE: ReadonlySet<string> = new Set([
  "resume_failed",
  "start_failed",
  "launch_lost",
  "input_timeout",
  LOW_CONFIDENCE,
  ...LIMITS,
]);
/** How long the launch record of an ended run is kept: a forced answer or a correction can resume it. */
const LAUNCH_KEPT_MS = 7 * DAY_MS;

/**
 * Resumes a run at a person's request: with an answer stored without resuming, or after its end. `asked` are all its
 * questions: voided hand-overs among them are reopened.
 */
export function resumeRun(read: RunSnapshot, asked: readonly Question[], at: DecisionContext): Changes {
  const { run, open } = read;
  requireAccess("resume_run", at.by);
  requireStartable(run);
  const pending = open.find(isPending);
  if (pending) {
    throw new Refusal("not_pending", `Run #${run.number} still waits for an answer to ${shortId(pending.id)}`, {
      hint: `Answer it first: askd answer ${run.number} "…"`,
      fact: { is: "run_waits", number: run.number, id: shortId(pending.id) },
    });
  }
  if (hasEnded(run)) return resumeEndedRun(read, asked, at);
  const owed = open[0];
  const isWaiting = run.status === "blocked" || run.resumesAt !== undefined;
  if ((!owed && !isWaiting) || isAgentAlive(run)) throw nothingToResumeRefusal(run);
  for (const question of open) requireMayResumeAgent("resume_run", { ...read, question }, at, {});
  const next = resume(wantingQuestion(run), owed, at);
  return {
    runs: [next.run],
    events: [runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
}

/** A run whose agent was too unsure to be asked about: the person who resumes it is asked from now on. */
export function wantingQuestion(run: Run): Run {
  return run.reason === LOW_CONFIDENCE ? { ...run, clarifying: run.lastQuestionId } : run;
}

/** Says whether a run's launch record may be deleted: the run was cancelled, or ended long ago. */
export function mayDeleteLaunch(run: Run, now: Instant): boolean {
  if (!hasEnded(run) || run.worker !== undefined) return false;
  return run.status === "cancelled" || (run.endedAt !== undefined && msBetween(run.endedAt, now) > LAUNCH_KEPT_MS);
}

/** Records that a run can no longer be resumed, before its launch record is deleted. */
export function markLaunchDeleted({ run }: RunSnapshot, at: DecisionContext): Changes {
  if (run.isForgotten || !mayDeleteLaunch(run, at.now)) return {};
  const forgotten: Run = { ...run, isForgotten: true };
  return { runs: [forgotten], events: [runEvent(run, forgotten, at, { launch: "deleted" })] };
}

/** Refuses to resume a cancelled run or one without its launch record. */
export function requireStartable(run: Run): void {
  if (run.status === "cancelled") throw runEndedRefusal(run);
  if (!run.isForgotten) return;
  throw new Refusal("run_ended", `The launch record of run #${run.number} is deleted, so it cannot be resumed`, {
    hint: `Start a new run; see what it did with: askd show ${run.number}`,
    fact: { is: "run_ended", number: run.number, status: run.status },
  });
}

/** Resumes an ended run from its session. */
function resumeEndedRun(read: RunSnapshot, asked: readonly Question[], at: DecisionContext): Changes {
  const { run } = read;
  if (run.giveBack !== "worker") throw nothingToResumeRefusal(run);
  // Its agent said that it was done: it was not interrupted, and has nothing to continue with.
  if (run.status === "completed" && !asked.some(hasLateCorrection))
    throw nothingToResumeRefusal(run, sayAfterCompletion(run));
  const last = asked.find(({ id }) => id === run.lastQuestionId);
  if (run.reason === "input_timeout" && last?.status === "timeout" && !last.forced) {
    throw new Refusal("not_pending", `Nobody answered ${shortId(last.id)}, so run #${run.number} cannot continue`, {
      hint: `Answer it and resume: askd answer --force ${run.number} "…"`,
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
  const begun: Run = {
    ...run,
    reason: undefined,
    endedAt: undefined,
    starts: 0,
    apiTries: undefined,
    isContinued: false,
  };
  const reopened = reopenVoided(begun, asked, RESUMABLE, at);
  requireMayReopen(reopened.before, read, at);
  const next = resume({ ...begun, owes: reopened.owes }, reopened.questions[0], at);
  return {
    runs: [next.run],
    questions: reopened.questions,
    events: [...reopened.events, runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
}

/**
 * Refuses to start a run again, unless the actor could have answered each question whose outcome goes along with the
 * start.
 */
export function requireMayReopen(
  reopened: readonly Question[],
  { people }: Pick<RunSnapshot, "people">,
  at: DecisionContext,
): void {
  for (const question of reopened) requireMayResumeAgent("resume_run", { people, question }, at, {});
}

function sayAfterCompletion({ number, lastQuestionId }: Run) {
  const session = `Continue its session yourself: askd takeover ${number}`;
  return lastQuestionId === undefined
    ? session
    : `Correct its last answer and resume it: askd amend ${number} --resume "…". ${session}`;
}

/** The refusal to resume a run that cannot be started or has nothing to continue with. */
export function nothingToResumeRefusal(run: Run, hint?: string): Refusal {
  return new Refusal("bad_input", `Run #${run.number} has nothing to resume with (it is ${run.status})`, {
    hint,
    fact: { is: "nothing_to_resume", number: run.number, status: run.status },
  });
}

/** The job with which the run's host ends the processes of an epoch that is over. */
export function stopJob(run: Run, at: DecisionContext): Job[] {
  if (run.giveBack !== "worker" || !mayHaveProcesses(run)) return [];
  return [runJob("stop", run, at.now)];
}

/** Says whether processes started by a worker may exist. */
function mayHaveProcesses(run: Run) {
  return run.worker !== undefined || (isAgentAlive(run) && !run.implicit);
}

/** Parks a run whose answer was stored without resuming: it waits until somebody resumes it. */
function parkWithAnswer(run: Run, at: DecisionContext): Changes {
  const parked: Run = { ...run, status: "awaiting_input", whenParked: undefined, parkedAt: at.now };
  return { runs: [parked], events: [runEvent(run, parked, at)] };
}

function resumeOwed(run: Run, owed: Question, at: DecisionContext): Changes {
  const next = resume({ ...run, starts: 0 }, owed, at);
  return { runs: [next.run], events: [runEvent(run, next.run, at)], scheduled: next.scheduled };
}

/** Parks a run whose agent is gone while its question waits for a person. */
export function parkRun(run: Run, pending: Question, at: DecisionContext, detail?: Record<string, unknown>): Changes {
  const parked: Run = { ...run, status: run.whenParked ?? "awaiting_input", whenParked: undefined, parkedAt: at.now };
  const released = isPending(pending) && pending.hold ? { ...pending, hold: undefined } : undefined;
  return {
    runs: [parked],
    questions: released ? [released] : [],
    events: [...(released ? [questionEvent("parked", pending, released, at)] : []), runEvent(run, parked, at, detail)],
    ...(released && setTimer(released, at.rules)),
  };
}

/** The question, cancelled. */
export function cancelledQuestion(
  question: PendingQuestion,
  why: { reason: string; note?: string },
  at: DecisionContext,
): Extract<Question, { status: "cancelled" }> {
  return {
    ...question,
    ...NOT_OPEN,
    status: "cancelled",
    cancelledAt: at.now,
    cancelledBy: at.by,
    ...why,
    handover: { state: "void", reason: why.reason },
  };
}

function runEndedRefusal(run: Run) {
  return new Refusal("run_ended", `Run #${run.number} is not waiting for input (${run.status})`, {
    hint: `See it with: askd show ${run.number}`,
    fact: { is: "run_ended", number: run.number, status: run.status },
  });
}
