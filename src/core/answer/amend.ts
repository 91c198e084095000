import { requireAccess, requireMayResumeAgent, requireNoQuorum } from "../people/access.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { hashText } from "../question/content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { RECORDED_LATE, reopenVoided, resume } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { RESUMABLE, nothingToResumeRefusal, requireMayReopen, requireStartable } from "../run/run-lifecycle.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { Amendment, Question } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded } from "../run/run.ts";

/** Advice for a correction that no agent will receive. */
const KEPT_ANYWAY = "Without --resume it is stored with the question, where people can read it";

/**
 * Sends a correction after the answer; the answer itself stays as it is. A running agent gets it with the next
 * hand-over, a pending resume takes it along, and a run that has ended is resumed only on request.
 */
export function amend(
  read: QuestionSnapshot,
  text: string,
  at: DecisionContext,
  options: { resume: boolean; confirmed: boolean },
): Changes {
  const { run, question } = read;
  requireAccess("amend", at.by, question);
  if (question.status === "pending" || question.status === "cancelled") {
    const hint =
      question.status === "pending"
        ? `Answer it: askd answer ${shortId(question.id)} "…"`
        : `See it with: askd show ${shortId(question.id)}`;
    throw new Refusal("not_pending", `${shortId(question.id)} is ${question.status}; there is no answer to correct`, {
      hint,
      fact: { is: "uncorrectable", id: shortId(question.id), question: question.status },
    });
  }
  requireMayResumeAgent("amend", read, at, { isConfirmed: options.confirmed });
  requireNoQuorum("amend", question, at.by, `Stop the run, so that it is asked again: askd runs cancel ${run.number}`);
  const said = text.trim();
  if (said === "") throw new Refusal("empty_answer", "Response cannot be empty", { hint: "Write the correction" });
  requirePlain(said, at.rules.limits.answerBytes, "correction");
  const isLate = hasEnded(run) && !options.resume;
  const amendment: Amendment = {
    id: at.ids.outcome(),
    text: said,
    by: at.by,
    at: at.now,
    handover: isLate ? { state: "void", reason: RECORDED_LATE } : { state: "owed" },
  };
  const amended: Question = { ...question, amendments: [...question.amendments, amendment] };
  const event = questionEvent("amended", question, amended, at, {
    id: amendment.id,
    text: hashText(said),
    // Queued is not delivered: a separate event reports that it reached the agent.
    ...(isLate ? { delivered: false } : { queued: true }),
  });
  const owing = isLate || run.owes.includes(question.id) ? run : { ...run, owes: [...run.owes, question.id] };
  if (!hasEnded(run) || isLate) return { runs: [owing], questions: [amended], events: [event] };
  requireStartable(run);
  if (run.giveBack !== "worker") throw nothingToResumeRefusal(run, KEPT_ANYWAY);
  const lost = reopenVoided(owing, [amended, ...(read.others ?? [])], RESUMABLE, at);
  requireMayReopen(
    lost.before.filter(({ id }) => id !== question.id),
    read,
    at,
  );
  const begun: Run = { ...owing, reason: undefined, endedAt: undefined, starts: 0, owes: lost.owes };
  const next = resume(begun, question, at);
  const isReopened = lost.questions.some(({ id }) => id === amended.id);
  return {
    runs: [next.run],
    questions: [...(isReopened ? [] : [amended]), ...lost.questions],
    events: [event, ...lost.events, runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
}
