import type { Changes } from "../changes.ts";
import { type Instant, MINUTE_MS, later, msBetween } from "../instant.ts";
import type { Job, JobKind } from "../run/job.ts";
import type { PendingQuestion, Question } from "./question.ts";
import { HANDOVER_GRACE_MS, type Rules } from "../rules.ts";

const SHORTEST_REMINDED_MS = 10 * MINUTE_MS;

/** The key of a question's timer: it has one timer job at a time, for whatever is due next. */
export function timerKey(question: Pick<Question, "id">): string {
  return `clock:${question.id}`;
}

/** Says whether a job is the timer of a question. */
export function isTimer(job: Pick<Job, "key">): boolean {
  return job.key.startsWith("clock:");
}

export function timerJob(kind: JobKind, question: Pick<Question, "id" | "runId">, dueAt: Instant): Job {
  return { key: timerKey(question), kind, dueAt, runId: question.runId, questionId: question.id, tries: 0 };
}

/**
 * Sets the timer of a question to what is due next: the end of the undo window, the hold check, a reminder or the
 * deadline.
 */
export function setTimer(question: PendingQuestion, rules: Rules): Required<Pick<Changes, "scheduled" | "dropped">> {
  const next = nextTimer(question, rules);
  return next
    ? { scheduled: [timerJob(next.kind, question, next.dueAt)], dropped: [] }
    : { scheduled: [], dropped: [timerKey(question)] };
}

/** When the next reminder is due. */
export function remindAt(question: PendingQuestion, rules: Rules): Instant | undefined {
  const part = rules.remindAt[question.reminders];
  if (part === undefined || question.dueAt === undefined) return undefined;
  const from = question.escalatedAt ?? question.askedAt;
  const wholeMs = msBetween(from, question.dueAt);
  return wholeMs < SHORTEST_REMINDED_MS ? undefined : later(from, Math.floor(wholeMs * part));
}

/** Says whether nobody wants to be reminded: the question is claimed, snoozed, or has an answer that settles. */
export function isReminderUnwanted(question: PendingQuestion, now: Instant): boolean {
  const { claim, settling, snoozedUntil } = question;
  return claim !== undefined || settling !== undefined || (snoozedUntil !== undefined && snoozedUntil > now);
}

/** When the hold is checked for a vanished caller. */
export function holdCheckAt(question: PendingQuestion): Instant | undefined {
  return question.hold && later(question.hold.until, HANDOVER_GRACE_MS);
}

function nextTimer(question: PendingQuestion, rules: Rules): { kind: JobKind; dueAt: Instant } | undefined {
  // A reply in its undo window came in time: nothing else is due before it settles.
  if (question.settling) return { kind: "settle", dueAt: question.settling.until };
  const ticks: Array<{ kind: JobKind; dueAt: Instant | undefined }> = [
    { kind: "watch", dueAt: holdCheckAt(question) },
    { kind: "remind", dueAt: remindAt(question, rules) },
    { kind: "expire", dueAt: question.dueAt },
  ];
  let next: { kind: JobKind; dueAt: Instant } | undefined;
  for (const { kind, dueAt } of ticks) {
    if (dueAt !== undefined && (next === undefined || dueAt < next.dueAt)) next = { kind, dueAt };
  }
  return next;
}
