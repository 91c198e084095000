import { requireMay, requireMayGoOn } from "../people/access.ts";
import type { At, Changes } from "../changes.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { clockKey, setClock } from "../question/question-timer.ts";
import { reopenHandover, resume, startJob, voidHandover } from "./handover.ts";
import { shortId } from "../id.ts";
import { DAY_MS, type Instant, msBetween } from "../instant.ts";
import { type Job, jobKey, questionJob } from "./job.ts";
import { NOT_OPEN, type Pending, type Question, isHeldBack, isPending } from "../question/question.ts";
import type { Person } from "../people/person.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded, isAlive, isLoggedOut } from "./run.ts";

/** How an agent's process ended, in its own words where it gave any. */
export interface RunResult {
  status: "completed" | "failed" | "blocked";
  reason?: string;
  summary?: string;
  details?: string;
  issues?: string[];
}

/** What belongs to a run and is still open: its pending question, and outcomes not yet given. */
export interface RunRead {
  run: Run;
  open: readonly Question[];
  /** Everybody on the list of people; read where an open question names people. */
  people?: readonly Person[] | undefined;
}

/** Puts a new run where workers find it. */
export function queueRun(run: Run, at: At): Changes {
  requireMay(at.by.scope === "agent" ? "start_child_run" : "start_run", at.by);
  const scheduled = run.giveBack === "worker" ? [startJob(run, at.now)] : [];
  return { runs: [run], events: [runEvent(undefined, run, at)], scheduled };
}

/** The agent's process is there. */
export function startRun({ run }: RunRead, at: At): Changes {
  if (hasEnded(run)) throw runEnded(run);
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
 * The agent's processes are gone. With a question pending the run is parked, whatever the exit code:
 * an agent that was told to stop ends like one that finished. With an outcome owed it goes back to its agent.
 */
export function endRun({ run, open }: RunRead, result: RunResult, at: At): Changes {
  if (hasEnded(run)) return {};
  const pending = open.find(isPending);
  const { status, reason, ...told } = result;
  const kept: Run = { ...run, worker: undefined, ...(Object.keys(told).length > 0 && { result: told }) };
  if (pending) return park(kept, pending, at);
  const [owed] = open;
  if (owed) return open.every(isHeldBack) ? parkAnswered(kept, at) : bringBack(kept, owed, at);
  const ended: Run = { ...kept, status, reason, ...(status !== "blocked" && { endedAt: at.now }) };
  return { runs: [ended], events: [runEvent(run, ended, at)] };
}

/** Ends a run and its question by a person's will; processes that still live are stopped. */
export function cancelRun({ run, open }: RunRead, reason: string, at: At): Changes {
  requireMay("cancel_run", at.by);
  if (hasEnded(run)) throw runEnded(run);
  const pending = open.find(isPending);
  const ended: Run = {
    ...run,
    status: "cancelled",
    reason,
    endedAt: at.now,
    epoch: run.epoch + 1,
    pendingId: undefined,
    owes: [],
  };
  const questions = open.map((question) =>
    isPending(question)
      ? cancelled(question, { reason: "run_cancelled" }, at)
      : voidHandover(question, "run_cancelled"),
  );
  return {
    runs: [ended],
    questions,
    events: [
      ...questions.map((question, index) => {
        // An outcome that is there stays what it is; it only never reaches its agent.
        const before = open[index];
        const name = before && isPending(before) ? "cancelled" : "delivery_failed";
        return questionEvent(name, open[index], question, at, { reason: "run_cancelled" });
      }),
      runEvent(run, ended, at),
    ],
    scheduled: [
      ...stopJob(run, at),
      ...(pending && run.giveBack === "callback" ? [questionJob("callback", pending, at.now)] : []),
    ],
    dropped: [jobKey("resume", run.id), ...(pending ? [clockKey(pending)] : [])],
  };
}

/** Why an outcome was given up that a resume by hand brings after all. */
const RESUMABLE: ReadonlySet<string> = new Set(["resume_failed", "start_failed", "launch_lost"]);
/** How long what an ended run was started with is kept: an answer after the deadline or a correction can resume it. */
const LAUNCH_KEPT_MS = 7 * DAY_MS;

/**
 * Takes up a run by a person's will: with an answer that was stored without resuming it, or one that has ended. `asked`
 * are all its questions: what could not be brought to the agent before is brought now.
 */
export function resumeRun(read: RunRead, asked: readonly Question[], at: At): Changes {
  const { run, open } = read;
  requireMay("resume_run", at.by);
  requireStartable(run);
  const pending = open.find(isPending);
  if (pending) {
    throw new Refusal("not_pending", `Run #${run.number} still waits for an answer to ${shortId(pending.id)}`, {
      hint: `Answer it first: askd answer ${run.number} "…"`,
      fact: { is: "run_waits", number: run.number, id: shortId(pending.id) },
    });
  }
  if (hasEnded(run)) return takeUpAgain(read, asked, at);
  const owed = open[0];
  if ((!owed && !isLoggedOut(run)) || isAlive(run)) throw nothingToResume(run);
  for (const question of open) requireMayGoOn("resume_run", { ...read, question }, at, false);
  const next = resume(run, owed, at);
  return {
    runs: [next.run],
    events: [runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
}

/** Says whether what a run was started with may be deleted: nothing takes a cancelled run up, or one that ended long ago. */
export function mayForget(run: Run, now: Instant): boolean {
  if (!hasEnded(run) || run.worker !== undefined) return false;
  return run.status === "cancelled" || (run.endedAt !== undefined && msBetween(run.endedAt, now) > LAUNCH_KEPT_MS);
}

/** Commits that nothing can take the run up any more, before what it was started with is deleted. */
export function forgetRun({ run }: RunRead, at: At): Changes {
  if (run.isForgotten || !mayForget(run, at.now)) return {};
  const forgotten: Run = { ...run, isForgotten: true };
  return { runs: [forgotten], events: [runEvent(run, forgotten, at, { launch: "deleted" })] };
}

/** Refuses to start a run again that nothing can start any more. */
export function requireStartable(run: Run): void {
  if (run.status === "cancelled") throw runEnded(run);
  if (!run.isForgotten) return;
  throw new Refusal("run_ended", `What run #${run.number} was started with is deleted, so it cannot go on`, {
    hint: `Start it anew; what it did: askd show ${run.number}`,
    fact: { is: "run_ended", number: run.number, status: run.status },
  });
}

/** A run that has ended goes on from its session. */
function takeUpAgain(read: RunRead, asked: readonly Question[], at: At): Changes {
  const { run } = read;
  if (run.giveBack !== "worker") throw nothingToResume(run);
  const last = asked.find(({ id }) => id === run.lastQuestionId);
  if (run.reason === "input_timeout" && last?.status === "timeout" && !last.forced) {
    throw new Refusal("not_pending", `Nobody answered ${shortId(last.id)}, so run #${run.number} cannot go on`, {
      hint: `Answer it and resume: askd answer --force ${run.number} "…"`,
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
  const reopened = asked.flatMap((question) => {
    const again = reopenHandover(question, RESUMABLE);
    return JSON.stringify(again) === JSON.stringify(question) ? [] : [{ question, again }];
  });
  for (const { question } of reopened) requireMayGoOn("resume_run", { ...read, question }, at, false);
  const owing = reopened.map(({ again }) => again.id);
  const begun: Run = {
    ...run,
    ...{ reason: undefined, endedAt: undefined, starts: 0, isContinued: false },
    owes: [...run.owes.filter((id) => !owing.includes(id)), ...owing],
  };
  const next = resume(begun, reopened[0]?.again, at);
  return {
    runs: [next.run],
    questions: reopened.map(({ again }) => again),
    events: [
      ...reopened.map(({ question, again }) => questionEvent("owed", question, again, at)),
      runEvent(run, next.run, at),
    ],
    scheduled: next.scheduled,
  };
}

/** Refuses to resume a run that nobody can start, or that has nothing to go on with. */
export function nothingToResume(run: Run, hint?: string): Refusal {
  return new Refusal("bad_input", `Run #${run.number} has nothing to resume with (it is ${run.status})`, {
    ...(hint !== undefined && { hint }),
    fact: { is: "nothing_to_resume", number: run.number, status: run.status },
  });
}

/** Has the host of a run end the processes of the epoch that is over. */
export function stopJob(run: Run, at: At): Job[] {
  if (run.giveBack !== "worker" || !isCarried(run)) return [];
  return [{ key: jobKey("stop", run.id), kind: "stop", dueAt: at.now, runId: run.id, host: run.host, tries: 0 }];
}

/** Says whether processes of it may be there that a worker of its host started. */
function isCarried(run: Run): boolean {
  return run.worker !== undefined || (isAlive(run) && !run.implicit);
}

/** An answer is there that was stored without resuming the run: it waits until somebody resumes it. */
function parkAnswered(run: Run, at: At): Changes {
  const parked: Run = { ...run, status: "awaiting_input", whenParked: undefined, parkedAt: at.now };
  return { runs: [parked], events: [runEvent(run, parked, at)] };
}

function bringBack(run: Run, owed: Question, at: At): Changes {
  const next = resume({ ...run, starts: 0 }, owed, at);
  return { runs: [next.run], events: [runEvent(run, next.run, at)], scheduled: next.scheduled };
}

/** The agent of a run that waits for a person is gone; its work is kept. */
export function park(run: Run, pending: Question, at: At, detail?: Record<string, unknown>): Changes {
  const parked: Run = { ...run, status: run.whenParked ?? "awaiting_input", whenParked: undefined, parkedAt: at.now };
  const released = isPending(pending) && pending.hold ? { ...pending, hold: undefined } : undefined;
  return {
    runs: [parked],
    questions: released ? [released] : [],
    events: [...(released ? [questionEvent("parked", pending, released, at)] : []), runEvent(run, parked, at, detail)],
    ...(released && setClock(released, at.rules)),
  };
}

/** A question that nobody is to answer any more. */
export function cancelled(
  question: Pending,
  why: { reason: string; note?: string },
  at: At,
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

function runEnded(run: Run): Refusal {
  return new Refusal("run_ended", `Task ${run.number} is not waiting for input (${run.status})`, {
    hint: `See it with: askd show ${run.number}`,
    fact: { is: "run_ended", number: run.number, status: run.status },
  });
}
