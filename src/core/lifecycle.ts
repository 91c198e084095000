import type { At, Changes } from "./changes.ts";
import { questionEvent, runEvent } from "./event.ts";
import { clockKey, setClock } from "./clock.ts";
import { resume, startJob, voidHandover } from "./handover.ts";
import { shortId } from "./id.ts";
import { type Job, jobKey, questionJob } from "./job.ts";
import { NOT_OPEN, type Pending, type Question, isPending } from "./question.ts";
import { Refusal } from "./refusal.ts";
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
}

/** Puts a new run where workers find it. */
export function queueRun(run: Run, at: At): Changes {
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
  const owed = open[0];
  if (owed) {
    const next = resume(kept, owed, at);
    return { runs: [next.run], events: [runEvent(run, next.run, at)], scheduled: next.scheduled };
  }
  const ended: Run = { ...kept, status, reason, ...(status !== "blocked" && { endedAt: at.now }) };
  return { runs: [ended], events: [runEvent(run, ended, at)] };
}

/** Ends a run and its question by a person's will; processes that still live are stopped. */
export function cancelRun({ run, open }: RunRead, reason: string, at: At): Changes {
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
        const name = question.status === "cancelled" ? "cancelled" : "delivery_failed";
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

/** Takes up a run whose answer was stored without resuming it. */
export function resumeRun({ run, open }: RunRead, at: At): Changes {
  if (hasEnded(run)) throw runEnded(run);
  const pending = open.find(isPending);
  if (pending) {
    throw new Refusal("not_pending", `Run #${run.number} still waits for an answer to ${shortId(pending.id)}`, {
      hint: `Answer it first: askd answer ${run.number} "…"`,
      fact: { is: "run_waits", number: run.number, id: shortId(pending.id) },
    });
  }
  const owed = open[0];
  if ((!owed && !isLoggedOut(run)) || isAlive(run))
    throw new Refusal("bad_input", `Run #${run.number} has nothing to resume with (it is ${run.status})`, {
      fact: { is: "nothing_to_resume", number: run.number, status: run.status },
    });
  const next = resume(run, owed, at);
  return {
    runs: [next.run],
    events: next.run.status === run.status ? [] : [runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
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

function park(run: Run, pending: Question, at: At): Changes {
  const parked: Run = { ...run, status: run.whenParked ?? "awaiting_input", whenParked: undefined, parkedAt: at.now };
  const released = isPending(pending) && pending.hold ? { ...pending, hold: undefined } : undefined;
  return {
    runs: [parked],
    questions: released ? [released] : [],
    events: [...(released ? [questionEvent("parked", pending, released, at)] : []), runEvent(run, parked, at)],
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
