import type { At, Changes, Read } from "../changes.ts";
import { clockJob, clockKey } from "./question-timer.ts";
import { hashText } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { afterGiven, giveAll, resume, voidLate } from "../run/handover.ts";
import { later } from "../instant.ts";
import { type Job, questionJob } from "../run/job.ts";
import { NOT_OPEN, type Answer, type Closed, type Pending, isHanding, owes } from "./question.ts";
import { HANDOVER_GRACE_MS } from "../rules.ts";
import { type Run, hasEnded, isAlive } from "../run/run.ts";

/** What an outcome changes beyond the question itself. */
type Settled = Required<Pick<Changes, "runs" | "questions" | "events" | "scheduled" | "dropped">>;

/**
 * Closes a question and settles who brings the outcome to its agent: the caller that holds,
 * a worker that starts the agent again, a callback, or the agent itself when it asks.
 */
export function close(
  read: Read & { question: Pending },
  closed: Closed,
  at: At,
  options: { resume: boolean } = { resume: true },
): Settled {
  const { run, question } = read;
  const kept = options.resume ? closed : heldBack(closed);
  const outcome = isSelfServed(run, question) ? giveAll(kept, at, "stored") : handedOver(kept, read, at);
  const owed = owes(outcome) ? [...run.owes, question.id] : run.owes;
  const late = voidLate({ ...read, run: { ...run, pendingId: undefined, owes: owed } }, at);
  const next = afterOutcome({ ...run, pendingId: undefined, owes: late.owes }, question, outcome, at, options);
  return {
    questions: [outcome, ...late.questions],
    runs: [next.run],
    events: [...late.events, ...(next.run.status === run.status ? [] : [runEvent(run, next.run, at)])],
    scheduled: next.scheduled,
    dropped: next.scheduled.some((job) => job.key === clockKey(question)) ? [] : [clockKey(question)],
  };
}

/** Closes the question with this answer and brings it on its way to the agent. */
export function closeWith(
  read: Read & { question: Pending },
  given: Answer,
  at: At,
  options: { resume: boolean },
): Changes {
  const run = given.outcome === "clarify" ? { ...read.run, clarifying: read.question.id } : read.run;
  const closed = close(
    { ...read, run },
    { ...read.question, ...NOT_OPEN, status: "answered", answer: given, handover: { state: "owed" } },
    at,
    options,
  );
  const question = closed.questions[0] ?? read.question;
  const detail = {
    ...{ outcome: given.outcome, answer: hashText(JSON.stringify(given.items)), id: given.id },
    ...(given.policy !== undefined && { policy: given.policy }),
    ...(given.template !== undefined && { template: given.template }),
    ...(isHanding(question, read.run.epoch) && { handing: read.run.epoch }),
  };
  return { ...closed, events: [questionEvent("answered", read.question, question, at, detail), ...closed.events] };
}

/** An answer that is stored without resuming the run; a caller that waits for it gets it all the same. */
function heldBack(closed: Closed): Closed {
  return closed.handover.state === "owed" ? { ...closed, handover: { state: "owed", isHeldBack: true } } : closed;
}

/** An outcome that the one who commits it writes out itself is born on its way: that spares a commit of its own. */
function handedOver(closed: Closed, { run, question }: Read & { question: Pending }, at: At): Closed {
  if (!at.isTaken || !question.hold || !isAlive(run) || closed.handover.state !== "owed") return closed;
  const { holder } = question.hold;
  const { isHeldBack } = closed.handover;
  const handing = { state: "handing", epoch: run.epoch, at: at.now, by: "call" } as const;
  const more = { ...(holder !== undefined && { holder }), ...(isHeldBack && { isHeldBack }) };
  return { ...closed, handover: { ...handing, ...more } };
}

/** An ask of a shell script has no agent to bring anything to: whoever wants the answer reads it. */
function isSelfServed(run: Run, question: Pending): boolean {
  return run.implicit && run.giveBack === "poll" && question.via === "cli" && question.hold === undefined;
}

function afterOutcome(
  run: Run,
  before: Pending,
  outcome: Closed,
  at: At,
  options: { resume: boolean },
): { run: Run; scheduled: Job[] } {
  if (run.giveBack === "callback") {
    const parked = hasEnded(run) || isAlive(run) ? run : { ...run, status: "resuming" as const };
    return { run: parked, scheduled: [questionJob("callback", outcome, at.now)] };
  }
  if (run.owes.length === 0) return { run: hasEnded(run) ? run : afterGiven(run, at), scheduled: [] };
  if (hasEnded(run)) return { run, scheduled: [] };
  if (isAlive(run))
    return { run, scheduled: before.hold ? [clockJob("watch", outcome, later(at.now, HANDOVER_GRACE_MS))] : [] };
  if (!options.resume) return { run, scheduled: [] };
  return resume(run, outcome, at);
}
