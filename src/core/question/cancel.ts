import { requireMay, requireMayGoOn, requireNoVotes } from "../people/access.ts";
import type { At, Changes, Read } from "../changes.ts";
import { close } from "./close.ts";
import { requirePending } from "./require-pending.ts";
import { hashText } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { voidOthers } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { cancelled, stopJob } from "../run/run-lifecycle.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { Closed, Pending } from "./question.ts";
import { type Run, isAlive, isForOneAsk, isForeignSession } from "../run/run.ts";

export interface CancelInput {
  reason?: string;
  /** What the agent is told instead of an answer; its run goes on. */
  resume?: string;
  /** The person has read what a high risk means. */
  confirmed?: boolean;
}

/**
 * Withdraws a question. Its own agent goes on, and so does a session that askd did not start; otherwise a person ends
 * the run with it, unless `resume` says what the agent should be told instead of an answer.
 */
export function cancel(read: Read, input: CancelInput, at: At): Changes {
  const { run } = read;
  const note = input.resume?.trim();
  requireMay(note ? "cancel_with_words" : "cancel", at.by, read.question);
  const question = requirePending(read, at.now);
  const reason = input.reason?.trim() || (at.by.scope === "agent" ? "withdrawn" : "no reason given");
  requirePlain(reason, at.rules.limits.answerBytes, "reason");
  if (note) {
    requireMayGoOn("cancel_with_words", { ...read, question }, at, input.confirmed ?? false);
    const hint = `Withdraw it without words: askd cancel ${shortId(question.id)}`;
    requireNoVotes("cancel_with_words", question, at.by, hint);
    return withdrawWithNote({ ...read, question }, reason, note, at);
  }
  const endsRun = isForOneAsk(run) || (at.by.scope !== "agent" && !isForeignSession(run));
  if (!endsRun) return withdraw({ ...read, question }, reason, at);
  const wasAlive = isAlive(run) && !run.implicit;
  const others = voidOthers(read, "run_cancelled", at);
  const ended: Run = {
    ...{ ...run, status: "cancelled", reason, endedAt: at.now, owes: others.owes },
    ...(wasAlive && { epoch: run.epoch + 1 }),
  };
  const outcome = cancelled(question, { reason }, at);
  const closed = close({ ...read, run: ended, question }, toldByCallback(run, outcome), at);
  return {
    ...closed,
    questions: [...closed.questions, ...others.questions],
    events: [
      questionEvent("cancelled", question, closed.questions[0] ?? outcome, at, { reason }),
      ...others.events,
      runEvent(run, ended, at),
    ],
    scheduled: [...closed.scheduled, ...stopJob(run, at)],
  };
}

/** Ends the question alone. */
function withdraw(read: Read & { question: Pending }, reason: string, at: At): Changes {
  const outcome = cancelled(read.question, { reason }, at);
  const closed = close(read, toldByCallback(read.run, outcome), at);
  const event = questionEvent("cancelled", read.question, closed.questions[0] ?? outcome, at, { reason });
  return { ...closed, events: [event, ...closed.events] };
}

/** The agent is told that its question was withdrawn, and reads a person's words as a note. They answer nothing. */
function withdrawWithNote(read: Read & { question: Pending }, reason: string, note: string, at: At): Changes {
  requirePlain(note, at.rules.limits.answerBytes, "text");
  const outcome: Closed = { ...cancelled(read.question, { reason, note }, at), handover: { state: "owed" } };
  const closed = close(read, outcome, at);
  const detail = { reason, note: hashText(note) };
  const event = questionEvent("cancelled", read.question, closed.questions[0] ?? outcome, at, detail);
  return { ...closed, events: [event, ...closed.events] };
}

/** A program that is called back hears that nobody will answer. */
function toldByCallback(run: Run, outcome: Extract<Closed, { status: "cancelled" }>): Closed {
  return run.giveBack === "callback" ? { ...outcome, handover: { state: "owed" } } : outcome;
}
