import { SYSTEM } from "../people/actor.ts";
import { requireMay } from "../people/access.ts";
import { defaultInput } from "../answer/answer-input.ts";
import type { At, Changes, Read } from "../changes.ts";
import { remindAt, setClock } from "./question-timer.ts";
import { requirePending } from "./require-pending.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { close } from "./close.ts";
import { voidHandover, voidOthers } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { later } from "../instant.ts";
import { stopJob } from "../run/run-lifecycle.ts";
import { matchAnswer } from "../answer/match.ts";
import { NOT_OPEN, type Answer, type EscalationStep, type Pending, type Question } from "./question.ts";
import { type TimeoutDo } from "./timeout-policy.ts";
import { Refusal } from "../refusal.ts";
import { type Run, isAlive, isForeignSession } from "../run/run.ts";
import { unreachable } from "../unreachable.ts";

/** Applies what the ask declared for silence. Nothing happens to a question that is closed, extended or settling. */
export function expire(read: Read, at: At): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  if (question.settling || question.dueAt === undefined || question.dueAt > at.now) return setClock(question, at.rules);
  return applyPolicy({ ...read, question }, policyNow(question), {
    ...at,
    by: { ...SYSTEM, id: `policy:${question.onTimeout.do}` },
  });
}

/** Moves a question to the next step of its chain before its time. */
export function escalate(read: Read, at: At): Changes {
  requireMay("escalate", at.by, read.question);
  const question = requirePending(read, at.now);
  const step = question.onTimeout.steps?.[question.escalated];
  if (!step) {
    throw new Refusal("bad_input", "There is nobody further to escalate to", {
      hint: `Name somebody yourself: askd assign ${shortId(question.id)} <person>`,
      fact: { is: "nobody_further" },
    });
  }
  return escalateTo(read.run, question, step, at);
}

/** Gives people more time; the clock never stops by itself. */
export function extend(read: Read, byMs: number, at: At): Changes {
  requireMay("extend", at.by, read.question);
  const question = requirePending(read, at.now);
  if (question.dueAt === undefined)
    throw new Refusal("bad_input", "This question has no deadline; there is nothing to extend", {
      fact: { is: "no_deadline" },
    });
  if (byMs <= 0) {
    throw new Refusal("bad_input", "Extend by a positive time, like 1h", { fact: { is: "extend_nothing" } });
  }
  const extended: Pending = { ...question, dueAt: later(question.dueAt, byMs) };
  return {
    runs: [read.run],
    questions: [extended],
    events: [questionEvent("extended", question, extended, at, { due_at: extended.dueAt })],
    ...setClock(extended, at.rules),
  };
}

/** Reminds people once, unless somebody has claimed it or does not want to hear of it now. */
export function remind(read: Read, at: At): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  const due = remindAt(question, at.rules);
  if (due === undefined || due > at.now) return setClock(question, at.rules);
  const isQuiet =
    question.claim !== undefined ||
    question.settling !== undefined ||
    (question.snoozedUntil !== undefined && question.snoozedUntil > at.now);
  const reminded: Pending = { ...question, reminders: question.reminders + 1 };
  return {
    runs: [read.run],
    questions: [reminded],
    events: [questionEvent("reminded", question, reminded, at, { told: !isQuiet })],
    ...setClock(reminded, at.rules),
  };
}

/** What happens at the deadline, in words: `uses "Redis"`, `skips`. */
export function sayPolicy(question: Pick<Question, "onTimeout" | "escalated">, defaultLabel?: string): string {
  const words: Record<TimeoutDo, string> = {
    wait: "keeps waiting",
    proceed: "goes on by its own judgment",
    skip: "skips",
    default: `uses "${defaultLabel ?? question.onTimeout.answer ?? ""}"`,
    escalate: "escalates",
    fail: "fails",
    defer: "is set aside",
  };
  const { onTimeout, escalated } = question;
  const isLast = onTimeout.do === "escalate" && onTimeout.steps?.[escalated] === undefined;
  return words[isLast ? (onTimeout.then ?? "fail") : onTimeout.do];
}

function policyNow(question: Pending): Exclude<TimeoutDo, "escalate"> | EscalationStep {
  if (question.onTimeout.do !== "escalate") return question.onTimeout.do;
  return question.onTimeout.steps?.[question.escalated] ?? question.onTimeout.then ?? "fail";
}

function applyPolicy(
  read: Read & { question: Pending },
  policy: Exclude<TimeoutDo, "escalate"> | EscalationStep,
  at: At,
): Changes {
  const { run, question } = read;
  if (typeof policy === "object") return escalateTo(run, question, policy, at);
  switch (policy) {
    case "wait":
      return withoutDeadline(run, question, policy, at);
    case "defer":
      return defer(run, question, at);
    case "proceed":
      return timeOut(read, policy, undefined, at);
    case "default":
      return timeOut(read, policy, policyAnswer(read, at), at);
    case "skip":
    case "fail":
      return endRun(read, policy, at);
    default:
      return unreachable(policy);
  }
}

function escalateTo(run: Run, question: Pending, step: EscalationStep, at: At): Changes {
  const escalated: Pending = {
    ...question,
    escalated: question.escalated + 1,
    to: step.to.length > 0 ? step.to : question.to,
    notify: step.channels.length > 0 ? step.channels.map((channel) => ({ channel })) : question.notify,
    claim: undefined,
    snoozedUntil: undefined,
    dueAt: later(at.now, step.afterMs),
  };
  return {
    runs: [run],
    questions: [escalated],
    events: [questionEvent("escalated", question, escalated, at, { step: escalated.escalated, to: escalated.to })],
    ...setClock(escalated, at.rules),
  };
}

function withoutDeadline(run: Run, question: Pending, policy: TimeoutDo, at: At): Changes {
  const waiting: Pending = { ...question, dueAt: undefined };
  return {
    runs: [run],
    questions: [waiting],
    events: [questionEvent("extended", question, waiting, at, { policy })],
    ...setClock(waiting, at.rules),
  };
}

/** Sets the run aside until somebody answers; the question stays open. */
function defer(run: Run, question: Pending, at: At): Changes {
  const waiting: Pending = { ...question, dueAt: undefined, hold: undefined };
  const clock = setClock(waiting, at.rules);
  const next: Run =
    isAlive(run) && !run.implicit
      ? { ...run, whenParked: "deferred" }
      : { ...run, status: "deferred", parkedAt: isAlive(run) ? at.now : run.parkedAt };
  return {
    runs: [next],
    questions: [waiting],
    events: [
      questionEvent("parked", question, waiting, at, { policy: "defer" }),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    ...clock,
    scheduled: [...clock.scheduled, ...stopJob(next, at)],
  };
}

/** Closes the question and lets the run go on with what the policy says. */
function timeOut(read: Read & { question: Pending }, policy: TimeoutDo, answer: Answer | undefined, at: At): Changes {
  const closed = close(read, timedOut(read.question, policy, answer, at), at);
  const question = closed.questions[0] ?? read.question;
  return { ...closed, events: [questionEvent("timed_out", read.question, question, at, { policy }), ...closed.events] };
}

/**
 * Closes the question and its run with it; an agent that still lives is stopped. A session that askd did not start goes
 * on after a question that is skipped.
 */
function endRun(read: Read & { question: Pending }, policy: "skip" | "fail", at: At): Changes {
  const { run, question } = read;
  const wasAlive = isAlive(run) && !run.implicit;
  const others = voidOthers(read, "input_timeout", at);
  const ended: Run = {
    ...run,
    ...endOf(run, policy),
    endedAt: at.now,
    owes: others.owes,
    ...(wasAlive && { epoch: run.epoch + 1 }),
  };
  const outcome = timedOut(question, policy, undefined, at);
  // Only a callback is left to be told; the agent itself goes no further.
  const closed = close(
    { ...read, run: ended },
    run.giveBack === "callback" ? outcome : voidHandover(outcome, "input_timeout"),
    at,
  );
  const last = closed.questions[0] ?? outcome;
  return {
    ...closed,
    questions: [...closed.questions, ...others.questions],
    events: [questionEvent("timed_out", question, last, at, { policy }), ...others.events, runEvent(run, ended, at)],
    scheduled: [...closed.scheduled, ...(wasAlive ? stopJob(run, at) : [])],
  };
}

function endOf(run: Run, policy: "skip" | "fail"): Pick<Run, "status" | "reason"> {
  if (policy === "fail") return { status: "failed", reason: "input_timeout" };
  if (isForeignSession(run)) return { status: "completed", reason: undefined };
  return { status: "skipped", reason: "input_timeout" };
}

function timedOut(
  question: Pending,
  policy: TimeoutDo,
  answer: Answer | undefined,
  at: At,
): Extract<Question, { status: "timeout" }> {
  return {
    ...question,
    ...NOT_OPEN,
    status: "timeout",
    timedOutAt: at.now,
    policy,
    ...(answer && { answer }),
    handover: { state: "owed" },
  };
}

function policyAnswer({ question, content }: Read & { question: Pending }, at: At): Answer {
  const items = matchAnswer(content, defaultInput(question.onTimeout.answer ?? ""), at.rules.limits);
  return { id: at.ids.outcome(), outcome: "answer", items, by: at.by, at: at.now, policy: "default" };
}
