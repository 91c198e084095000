import { requireOwnRun } from "./access.ts";
import type { At, Changes, Read } from "./changes.ts";
import { close, closeWith } from "./close.ts";
import { requirePending } from "./closed.ts";
import { questionEvent, runEvent } from "./event.ts";
import { cancelled, stopJob } from "./lifecycle.ts";
import { requirePlain } from "./plain.ts";
import { type Run, isAlive, isForOneAsk } from "./run.ts";

/**
 * Withdraws a question. Its own agent goes on; a person ends the run with it,
 * unless `resume` says what the agent should be told instead of an answer.
 */
export function cancel(read: Read, input: { reason?: string; resume?: string }, at: At): Changes {
  const { run } = read;
  requireOwnRun(read.question, at.by);
  const question = requirePending(read, at.now);
  const reason = input.reason?.trim() || (at.by.scope === "agent" ? "withdrawn" : "no reason given");
  requirePlain(reason, at.rules.limits.answerBytes, "reason");
  if (input.resume !== undefined && input.resume.trim() !== "") {
    requirePlain(input.resume, at.rules.limits.answerBytes, "text");
    const instead = {
      id: at.ids.outcome(),
      outcome: "decide" as const,
      items: {},
      note: input.resume.trim(),
      by: at.by,
      at: at.now,
    };
    return closeWith({ ...read, question }, instead, at, { resume: true });
  }
  const endsRun = at.by.scope !== "agent" || isForOneAsk(run);
  const wasAlive = isAlive(run) && !run.implicit;
  const ended: Run = endsRun
    ? { ...run, status: "cancelled", reason, endedAt: at.now, ...(wasAlive && { epoch: run.epoch + 1 }) }
    : run;
  const outcome = cancelled(question, { reason }, at);
  const closed = close(
    { ...read, run: ended, question },
    run.giveBack === "callback" ? { ...outcome, handover: { state: "owed" } } : outcome,
    at,
  );
  return {
    ...closed,
    events: [
      questionEvent("cancelled", question, closed.questions[0] ?? outcome, at, { reason }),
      ...(endsRun ? [runEvent(run, ended, at)] : closed.events),
    ],
    scheduled: [...closed.scheduled, ...(endsRun ? stopJob(run, at) : [])],
  };
}
