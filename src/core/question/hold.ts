import { SYSTEM } from "../people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { holdCheckAt, setTimer } from "./question-timer.ts";
import { closeQuestion } from "./close.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { give, resume } from "../run/handover.ts";
import { later } from "../instant.ts";
import { type Job, jobKey } from "../run/job.ts";
import { NOT_OPEN, type PendingQuestion, owesOutcome } from "./question.ts";
import { HANDOVER_GRACE_MS } from "../rules.ts";
import { type Run, isAgentAlive } from "../run/run.ts";

/**
 * Ends a hold. At the end of the window the question is parked, or the agent proceeds if the ask declared that; if the
 * caller is gone, the question is parked in any case.
 */
export function endHold(read: QuestionSnapshot, why: "window" | "gone", at: DecisionContext): Changes {
  const { run, question } = read;
  if (question.status !== "pending" || !question.hold) return {};
  if (question.settling) return setTimer(question, at.rules);
  if (why === "window" && question.hold.after === "proceed" && question.kind === "question")
    return proceedWithoutAnswer({ ...read, question }, at);
  return parkQuestion(run, question, why, at);
}

/** Checks a hold or an owed outcome whose caller may have died. */
export function watchHold(read: QuestionSnapshot, at: DecisionContext): Changes {
  const { run, question } = read;
  if (question.status === "pending") {
    if (!question.hold) return setTimer(question, at.rules);
    const lapsesAt = holdCheckAt(question);
    return lapsesAt && lapsesAt > at.now ? setTimer(question, at.rules) : endHold(read, "gone", at);
  }
  if (!owesOutcome(question)) return {};
  // A shell script that died while waiting leaves nobody to hand over to: the answer can be read.
  if (run.implicit && run.giveBack === "poll" && question.via === "cli") return give(read, { witness: "stored" }, at);
  if (run.giveBack !== "poll" || !isAgentAlive(run)) return {};
  // No worker watches the process of such a caller: an outcome it did not take in time, it has to fetch.
  const next = resume(run, question, at).run;
  return { runs: [next], events: [runEvent(run, next, at, { why: "not_taken" })] };
}

function parkQuestion(run: Run, question: PendingQuestion, why: string, at: DecisionContext): Changes {
  const parked: PendingQuestion = { ...question, hold: undefined };
  const clock = setTimer(parked, at.rules);
  const isKept = question.hold?.after === "keep";
  // A run without a process of its own awaits input as soon as nobody holds, and so does one whose caller vanished
  // where no worker would notice.
  const isUnseen = run.implicit || (run.giveBack === "poll" && why === "gone");
  const next: Run =
    isUnseen && isAgentAlive(run) && !isKept ? { ...run, status: "awaiting_input", parkedAt: at.now } : run;
  return {
    runs: [next],
    questions: [parked],
    events: [
      questionEvent("parked", question, parked, at, { why }),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    ...clock,
    scheduled: [...clock.scheduled, ...(isKept ? [] : stopAfterGrace(run, at))],
  };
}

/** Stops the agent after a grace period in which it can end by itself. */
function stopAfterGrace(run: Run, at: DecisionContext): Job[] {
  if (run.giveBack !== "worker" || run.implicit || !isAgentAlive(run)) return [];
  const dueAt = later(at.now, HANDOVER_GRACE_MS);
  return [{ key: jobKey("stop", run.id), kind: "stop", dueAt, runId: run.id, host: run.host, tries: 0 }];
}

function proceedWithoutAnswer(read: QuestionSnapshot & { question: PendingQuestion }, at: DecisionContext): Changes {
  const by = { ...at, by: { ...SYSTEM, id: "policy:proceed" } };
  const closed = closeQuestion(
    read,
    {
      ...read.question,
      ...NOT_OPEN,
      status: "timeout",
      timedOutAt: at.now,
      policy: "proceed",
      handover: { state: "owed" },
    },
    by,
  );
  const question = closed.questions[0] ?? read.question;
  return {
    ...closed,
    events: [questionEvent("timed_out", read.question, question, by, { policy: "proceed" }), ...closed.events],
  };
}
