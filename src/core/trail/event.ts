import { hash } from "node:crypto";
import { z } from "zod";
import type { Changes, DecisionContext, QuestionSnapshot } from "../changes.ts";
import { Actor } from "../people/actor.ts";
import { QuestionId, RunId } from "../id.ts";
import { Instant, msBetween } from "../instant.ts";
import { type Question, isPending } from "../question/question.ts";
import { type Run, isParked } from "../run/run.ts";

const QUESTION_EVENTS = [
  "asked",
  "held",
  "parked",
  "announced",
  "notified",
  "delivery_failed",
  "reminded",
  "claimed",
  "released",
  "assigned",
  "snoozed",
  "extended",
  "commented",
  "linked",
  "voted",
  "vote_removed",
  "quorum_changed",
  "answered",
  "settling",
  "undone",
  "amended",
  "late_reply",
  "refused",
  "forced",
  "owed",
  "handing",
  "given",
  "timed_out",
  "escalated",
  "cancelled",
] as const;
const RUN_EVENTS = [
  "queued",
  "started",
  "parked",
  "resuming",
  "resumed",
  "completed",
  "failed",
  "skipped",
  "cancelled",
  "blocked",
  "deferred",
  "imported",
  "followed",
  "notified",
  "delivery_failed",
] as const;
/** Token events; they are in the chain of the store itself. */
const TOKEN_EVENTS = ["made", "used", "handed_over", "revoked", "expired"] as const;
/** Events of a workflow run, and of the definitions that people approved, which are in the chain of the store. */
const WORKFLOW_EVENTS = ["step_completed", "step_repeated", "child_ended", "approved", "revoked"] as const;
const PERSON_EVENTS = ["added", "changed", "removed"] as const;

export const EVENT_TYPES = [
  ...QUESTION_EVENTS.map((name) => `question.${name}` as const),
  ...RUN_EVENTS.map((name) => `run.${name}` as const),
  ...TOKEN_EVENTS.map((name) => `token.${name}` as const),
  ...PERSON_EVENTS.map((name) => `person.${name}` as const),
  ...WORKFLOW_EVENTS.map((name) => `workflow.${name}` as const),
  "alert.pending",
  "alert.timeout_rate",
  "alert.failing_jobs",
  "alert.silent_machine",
  "alert.cleared",
  "template.saved",
  "template.removed",
  "stats.kept",
  "key.made",
  "row.set_aside",
  "service.stopped",
] as const;
export const EventType = z.enum(EVENT_TYPES);
export type EventType = z.infer<typeof EventType>;

/** One line of the audit trail. Long text is referred to by its hash. */
export const Event = z.object({
  type: EventType,
  at: Instant,
  runId: RunId,
  questionId: QuestionId.optional(),
  by: Actor,
  /** The status before and after, and the version that the change made. */
  from: z.string().optional(),
  to: z.string(),
  version: z.int(),
  detail: z.record(z.string(), z.unknown()).optional(),
  /** Digests of the rows its commit wrote; the store adds them. */
  rows: z.record(z.string(), z.string().nullable()).optional(),
});
export type Event = z.infer<typeof Event>;

/** A stored event: its position in its run's chain and in the feed. */
export interface KeptEvent {
  event: Event;
  n: number;
  hash: string;
  cursor: string;
  /** The exact text that was hashed. */
  body: string;
}

export const CHAIN_START = "";

/** Chains an event to all earlier events of its run. */
export function chainHash(previous: string, body: string): string {
  return hash("sha256", `${previous}\n${body}`, "hex");
}

type EventContext = Pick<DecisionContext, "now" | "by">;
type QuestionEventName = (typeof QUESTION_EVENTS)[number];
export type EventDetail = Record<string, unknown>;

/** Changes one question, with the event of the change. */
export function changeQuestion(
  { run, question }: Pick<QuestionSnapshot, "run" | "question">,
  after: Question,
  name: QuestionEventName,
  at: EventContext,
  detail?: EventDetail,
): Changes {
  return { runs: [run], questions: [after], events: [questionEvent(name, question, after, at, detail)] };
}

/** Builds the event of a question's change; one that closes it carries how long it waited. */
export function questionEvent(
  name: QuestionEventName,
  before: Question | undefined,
  after: Question,
  at: EventContext,
  detail?: EventDetail,
): Event {
  return {
    type: `question.${name}`,
    at: at.now,
    runId: after.runId,
    questionId: after.id,
    by: at.by,
    from: before?.status,
    to: after.status,
    version: after.version + 1,
    detail: before && isPending(before) && !isPending(after) ? { ...detail, waited_ms: waitedMs(after, at) } : detail,
  };
}

/** Builds an event about a question that did not change. */
export function unchangedEvent(
  name: QuestionEventName,
  question: Question,
  at: EventContext,
  detail: EventDetail,
): Event {
  return { ...questionEvent(name, question, question, at, detail), version: question.version };
}

/** Builds the event of a run's change; one that ends a parked time carries its length. */
export function runEvent(before: Run | undefined, after: Run, at: EventContext, detail?: EventDetail): Event {
  const parkedAt = before && isParked(before) && !isParked(after) ? before.parkedAt : undefined;
  return {
    type: RUN_EVENT_OF[after.status](before),
    at: at.now,
    runId: after.id,
    by: at.by,
    questionId: undefined,
    from: before?.status,
    to: after.status,
    version: after.version + 1,
    detail: {
      reason: after.reason,
      ...detail,
      suspended_ms: parkedAt === undefined ? undefined : sinceMs(parkedAt, at),
    },
  };
}

/** Builds an event about a run whose status did not change. */
export function unchangedRunEvent(
  name: "followed" | "notified" | "delivery_failed",
  run: Run,
  at: EventContext,
  detail: EventDetail,
): Event {
  const { id: runId, status, version } = run;
  return { type: `run.${name}`, at: at.now, runId, by: at.by, from: status, to: status, version, detail };
}

/** Builds an event of a workflow run. */
export function workflowEvent(
  name: "step_completed" | "step_repeated" | "child_ended",
  run: Run,
  at: EventContext,
  detail: EventDetail,
): Event {
  const { id: runId, status, version } = run;
  return { type: `workflow.${name}`, at: at.now, runId, by: at.by, from: status, to: status, version, detail };
}

/** The event of a run's change, if its status has changed. */
export function statusEvents(before: Run, after: Run, at: EventContext, detail?: EventDetail): Event[] {
  return after.status === before.status ? [] : [runEvent(before, after, at, detail)];
}

/** Until the reply came: the undo window does not count. */
function waitedMs(closed: Question, at: EventContext) {
  return sinceMs(closed.askedAt, { now: closed.status === "answered" ? closed.answer.at : at.now });
}

/** Never negative: the clocks of two machines may differ by a little. */
function sinceMs(start: Instant, { now }: Pick<EventContext, "now">) {
  return Math.max(0, msBetween(start, now));
}

const RUN_EVENT_OF: Record<Run["status"], (before: Run | undefined) => EventType> = {
  queued: () => "run.queued",
  running: (before) => (before?.status === "resuming" ? "run.resumed" : "run.started"),
  awaiting_input: () => "run.parked",
  resuming: () => "run.resuming",
  completed: () => "run.completed",
  failed: () => "run.failed",
  skipped: () => "run.skipped",
  cancelled: () => "run.cancelled",
  blocked: () => "run.blocked",
  deferred: () => "run.deferred",
};
