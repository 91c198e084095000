import { requireMay, requireMayGoOn, requireNoVotes } from "../people/access.ts";
import type { At, Changes, Read } from "../changes.ts";
import { hashText } from "../question/content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { resume } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { nothingToResume, requireStartable } from "../run/run-lifecycle.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { Amendment, Question } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { hasEnded } from "../run/run.ts";

/** What a person can do whose correction nobody takes up. */
const KEPT_ANYWAY = "Without --resume it is kept with the question, for whoever reads it";

/**
 * Sends a correction after the answer; history is not rewritten. A running agent gets it with the next
 * hand-over, a resume that is under way takes it along, and a run that has ended is resumed only if asked.
 */
export function amend(read: Read, text: string, at: At, options: { resume: boolean; confirmed: boolean }): Changes {
  const { run, question } = read;
  requireMay("amend", at.by, question);
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
  requireMayGoOn("amend", read, at, options.confirmed);
  requireNoVotes("amend", question, at.by, `Stop the run, so that it is asked again: askd runs cancel ${run.number}`);
  const said = text.trim();
  if (said === "") throw new Refusal("empty_answer", "Response cannot be empty", { hint: "Write the correction" });
  requirePlain(said, at.rules.limits.answerBytes, "correction");
  const isLate = hasEnded(run) && !options.resume;
  const amendment: Amendment = {
    id: at.ids.outcome(),
    text: said,
    by: at.by,
    at: at.now,
    handover: isLate ? { state: "void", reason: "run_ended" } : { state: "owed" },
  };
  const amended: Question = { ...question, amendments: [...question.amendments, amendment] };
  const event = questionEvent("amended", question, amended, at, {
    id: amendment.id,
    text: hashText(said),
    // Queued is not delivered: that it reached the agent is an event of its own.
    ...(isLate ? { delivered: false } : { queued: true }),
  });
  const owing = isLate || run.owes.includes(question.id) ? run : { ...run, owes: [...run.owes, question.id] };
  if (!hasEnded(run) || isLate) return { runs: [owing], questions: [amended], events: [event] };
  requireStartable(run);
  if (run.giveBack !== "worker") throw nothingToResume(run, KEPT_ANYWAY);
  const next = resume({ ...owing, reason: undefined, endedAt: undefined, starts: 0 }, question, at);
  return {
    runs: [next.run],
    questions: [amended],
    events: [event, runEvent(run, next.run, at)],
    scheduled: next.scheduled,
  };
}
