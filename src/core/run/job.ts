import { z } from "zod";
import { QuestionId, RunId, WorkerId } from "../id.ts";
import { Instant } from "../instant.ts";
import type { Question } from "../question/question.ts";

export const JobKind = z.enum([
  "deliver",
  "update",
  "remind",
  "expire",
  "settle",
  "stop",
  "resume",
  "carry",
  "watch",
  "callback",
  "step",
  "trigger",
  "reconcile",
  "seal",
  "expire_token",
]);
export type JobKind = z.infer<typeof JobKind>;

/** Why a job was not done, and when that was. */
export const JobFailure = z.object({ why: z.string(), at: Instant });
export type JobFailure = z.infer<typeof JobFailure>;

/** Something due at a time, done by whoever claims it, at least once. */
export const Job = z.object({
  /** Scheduling a key again moves the job that is there. */
  key: z.string().max(300),
  kind: JobKind,
  dueAt: Instant,
  runId: RunId.optional(),
  questionId: QuestionId.optional(),
  /** Only a worker on this host, with this agent, may take it. */
  host: z.string().optional(),
  agent: z.string().optional(),
  /** How often it failed. */
  tries: z.int(),
  /** What went wrong the last time, without secrets, for whoever looks after it from another process. */
  failure: JobFailure.optional(),
  /** A claim that the job is born with: the committing process does it itself. */
  claim: z.object({ worker: WorkerId, leaseMs: z.int() }).optional(),
});
export type Job = z.infer<typeof Job>;

/** A job in the hands of one worker until its lease ends; only this attempt may finish it. */
export interface ClaimedJob extends Job {
  attempt: number;
}

/** A job about a question; there is one of each kind per question. */
export function questionJob(kind: JobKind, question: Pick<Question, "id" | "runId">, dueAt: Instant): Job {
  return { key: jobKey(kind, question.id), kind, dueAt, runId: question.runId, questionId: question.id, tries: 0 };
}

export function jobKey(kind: JobKind, id: string): string {
  return `${kind}:${id}`;
}
