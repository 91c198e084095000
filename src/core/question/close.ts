import type { DecisionContext, Changes, PendingSnapshot } from "../changes.ts";
import { timerJob, timerKey } from "./question-timer.ts";
import { hashText } from "./content.ts";
import { type EventDetail, questionEvent, statusEvents } from "../trail/event.ts";
import { afterGiven, giveAll, resume, voidLateCorrections } from "../run/handover.ts";
import { later } from "../instant.ts";
import { type Job, questionJob } from "../run/job.ts";
import {
  NOT_OPEN,
  type Answer,
  type ClosedQuestion,
  type PendingQuestion,
  type Question,
  isHandingOver,
  isPending,
  owesOutcome,
} from "./question.ts";
import { HANDOVER_GRACE_MS } from "../rules.ts";
import { findChangedCommand } from "./approval.ts";
import { withPermission } from "./run-permission.ts";
import { type Run, hasEnded, isAgentAlive } from "../run/run.ts";

/** The changes that close a question: the closed one comes first. */
export interface ClosingChanges extends Required<Pick<Changes, "events" | "scheduled" | "dropped">> {
  runs: [Run];
  questions: [ClosedQuestion, ...Question[]];
}

const CLOSING_EVENTS = { answered: "answered", timeout: "timed_out", cancelled: "cancelled" } as const;

/**
 * Closes a question and decides who hands the outcome over: the caller that holds, a worker that resumes the agent, a
 * callback, or the agent when it polls.
 */
export function closeQuestion(
  read: PendingSnapshot,
  closed: ClosedQuestion,
  detailOf: (outcome: ClosedQuestion) => EventDetail,
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
    events: [
      questionEvent(CLOSING_EVENTS[closed.status], question, outcome, at, detailOf(outcome)),
      ...late.events,
      ...statusEvents(run, next.run, at),
    ],
    scheduled: next.scheduled,
    dropped: next.scheduled.some((job) => job.key === timerKey(question)) ? [] : [timerKey(question)],
  };
}

/** Closes the question with this answer and schedules its hand-over. */
export function closeWithAnswer(
  read: PendingSnapshot,
  given: Answer,
  at: DecisionContext,
  options: { resume: boolean },
): Changes {
  const { epoch } = read.run;
  const clarifying = given.outcome === "clarify" ? read.question.id : read.run.clarifying;
  const permissions = withPermission(read.run.permissions, read.question, given);
  const run = { ...read.run, clarifying, permissions };
  const detailOf = (outcome: ClosedQuestion) => ({
    outcome: given.outcome,
    answer: hashText(JSON.stringify(given.items)),
    id: given.id,
    policy: given.policy,
    permits: permissions?.findLast(({ answerId }) => answerId === given.id)?.scope,
    changed: findChangedCommand(given) === undefined ? undefined : true,
    template: given.template,
    handing: isHandingOver(outcome, epoch) ? epoch : undefined,
  });
  return closeQuestion({ ...read, run }, answeredQuestion(read.question, given), detailOf, at, options);
}

/** The question, answered. */
export function answeredQuestion(question: PendingQuestion, answer: Answer): ClosedQuestion {
  return { ...question, ...NOT_OPEN, status: "answered", answer, handover: { state: "owed" } };
}

/** Marks an answer as stored without resuming the run; a waiting caller still gets it. */
function withResumeHeldBack(closed: ClosedQuestion): ClosedQuestion {
  return closed.handover.state === "owed" ? { ...closed, handover: { state: "owed", isHeldBack: true } } : closed;
}

/** An outcome that the committing process writes out itself starts as `handing`, which saves a commit. */
function handedToCaller(
  closed: ClosedQuestion,
  { run, question }: PendingSnapshot,
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
export function isSelfServed(run: Run, question: Question): boolean {
  const isHeld = isPending(question) && question.hold !== undefined;
  return run.implicit && run.giveBack === "poll" && question.via === "cli" && !isHeld;
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
