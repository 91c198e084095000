import { requireAccess, requireMayResumeAgent, requireNoQuorum } from "../people/access.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { closeQuestion } from "./close.ts";
import { requirePending } from "./require-pending.ts";
import { hashText } from "./content.ts";
import { runEvent } from "../trail/event.ts";
import { voidOthers } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { cancelledQuestion, stopJob } from "../run/run-lifecycle.ts";
import { requirePlain } from "../text/plain-text.ts";
import { type ClosedQuestion, NO_REASON } from "./question.ts";
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
  const question = requirePending(read, at);
  const reason = input.reason?.trim() || (at.by.scope === "agent" ? "withdrawn" : NO_REASON);
  requirePlain(reason, at.rules.limits.answerBytes, "reason");
  if (note) {
    requireMayResumeAgent("cancel_with_words", { ...read, question }, at, { isConfirmed: input.confirmed });
    const hint = `Withdraw it without words: askd cancel ${shortId(question.id)}`;
    requireNoQuorum("cancel_with_words", question, at.by, hint);
    requirePlain(note, at.rules.limits.answerBytes, "text");
    // The agent reads it as a note, never as an answer.
    const noted = owed(cancelledQuestion(question, { reason, note }, at));
    return closeQuestion({ ...read, question }, noted, () => ({ reason, note: hashText(note) }), at);
  }
  const endsRun = isForOneAsk(run) || (at.by.scope !== "agent" && !isForeignSession(run));
  const outcome = owedToCallback(run, cancelledQuestion(question, { reason }, at));
  if (!endsRun) return closeQuestion({ ...read, question }, outcome, () => ({ reason }), at);
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
  const closed = closeQuestion({ ...read, run: ended, question }, outcome, () => ({ reason }), at);
  return {
    ...closed,
    questions: [...closed.questions, ...others.questions],
    events: [...closed.events, ...others.events, runEvent(run, ended, at)],
    scheduled: [...closed.scheduled, ...stopJob(run, at)],
  };
}

/** A callback also reports that no answer will come. */
function owedToCallback(run: Run, outcome: ClosedQuestion) {
  return run.giveBack === "callback" ? owed(outcome) : outcome;
}

function owed(outcome: ClosedQuestion): ClosedQuestion {
  return { ...outcome, handover: { state: "owed" } };
}
