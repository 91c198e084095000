import { hash } from "node:crypto";
import { z } from "zod";
import { Actor } from "./actor.ts";
import { QuestionId, RunId } from "./id.ts";
import { Instant } from "./instant.ts";
import type { Question } from "./question.ts";
import type { Run } from "./run.ts";

const QUESTION_EVENTS = [
  "asked",
  "held",
  "parked",
  "notified",
  "delivery_failed",
  "reminded",
  "claimed",
  "released",
  "assigned",
  "snoozed",
  "extended",
  "commented",
  "voted",
  "answered",
  "settling",
  "undone",
  "amended",
  "late_reply",
  "forced",
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
] as const;

export const EventType = z.enum([
  ...QUESTION_EVENTS.map((name) => `question.${name}` as const),
  ...RUN_EVENTS.map((name) => `run.${name}` as const),
  "workflow.step_completed",
  "alert.pending",
  "alert.timeout_rate",
]);
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
});
export type Event = z.infer<typeof Event>;

/** An event as it is kept: its place in its run's chain, and in the feed. */
export interface KeptEvent {
  event: Event;
  n: number;
  hash: string;
  cursor: string;
  /** The exact text that was hashed. */
  body: string;
}

export const CHAIN_START = "";

/** Binds a line to everything before it in the same run. */
export function chainHash(previous: string, body: string): string {
  return hash("sha256", `${previous}\n${body}`, "hex");
}

interface Told {
  now: Instant;
  by: Actor;
}

/** Reports a change of a question, from what was read to what is written. */
export function questionEvent(
  name: (typeof QUESTION_EVENTS)[number],
  before: Question | undefined,
  after: Question,
  at: Told,
  detail?: Record<string, unknown>,
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
    detail,
  };
}

/** Reports something about a question that did not change it. */
export function unchangedEvent(
  name: (typeof QUESTION_EVENTS)[number],
  question: Question,
  at: Told,
  detail: Record<string, unknown>,
): Event {
  return { ...questionEvent(name, question, question, at, detail), version: question.version };
}

/** Reports a change of a run, from what was read to what is written. */
export function runEvent(before: Run | undefined, after: Run, at: Told, detail?: Record<string, unknown>): Event {
  return {
    type: RUN_EVENT_OF[after.status](before),
    at: at.now,
    runId: after.id,
    by: at.by,
    questionId: undefined,
    from: before?.status,
    to: after.status,
    version: after.version + 1,
    detail: after.reason === undefined ? detail : { reason: after.reason, ...detail },
  };
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
