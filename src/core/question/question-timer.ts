import type { Changes } from "../changes.ts";
import { type Instant, MINUTE_MS, later, msBetween } from "../instant.ts";
import type { Job, JobKind } from "../run/job.ts";
import type { Pending, Question } from "./question.ts";
import { HANDOVER_GRACE_MS, type Rules } from "../rules.ts";

const SHORTEST_REMINDED_MS = 10 * MINUTE_MS;

/** A question has one job at a time: the next thing that time does to it. */
export function clockKey(question: Pick<Question, "id">): string {
  return `clock:${question.id}`;
}

/** Is it what time does to a question, and not work that takes time itself? */
export function isClock(job: Pick<Job, "key">): boolean {
  return job.key.startsWith("clock:");
}

export function clockJob(kind: JobKind, question: Pick<Question, "id" | "runId">, dueAt: Instant): Job {
  return { key: clockKey(question), kind, dueAt, runId: question.runId, questionId: question.id, tries: 0 };
}

/** Sets the clock of a question to what comes next: its reply settles, its caller is looked after, a reminder, its deadline. */
export function setClock(question: Pending, rules: Rules): Required<Pick<Changes, "scheduled" | "dropped">> {
  const next = nextTick(question, rules);
  return next
    ? { scheduled: [clockJob(next.kind, question, next.dueAt)], dropped: [] }
    : { scheduled: [], dropped: [clockKey(question)] };
}

/** When people are to be reminded next. */
export function remindAt(question: Pending, rules: Rules): Instant | undefined {
  const part = rules.remindAt[question.reminders];
  if (part === undefined || question.dueAt === undefined) return undefined;
  const wholeMs = msBetween(question.askedAt, question.dueAt);
  return wholeMs < SHORTEST_REMINDED_MS ? undefined : later(question.askedAt, Math.floor(wholeMs * part));
}

/** When somebody looks whether the caller that holds is still there. */
export function lapseAt(question: Pending): Instant | undefined {
  return question.hold && later(question.hold.until, HANDOVER_GRACE_MS);
}

function nextTick(question: Pending, rules: Rules): { kind: JobKind; dueAt: Instant } | undefined {
  // A reply that can still be taken back counts as one that came in time: nothing else happens before it settles.
  if (question.settling) return { kind: "settle", dueAt: question.settling.until };
  const ticks: Array<{ kind: JobKind; dueAt: Instant | undefined }> = [
    { kind: "watch", dueAt: lapseAt(question) },
    { kind: "remind", dueAt: remindAt(question, rules) },
    { kind: "expire", dueAt: question.dueAt },
  ];
  let next: { kind: JobKind; dueAt: Instant } | undefined;
  for (const { kind, dueAt } of ticks) {
    if (dueAt !== undefined && (next === undefined || dueAt < next.dueAt)) next = { kind, dueAt };
  }
  return next;
}
