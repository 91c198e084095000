import type { DecisionContext, Changes } from "../changes.ts";
import { closeQuestion } from "../question/close.ts";
import type { Content } from "../question/content.ts";
import { titleOf } from "../question/content.ts";
import { QuestionId, RunId } from "../id.ts";
import type { Instant } from "../instant.ts";
import type { DeliveryRef } from "../channel/delivery/delivery-ref.ts";
import { timerKey } from "../question/question-timer.ts";
import { Job, JobKind, stepJob } from "../run/job.ts";
import { voidHandover } from "../run/handover.ts";
import { type RunSnapshot, cancelledQuestion } from "../run/run-lifecycle.ts";
import { type PendingQuestion, type Question, isPending, owesOutcome } from "../question/question.ts";
import { NOT_OPEN } from "../question/question.ts";
import { type Run, RunStatus, hasEnded } from "../run/run.ts";
import { type Event, questionEvent, runEvent } from "./event.ts";

/** The reason of everything that is closed because its row was damaged. */
export const ROW_DAMAGED = "row_damaged";
const NOTE = "This question was damaged in the store and can no longer be answered. Ask again if you still need it.";

/** The columns beside the text of a row, which survive when the text is damaged. */
export type KeptColumns = Readonly<Record<string, string | number | null>>;

interface DamagedQuestion {
  columns: KeptColumns;
  run: Run;
  /** Its asked event, if that can be read. */
  asked: Event | undefined;
  /** The name of its text in the store. */
  contentName: string;
  content: Content;
  /** The messages about it. */
  deliveries: readonly DeliveryRef[];
}

/**
 * Closes a question whose text is damaged: a row with what its columns and its trail say takes its place. A run that
 * waits for it goes on and is told to ask again.
 */
export function closeDamagedQuestion(damaged: DamagedQuestion, at: DecisionContext): Changes {
  const { columns, run, content } = damaged;
  const question = rebuildQuestion(damaged, at.now);
  const closed = {
    ...question,
    ...NOT_OPEN,
    status: "cancelled",
    cancelledAt: at.now,
    cancelledBy: at.by,
    reason: ROW_DAMAGED,
    note: NOTE,
  } as const;
  if (columns["status"] === "pending" && !hasEnded(run)) {
    const owed = { ...closed, handover: { state: "owed" } } as const;
    return closeQuestion({ run, question, content }, owed, () => ({ reason: ROW_DAMAGED }), at);
  }
  const isOwed = run.owes.includes(question.id);
  const after: Question = {
    ...closed,
    handover: isOwed ? { state: "owed" } : { state: "void", reason: ROW_DAMAGED },
  };
  return {
    runs: [{ ...run, pendingId: run.pendingId === question.id ? undefined : run.pendingId }],
    questions: [after],
    dropped: [timerKey(question)],
    events: [questionEvent("cancelled", undefined, after, at, { reason: ROW_DAMAGED })],
  };
}

function rebuildQuestion(
  { columns, asked, contentName, content, deliveries }: DamagedQuestion,
  now: Instant,
): PendingQuestion {
  return {
    status: "pending",
    id: QuestionId.parse(columns["id"]),
    version: Number(columns["version"]),
    runId: RunId.parse(columns["runId"]),
    key: String(columns["key"]),
    content: contentName,
    title: titleOf(content),
    kind: "question",
    risk: "medium",
    askedAt: asked?.at ?? now,
    askedBy: asked?.by ?? { scope: "system", id: "askd", channel: "policy", strength: "none" },
    via: "cli",
    onTimeout: { do: "fail" },
    escalated: 0,
    accepts: ["answer"],
    notify: [],
    deliveries: deliveries.length > 0 ? [...deliveries] : undefined,
    to: [],
    approvals: { need: 1, from: [], veto: false },
    votes: [],
    comments: [],
    reminders: 0,
    amendments: [],
  };
}

/**
 * Replaces a run whose text is damaged by what its columns, its trail and its questions say. Its agent cannot be
 * continued: one that waits for a question stays until that is closed, any other that has not ended has failed. A
 * workflow, and a run that a workflow waits for, fails at once: nothing else would wake what waits for it.
 */
export function rebuildDamagedRun(
  { columns, number, questions, first, waitedForBy, hasSteps }: RebuiltFrom,
  at: DecisionContext,
): Changes {
  const pending = questions.find(isPending);
  const status = RunStatus.safeParse(columns["status"]).data ?? "failed";
  const before: Run = {
    id: RunId.parse(columns["id"]),
    version: Number(columns["version"]),
    number,
    name: String(columns["name"]),
    externalId: optional(columns["externalId"]),
    status,
    reason: ROW_DAMAGED,
    agent: String(columns["agent"]),
    host: String(columns["host"]),
    session: optional(columns["session"]),
    labels: [],
    priority: 2,
    parentId: columns["parentId"] === null ? waitedForBy : RunId.safeParse(columns["parentId"]).data,
    waitedForBy: waitedForBy && { runId: waitedForBy },
    giveBack: "poll",
    implicit: false,
    epoch: 1,
    starts: 0,
    isContinued: false,
    pendingId: pending?.id,
    lastQuestionId: questions.at(-1)?.id,
    owes: questions.filter(owesOutcome).map(({ id }) => id),
    asked: questions.length,
    askedAt: [],
    createdAt: first?.at ?? at.now,
    endedAt: (optional(columns["endedAt"]) as Instant | undefined) ?? undefined, // the column is written from it
  };
  if (!hasEnded(before) && (hasSteps || waitedForBy !== undefined)) {
    const failed = failDamagedRun({ run: before, open: questions.filter(owesOutcomeOrWaits) }, at);
    return before.host === "" ? failed : { ...failed, scheduled: [stepJob(before, at.now)] };
  }
  const after: Run = hasEnded(before)
    ? before
    : pending
      ? { ...before, status: "awaiting_input", parkedAt: at.now }
      : { ...before, status: "failed", endedAt: at.now };
  return { runs: [after], events: [runEvent(before, after, at, { reason: ROW_DAMAGED })] };
}

function owesOutcomeOrWaits(question: Question): boolean {
  return isPending(question) || owesOutcome(question);
}

interface RebuiltFrom {
  columns: KeptColumns;
  number: number;
  questions: readonly Question[];
  /** Its first event, if that can be read. */
  first: Event | undefined;
  /** The workflow run whose checkpoint says that it waits for this one. */
  waitedForBy: RunId | undefined;
  /** It has a checkpoint: it does the steps of a workflow. */
  hasSteps: boolean;
}

/** Fails a run that cannot go on because a row of it is damaged; nobody can answer its question any more. */
export function failDamagedRun({ run, open }: Pick<RunSnapshot, "run" | "open">, at: DecisionContext): Changes {
  if (hasEnded(run)) return {};
  const failed: Run = {
    ...run,
    status: "failed",
    reason: ROW_DAMAGED,
    endedAt: at.now,
    pendingId: undefined,
    resumesAt: undefined,
    owes: [],
  };
  const pending = open.filter(isPending);
  const cancelled = pending.map((question) => cancelledQuestion(question, { reason: ROW_DAMAGED, note: NOTE }, at));
  const owed = open.filter((question) => !isPending(question));
  const voided = owed.map((question) => voidHandover(question, ROW_DAMAGED));
  const why = { reason: ROW_DAMAGED };
  return {
    runs: [failed],
    questions: [...cancelled, ...voided],
    events: [
      ...cancelled.map((question, index) => questionEvent("cancelled", pending[index], question, at, why)),
      ...voided.map((question, index) => questionEvent("delivery_failed", owed[index], question, at, why)),
      runEvent(run, failed, at),
    ],
    dropped: pending.map(timerKey),
  };
}

/** The job that the columns of a damaged one describe; undefined if it cannot be known. */
export function rebuildJob(
  columns: KeptColumns,
  owner: { runId: string; questionId: string | undefined },
): Job | undefined {
  const raw = {
    key: columns["key"],
    kind: JobKind.safeParse(columns["kind"]).data,
    dueAt: columns["dueAt"],
    runId: owner.runId,
    questionId: owner.questionId,
    host: columns["host"] ?? undefined,
    agent: columns["agent"] ?? undefined,
    tries: 0,
  };
  return Job.safeParse(raw).data;
}

function optional(value: string | number | null | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
