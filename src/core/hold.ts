import { SYSTEM } from "./people/actor.ts";
import type { At, Changes, Read } from "./changes.ts";
import { lapseAt, setClock } from "./question/question-timer.ts";
import { close } from "./question/close.ts";
import { questionEvent, runEvent } from "./trail/event.ts";
import { give, resume } from "./run/handover.ts";
import { later } from "./instant.ts";
import { type Job, jobKey } from "./run/job.ts";
import { NOT_OPEN, type Pending, owes } from "./question/question.ts";
import { HANDOVER_GRACE_MS } from "./rules.ts";
import { type Run, isAlive } from "./run/run.ts";

/**
 * The caller stops waiting. At the end of its window the question is parked, or the agent told to proceed
 * if the ask declared that; a caller that vanished is told nothing, so its question is parked in any case.
 */
export function endHold(read: Read, why: "window" | "gone", at: At): Changes {
  const { run, question } = read;
  if (question.status !== "pending" || !question.hold) return {};
  if (question.settling) return setClock(question, at.rules);
  if (why === "window" && question.hold.after === "proceed" && question.kind === "question")
    return proceed({ ...read, question }, at);
  return parkQuestion(run, question, why, at);
}

/** Looks after a hold or an owed outcome whose caller may have died. */
export function watch(read: Read, at: At): Changes {
  const { run, question } = read;
  if (question.status === "pending") {
    if (!question.hold) return setClock(question, at.rules);
    const lapsesAt = lapseAt(question);
    return lapsesAt && lapsesAt > at.now ? setClock(question, at.rules) : endHold(read, "gone", at);
  }
  if (!owes(question)) return {};
  // A shell script that died while it waited left nobody to bring the answer to: it can be read.
  if (run.implicit && run.giveBack === "poll" && question.via === "cli") return give(read, { witness: "stored" }, at);
  if (run.giveBack !== "poll" || !isAlive(run)) return {};
  // Nobody of ours sees the process of such a caller: what it did not take in time, it has to come for.
  const next = resume(run, question, at).run;
  return { runs: [next], events: [runEvent(run, next, at, { why: "not_taken" })] };
}

function parkQuestion(run: Run, question: Pending, why: string, at: At): Changes {
  const parked: Pending = { ...question, hold: undefined };
  const clock = setClock(parked, at.rules);
  const isKept = question.hold?.after === "keep";
  // A run without a process of its own waits from the moment that nobody holds, and so does one whose caller is gone
  // without a word, where nobody else would see that.
  const isUnseen = run.implicit || (run.giveBack === "poll" && why === "gone");
  const next: Run = isUnseen && isAlive(run) && !isKept ? { ...run, status: "awaiting_input", parkedAt: at.now } : run;
  return {
    runs: [next],
    questions: [parked],
    events: [
      questionEvent("parked", question, parked, at, { why }),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    ...clock,
    scheduled: [...clock.scheduled, ...(isKept ? [] : stopLater(run, at))],
  };
}

/** An agent that was told to stop gets some time to do so by itself. */
function stopLater(run: Run, at: At): Job[] {
  if (run.giveBack !== "worker" || run.implicit || !isAlive(run)) return [];
  const dueAt = later(at.now, HANDOVER_GRACE_MS);
  return [{ key: jobKey("stop", run.id), kind: "stop", dueAt, runId: run.id, host: run.host, tries: 0 }];
}

function proceed(read: Read & { question: Pending }, at: At): Changes {
  const by = { ...at, by: { ...SYSTEM, id: "policy:proceed" } };
  const closed = close(
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
