import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { timerJob, timerKey } from "./question-timer.ts";
import { hashText } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { afterGiven, giveAll, resume, voidLateCorrections } from "../run/handover.ts";
import { later } from "../instant.ts";
import { type Job, questionJob } from "../run/job.ts";
import {
  NOT_OPEN,
  type Answer,
  type ClosedQuestion,
  type PendingQuestion,
  isHandingOver,
  owesOutcome,
} from "./question.ts";
import { HANDOVER_GRACE_MS } from "../rules.ts";
import { type Run, hasEnded, isAgentAlive } from "../run/run.ts";

/** The changes that close a question. */
type ClosingChanges = Required<Pick<Changes, "runs" | "questions" | "events" | "scheduled" | "dropped">>;

/**
 * Closes a question and decides who hands the outcome over: the caller that holds, a worker that resumes the agent, a
 * callback, or the agent when it polls.
 */
export function closeQuestion(
  read: QuestionSnapshot & { question: PendingQuestion },
  closed: ClosedQuestion,
  at: DecisionContext,
  options: { resume: boolean } = { resume: true },
): ClosingChanges {
  const { run, question } = read;
  const kept = options.resume ? closed : withResumeHeldBack(closed);
  const outcome = isSelfServed(run, question) ? giveAll(kept, at, "stored") : handedToCaller(kept, read, at);
  const owed = owesOutcome(outcome) ? [...run.owes, question.id] : run.owes;
  const late = voidLateCorrections({ ...read, run: { ...run, pendingId: undefined, owes: owed } }, at);
  const next = afterOutcome({ ...run, pendingId: undefined, owes: late.owes }, question, outcome, at, options);
  return {
    questions: [outcome, ...late.questions],
    runs: [next.run],
    events: [...late.events, ...(next.run.status === run.status ? [] : [runEvent(run, next.run, at)])],
    scheduled: next.scheduled,
    dropped: next.scheduled.some((job) => job.key === timerKey(question)) ? [] : [timerKey(question)],
  };
}

/** Closes the question with this answer and schedules its hand-over. */
export function closeWithAnswer(
  read: QuestionSnapshot & { question: PendingQuestion },
  given: Answer,
  at: DecisionContext,
  options: { resume: boolean },
): Changes {
  const run = given.outcome === "clarify" ? { ...read.run, clarifying: read.question.id } : read.run;
  const closed = closeQuestion(
    { ...read, run },
    { ...read.question, ...NOT_OPEN, status: "answered", answer: given, handover: { state: "owed" } },
    at,
    options,
  );
  const question = closed.questions[0] ?? read.question;
  const detail = {
    outcome: given.outcome,
    answer: hashText(JSON.stringify(given.items)),
    id: given.id,
    policy: given.policy,
    template: given.template,
    handing: isHandingOver(question, read.run.epoch) ? read.run.epoch : undefined,
  };
  return { ...closed, events: [questionEvent("answered", read.question, question, at, detail), ...closed.events] };
}

/** Marks an answer as stored without resuming the run; a waiting caller still gets it. */
function withResumeHeldBack(closed: ClosedQuestion): ClosedQuestion {
  return closed.handover.state === "owed" ? { ...closed, handover: { state: "owed", isHeldBack: true } } : closed;
}

/** An outcome that the committing process writes out itself starts as `handing`, which saves a commit. */
function handedToCaller(
  closed: ClosedQuestion,
  { run, question }: QuestionSnapshot & { question: PendingQuestion },
  at: DecisionContext,
): ClosedQuestion {
  if (!at.isTaken || !question.hold || !isAgentAlive(run) || closed.handover.state !== "owed") return closed;
  const { holder } = question.hold;
  const { isHeldBack } = closed.handover;
  return {
    ...closed,
    handover: { state: "handing", epoch: run.epoch, at: at.now, by: "call", holder, isHeldBack },
  };
}

/** A shell script that does not wait has no agent to hand over to: it reads the answer itself. */
function isSelfServed(run: Run, question: PendingQuestion) {
  return run.implicit && run.giveBack === "poll" && question.via === "cli" && question.hold === undefined;
}

function afterOutcome(
  run: Run,
  before: PendingQuestion,
  outcome: ClosedQuestion,
  at: DecisionContext,
  options: { resume: boolean },
): { run: Run; scheduled: Job[] } {
  if (run.giveBack === "callback") {
    const parked = hasEnded(run) || isAgentAlive(run) ? run : { ...run, status: "resuming" as const };
    return { run: parked, scheduled: [questionJob("callback", outcome, at.now)] };
  }
  if (run.owes.length === 0) return { run: hasEnded(run) ? run : afterGiven(run, at), scheduled: [] };
  if (hasEnded(run)) return { run, scheduled: [] };
  if (isAgentAlive(run))
    return { run, scheduled: before.hold ? [timerJob("watch", outcome, later(at.now, HANDOVER_GRACE_MS))] : [] };
  if (!options.resume) return { run, scheduled: [] };
  return resume(run, outcome, at);
}
