import type { At, Changes } from "./changes.ts";
import { clockKey } from "./clock.ts";
import { questionEvent, runEvent } from "./event.ts";
import type { QuestionId } from "./id.ts";
import type { Instant } from "./instant.ts";
import { type Job, jobKey } from "./job.ts";
import { type Handover, type Question, isHanding, owes } from "./question.ts";
import { Refusal } from "./refusal.ts";
import { type Run, hasEnded, isSuspended } from "./run.ts";

/** Commits that the outcome is about to be written out to the agent of this epoch, if there is one to write out. */
export function handOver(run: Run, questions: readonly Question[], epoch: number, at: At): Changes {
  requireEpoch(run, epoch);
  const owed = questions.filter(owes);
  if (owed.every((question) => isHanding(question, epoch))) return {};
  const handed = owed.map((question) =>
    mapHandovers(question, (handover) => (isOpen(handover) ? { state: "handing", epoch, at: at.now } : handover)),
  );
  return {
    runs: [run],
    questions: handed,
    events: handed.map((question, index) => questionEvent("handing", owed[index], question, at, { epoch })),
  };
}

/** Commits that the agent's own record shows the outcome; a run made for one ask is then complete. Once is enough. */
export function give(run: Run, questions: readonly Question[], witness: string, at: At): Changes {
  const owed = questions.filter(owes);
  if (owed.length === 0) return {};
  const given = owed.map((question) => giveAll(question, at, witness));
  const ids = new Set<QuestionId>(given.map((question) => question.id));
  const rest = { ...run, starts: 0, owes: run.owes.filter((id) => !ids.has(id)) };
  const next = rest.owes.length === 0 ? afterGiven(rest, at) : rest;
  return {
    runs: [next],
    questions: given,
    events: [
      ...given.map((question, index) => questionEvent("given", owed[index], question, at, { witness })),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    dropped: given.map(clockKey),
  };
}

/** Gives up bringing an outcome to an agent that will never take it. */
export function voidHandover<Q extends Question>(question: Q, reason: string): Q {
  return mapHandovers(question, (handover) => (isOpen(handover) ? { state: "void", reason } : handover));
}

/** Refuses an agent that was started before the one that has the run now. */
export function requireEpoch(run: Run, epoch: number): void {
  if (epoch === run.epoch) return;
  throw new Refusal(
    "stale_epoch",
    `Run #${run.number} was taken over: epoch ${epoch} is over, it is at ${run.epoch}; nothing was changed`,
  );
}

/** Puts a parked run on its way back to its agent. */
export function resume(run: Run, question: Pick<Question, "id"> | undefined, at: At): { run: Run; scheduled: Job[] } {
  // A run whose agent ended before it was told anything was not parked this time.
  const parkedAt = isSuspended(run) ? run.parkedAt : undefined;
  const next: Run = { ...run, status: "resuming", reason: undefined, whenParked: undefined, parkedAt };
  if (run.giveBack !== "worker") return { run: next, scheduled: [] };
  return { run: next, scheduled: [{ ...startJob(run, at.now), questionId: question?.id }] };
}

/** Has a worker on the host of the run start its agent. */
export function startJob(run: Run, dueAt: Instant): Job {
  const { id, host, agent } = run;
  return { key: jobKey("resume", id), kind: "resume", dueAt, runId: id, host, agent, tries: 0 };
}

/** What becomes of a run once its agent has been shown everything. */
export function afterGiven(run: Run, at: At): Run {
  if (hasEnded(run)) return run;
  if (run.implicit && run.pendingId === undefined) return { ...run, status: "completed", endedAt: at.now };
  return run.status === "resuming" ? { ...run, status: "running" } : run;
}

/** Everything open about a question, marked as shown. */
export function giveAll<Q extends Question>(question: Q, at: At, witness: string): Q {
  return mapHandovers(question, (handover) => (isOpen(handover) ? { state: "given", at: at.now, witness } : handover));
}

function isOpen(handover: Handover): boolean {
  return handover.state === "owed" || handover.state === "handing";
}

/** The question with each of its hand-overs changed: of its outcome, of a forced answer, of amendments. */
function mapHandovers<Q extends Question>(question: Q, change: (handover: Handover) => Handover): Q {
  const amendments = question.amendments.map((amendment) => ({ ...amendment, handover: change(amendment.handover) }));
  if (question.status === "pending") return { ...question, amendments };
  const outcome = { ...question, amendments, handover: change(question.handover) };
  if (outcome.status !== "timeout" || !outcome.forced) return outcome;
  return { ...outcome, forced: { ...outcome.forced, handover: change(outcome.forced.handover) } };
}
