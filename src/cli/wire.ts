import type { Read } from "../core/changes.ts";
import { shortId } from "../core/id.ts";
import { type Answer, type Question, isPending } from "../core/question.ts";
import type { Run } from "../core/run.ts";
import { viewCheck } from "./check-view.ts";

/** A run as `--json` shows it: all that people may see, and nothing that authorises. */
export function viewRun(run: Run): object {
  return {
    id: run.id,
    number: run.number,
    name: run.name,
    externalId: run.externalId ?? null,
    status: run.status,
    reason: run.reason ?? null,
    agent: run.agent,
    session: run.session ?? null,
    host: run.host,
    dir: run.dir ?? null,
    repo: run.repo ?? null,
    branch: run.branch ?? null,
    labels: run.labels,
    priority: run.priority,
    size: run.size ?? null,
    parentId: run.parentId ?? null,
    pendingQuestionId: run.pendingId ?? null,
    createdAt: run.createdAt,
    startedAt: run.startedAt ?? null,
    parkedAt: run.parkedAt ?? null,
    endedAt: run.endedAt ?? null,
    result: run.result ?? null,
  };
}

export const QUESTION_FIELDS = [
  "id",
  "short_id",
  "run_id",
  "run_number",
  "run_name",
  "external_id",
  "run_status",
  "status",
  "title",
  "items",
  "context",
  "kind",
  "risk",
  "confidence",
  "asked_at",
  "asked_by",
  "via",
  "due_at",
  "on_timeout",
  "held_until",
  "claimed_by",
  "snoozed_until",
  "amendments",
  "answer",
  "answers",
  "outcome",
  "note",
  "answered_by",
  "answered_at",
  "policy",
  "forced",
  "reason",
] as const;

/** A question as `--json` shows it, with the run it belongs to. */
export function viewQuestion(read: Read): object {
  const { run, question, content } = read;
  return {
    id: question.id,
    shortId: shortId(question.id),
    runId: run.id,
    runNumber: run.number,
    runName: run.name,
    externalId: run.externalId ?? null,
    runStatus: run.status,
    title: question.title,
    items: content.items,
    context: content.context ?? null,
    kind: question.kind,
    risk: question.risk,
    confidence: question.confidence ?? null,
    askedAt: question.askedAt,
    askedBy: question.askedBy.id,
    via: question.via,
    dueAt: question.dueAt ?? null,
    onTimeout: question.onTimeout,
    heldUntil: isPending(question) ? (question.hold?.until ?? null) : null,
    claimedBy: question.claim?.by.id ?? null,
    snoozedUntil: question.snoozedUntil ?? null,
    amendments: question.amendments.map(({ text, by, at }) => ({ text, by: by.id, at })),
    ...viewCheck(read),
  };
}

/** The latest question and answer in the words of task managers. */
export function viewTask(last: {
  question: Question;
  answer: Answer | undefined;
  text: string;
  context?: string;
}): object {
  return {
    question: last.question.title,
    questionContext: last.context ?? null,
    humanResponse: last.answer ? last.text : null,
    humanRespondedAt: last.answer?.at ?? null,
  };
}
