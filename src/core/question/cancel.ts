import { requireAccess, requireMayResumeAgent, requireNoQuorum } from "../people/access.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { closeQuestion } from "./close.ts";
import { requirePending } from "./require-pending.ts";
import { hashText } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { voidOthers } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { cancelledQuestion, stopJob } from "../run/run-lifecycle.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { ClosedQuestion, PendingQuestion } from "./question.ts";
import { type Run, isAgentAlive, isForOneAsk, isForeignSession } from "../run/run.ts";

export interface CancelInput {
  reason?: string;
  /** A note for the agent in place of an answer; its run continues. */
  resume?: string;
  /** The person has confirmed a high risk. */
  confirmed?: boolean;
}

/**
 * Withdraws a question. If its own agent does so, or in a session that askd did not start, the run continues; otherwise
 * a person ends the run with it, unless `resume` gives a note for the agent.
 */
export function cancel(read: QuestionSnapshot, input: CancelInput, at: DecisionContext): Changes {
  const { run } = read;
  const note = input.resume?.trim();
  requireAccess(note ? "cancel_with_words" : "cancel", at.by, read.question);
  const question = requirePending(read, at.now);
  const reason = input.reason?.trim() || (at.by.scope === "agent" ? "withdrawn" : "no reason given");
  requirePlain(reason, at.rules.limits.answerBytes, "reason");
  if (note) {
    requireMayResumeAgent("cancel_with_words", { ...read, question }, at, input.confirmed ?? false);
    const hint = `Withdraw it without words: askd cancel ${shortId(question.id)}`;
    requireNoQuorum("cancel_with_words", question, at.by, hint);
    return withdrawWithNote({ ...read, question }, reason, note, at);
  }
  const endsRun = isForOneAsk(run) || (at.by.scope !== "agent" && !isForeignSession(run));
  if (!endsRun) return withdraw({ ...read, question }, reason, at);
  const wasAlive = isAgentAlive(run) && !run.implicit;
  const others = voidOthers(read, "run_cancelled", at);
  const ended: Run = {
    ...run,
    status: "cancelled",
    reason,
    endedAt: at.now,
    owes: others.owes,
    epoch: wasAlive ? run.epoch + 1 : run.epoch,
  };
  const outcome = cancelledQuestion(question, { reason }, at);
  const closed = closeQuestion({ ...read, run: ended, question }, owedToCallback(run, outcome), at);
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

/** Cancels the question alone. */
function withdraw(
  read: QuestionSnapshot & { question: PendingQuestion },
  reason: string,
  at: DecisionContext,
): Changes {
  const outcome = cancelledQuestion(read.question, { reason }, at);
  const closed = closeQuestion(read, owedToCallback(read.run, outcome), at);
  const event = questionEvent("cancelled", read.question, closed.questions[0] ?? outcome, at, { reason });
  return { ...closed, events: [event, ...closed.events] };
}

/** Cancels the question with a note, which the agent reads as a note, never as an answer. */
function withdrawWithNote(
  read: QuestionSnapshot & { question: PendingQuestion },
  reason: string,
  note: string,
  at: DecisionContext,
): Changes {
  requirePlain(note, at.rules.limits.answerBytes, "text");
  const outcome: ClosedQuestion = {
    ...cancelledQuestion(read.question, { reason, note }, at),
    handover: { state: "owed" },
  };
  const closed = closeQuestion(read, outcome, at);
  const detail = { reason, note: hashText(note) };
  const event = questionEvent("cancelled", read.question, closed.questions[0] ?? outcome, at, detail);
  return { ...closed, events: [event, ...closed.events] };
}

/** A callback also reports that no answer will come. */
function owedToCallback(run: Run, outcome: Extract<ClosedQuestion, { status: "cancelled" }>): ClosedQuestion {
  return run.giveBack === "callback" ? { ...outcome, handover: { state: "owed" } } : outcome;
}
