import { SYSTEM } from "../people/actor.ts";
import { requireAccess } from "../people/access.ts";
import { plainAnswerInput } from "../answer/answer-input.ts";
import type { DecisionContext, Changes, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { isReminderUnwanted, remindAt, setTimer } from "./question-timer.ts";
import { requirePending } from "./require-pending.ts";
import { changeQuestion, questionEvent, runEvent, statusEvents } from "../trail/event.ts";
import { closeQuestion } from "./close.ts";
import { voidHandover, voidOthers } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { later } from "../instant.ts";
import { stopJob } from "../run/run-lifecycle.ts";
import { matchAnswer } from "../answer/match.ts";
import { NOT_OPEN, type Answer, type EscalationStep, type PendingQuestion, type Question } from "./question.ts";
import { type TimeoutPolicy } from "./timeout-policy.ts";
import { Refusal } from "../refusal.ts";
import { type Run, isAgentAlive, isForeignSession } from "../run/run.ts";
import { unreachable } from "../unreachable.ts";

/** Applies the timeout policy of a due question. Does nothing if it is closed, extended or settling. */
export function expire(read: QuestionSnapshot, at: DecisionContext): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  if (question.settling || question.dueAt === undefined || question.dueAt > at.now) return setTimer(question, at.rules);
  return applyPolicy({ ...read, question }, currentPolicy(question), {
    ...at,
    by: { ...SYSTEM, id: `policy:${question.onTimeout.do}` },
  });
}

/** Escalates a question to its next step before the deadline. */
export function escalate(read: QuestionSnapshot, at: DecisionContext): Changes {
  requireAccess("escalate", at.by, read.question);
  const question = requirePending(read, at);
  const step = question.onTimeout.steps?.[question.escalated];
  if (!step) {
    throw new Refusal("bad_input", "There is no further escalation step", {
      hint: `Name somebody yourself: askd assign ${shortId(question.id)} <person>`,
      fact: { is: "nobody_further" },
    });
  }
  return escalateTo({ ...read, question }, step, at);
}

/** Extends the deadline. */
export function extend(read: QuestionSnapshot, byMs: number, at: DecisionContext): Changes {
  requireAccess("extend", at.by, read.question);
  const question = requirePending(read, at);
  if (question.dueAt === undefined)
    throw new Refusal("bad_input", "This question has no deadline; there is nothing to extend", {
      fact: { is: "no_deadline" },
    });
  if (byMs <= 0) {
    throw new Refusal("bad_input", "Extend by a positive time, like 1h", { fact: { is: "extend_nothing" } });
  }
  const extended: PendingQuestion = { ...question, dueAt: later(question.dueAt, byMs) };
  return {
    ...changeQuestion(read, extended, "extended", at, { due_at: extended.dueAt }),
    ...setTimer(extended, at.rules),
  };
}

/** Sends one reminder, unless the question is claimed or snoozed. */
export function remind(read: QuestionSnapshot, at: DecisionContext): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  const due = remindAt(question, at.rules);
  if (due === undefined || due > at.now) return setTimer(question, at.rules);
  const isTold = !isReminderUnwanted(question, at.now) && (question.deliveries ?? []).length > 0;
  const reminded: PendingQuestion = {
    ...question,
    reminders: question.reminders + 1,
    nudges: isTold ? (question.nudges ?? 0) + 1 : question.nudges,
  };
  return { ...changeQuestion(read, reminded, "reminded", at, { told: isTold }), ...setTimer(reminded, at.rules) };
}

/** Describes what happens at the deadline: `uses "Redis"`, `skips`. */
export function describePolicy(question: PolicyFields, defaultLabel?: string): string {
  const words: Record<TimeoutPolicy, string> = {
    wait: "keeps waiting",
    proceed: "goes on by its own judgment",
    skip: "skips",
    default: `uses "${defaultLabel ?? question.onTimeout.answer ?? ""}"`,
    escalate: "escalates",
    fail: "fails",
    defer: "is set aside",
  };
  return words[nextPolicy(question)];
}

type PolicyFields = Pick<Question, "onTimeout" | "escalated">;

/** The policy that the next deadline applies. */
export function nextPolicy({ onTimeout, escalated }: PolicyFields): TimeoutPolicy {
  const isLast = onTimeout.do === "escalate" && onTimeout.steps?.[escalated] === undefined;
  return isLast ? (onTimeout.then ?? "fail") : onTimeout.do;
}

function currentPolicy(question: PendingQuestion): Exclude<TimeoutPolicy, "escalate"> | EscalationStep {
  if (question.onTimeout.do !== "escalate") return question.onTimeout.do;
  return question.onTimeout.steps?.[question.escalated] ?? question.onTimeout.then ?? "fail";
}

function applyPolicy(
  read: PendingSnapshot,
  policy: Exclude<TimeoutPolicy, "escalate"> | EscalationStep,
  at: DecisionContext,
): Changes {
  if (typeof policy === "object") return escalateTo(read, policy, at);
  switch (policy) {
    case "wait":
      return clearDeadline(read, policy, at);
    case "defer":
      return defer(read, at);
    case "proceed":
      return timeOut(read, policy, undefined, at);
    case "default":
      return timeOut(read, policy, policyAnswer(read, at), at);
    case "skip":
    case "fail":
      // A workflow does what its definition says about this, and ends by itself.
      return read.run.workflow ? timeOut(read, policy, undefined, at) : endRunByPolicy(read, policy, at);
    default:
      return unreachable(policy);
  }
}

function escalateTo(read: PendingSnapshot, step: EscalationStep, at: DecisionContext): Changes {
  const { question } = read;
  const escalated: PendingQuestion = {
    ...question,
    escalated: question.escalated + 1,
    escalatedAt: at.now,
    reminders: 0,
    to: step.to.length > 0 ? step.to : question.to,
    notify: step.channels.length > 0 ? step.channels.map((channel) => ({ channel })) : question.notify,
    claim: undefined,
    snoozedUntil: undefined,
    dueAt: later(at.now, step.afterMs),
  };
  return {
    ...changeQuestion(read, escalated, "escalated", at, { step: escalated.escalated, to: escalated.to }),
    ...setTimer(escalated, at.rules),
  };
}

function clearDeadline(read: PendingSnapshot, policy: TimeoutPolicy, at: DecisionContext): Changes {
  const waiting: PendingQuestion = { ...read.question, dueAt: undefined };
  return { ...changeQuestion(read, waiting, "extended", at, { policy }), ...setTimer(waiting, at.rules) };
}

/** Defers the run until somebody answers; the question stays open. */
function defer({ run, question }: PendingSnapshot, at: DecisionContext): Changes {
  const waiting: PendingQuestion = { ...question, dueAt: undefined, hold: undefined };
  const clock = setTimer(waiting, at.rules);
  const next: Run =
    isAgentAlive(run) && !run.implicit
      ? { ...run, whenParked: "deferred" }
      : { ...run, status: "deferred", parkedAt: isAgentAlive(run) ? at.now : run.parkedAt };
  return {
    runs: [next],
    questions: [waiting],
    events: [questionEvent("parked", question, waiting, at, { policy: "defer" }), ...statusEvents(run, next, at)],
    ...clock,
    scheduled: [...clock.scheduled, ...stopJob(next, at)],
  };
}

/** Closes the question and continues the run with the policy's outcome. */
export function timeOut(
  read: PendingSnapshot,
  policy: TimeoutPolicy,
  answer: Answer | undefined,
  at: DecisionContext,
): Changes {
  return closeQuestion(read, timedOut(read.question, policy, answer, at), () => ({ policy }), at);
}

/**
 * Closes the question and its run; a live agent is stopped. A session that askd did not start continues after a skipped
 * question.
 */
function endRunByPolicy(read: PendingSnapshot, policy: "skip" | "fail", at: DecisionContext): Changes {
  const { run, question } = read;
  const wasAlive = isAgentAlive(run) && !run.implicit;
  const others = voidOthers(read, "input_timeout", at);
  const ended: Run = {
    ...run,
    ...endOf(run, policy),
    endedAt: at.now,
    owes: others.owes,
    epoch: wasAlive ? run.epoch + 1 : run.epoch,
  };
  const outcome = timedOut(question, policy, undefined, at);
  // Only a callback still has to be called; the agent does not continue.
  const closed = closeQuestion(
    { ...read, run: ended },
    run.giveBack === "callback" ? outcome : voidHandover(outcome, "input_timeout"),
    () => ({ policy }),
    at,
  );
  return {
    ...closed,
    questions: [...closed.questions, ...others.questions],
    events: [...closed.events, ...others.events, runEvent(run, ended, at)],
    scheduled: [...closed.scheduled, ...(wasAlive ? stopJob(run, at) : [])],
  };
}

function endOf(run: Run, policy: "skip" | "fail"): Pick<Run, "status" | "reason"> {
  if (policy === "fail") return { status: "failed", reason: "input_timeout" };
  if (isForeignSession(run)) return { status: "completed", reason: undefined };
  return { status: "skipped", reason: "input_timeout" };
}

/** The people of a question after its deadline: whom the ask declares for that. */
function assigneesOf({ onTimeout, to }: PendingQuestion): string[] {
  return onTimeout.do === "escalate" || onTimeout.assignTo === undefined ? to : [onTimeout.assignTo];
}

function timedOut(
  question: PendingQuestion,
  policy: TimeoutPolicy,
  answer: Answer | undefined,
  at: DecisionContext,
): Extract<Question, { status: "timeout" }> {
  return {
    ...question,
    ...NOT_OPEN,
    status: "timeout",
    to: assigneesOf(question),
    timedOutAt: at.now,
    policy,
    answer,
    handover: { state: "owed" },
  };
}

function policyAnswer({ question, content }: PendingSnapshot, at: DecisionContext): Answer {
  const items = matchAnswer(content, plainAnswerInput(question.onTimeout.answer ?? ""), at.rules.limits);
  return { id: at.ids.outcome(), outcome: "answer", items, by: at.by, at: at.now, policy: "default" };
}
