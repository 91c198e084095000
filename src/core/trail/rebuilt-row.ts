import type { DecisionContext, Changes } from "../changes.ts";
import { closeQuestion } from "../question/close.ts";
import type { Content } from "../question/content.ts";
import { titleOf } from "../question/content.ts";
import { QuestionId, RunId } from "../id.ts";
import type { Instant } from "../instant.ts";
import type { DeliveryRef } from "../channel/delivery-ref.ts";
import { timerKey } from "../question/question-timer.ts";
import { Job, JobKind } from "../run/job.ts";
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
 * continued: one that waits for a question stays until that is closed, any other that has not ended has failed.
 */
export function rebuildDamagedRun(
  { columns, number, questions, first }: RebuiltFrom,
  at: Pick<DecisionContext, "now" | "by">,
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
    parentId: columns["parentId"] === null ? undefined : RunId.safeParse(columns["parentId"]).data,
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
  const after: Run = hasEnded(before)
    ? before
    : pending
      ? { ...before, status: "awaiting_input", parkedAt: at.now }
      : { ...before, status: "failed", endedAt: at.now };
  return { runs: [after], events: [runEvent(before, after, at, { reason: ROW_DAMAGED })] };
}

interface RebuiltFrom {
  columns: KeptColumns;
  number: number;
  questions: readonly Question[];
  /** Its first event, if that can be read. */
  first: Event | undefined;
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
