import { z } from "zod";
import { QuestionId, RunId, WorkerId } from "../id.ts";
import { Instant } from "../instant.ts";
import type { Question } from "../question/question.ts";
import type { Run } from "./run.ts";

export const JobKind = z.enum([
  "deliver",
  "mark_issue",
  "remind",
  "expire",
  "settle",
  "stop",
  "resume",
  "carry", // checks the owner of a run; rows have this name
  "watch",
  "callback",
  "step",
  "trigger",
  "seal",
  "expire_token",
]);
export type JobKind = z.infer<typeof JobKind>;

/** Why and when a job failed. */
export const JobFailure = z.object({
  why: z.string(),
  at: Instant,
  /** Why a trigger starts nothing, for pages in other languages: its file is not the approved one, or a run was refused. */
  trigger: z.enum(["file_changed", "start_refused"]).optional(),
});
export type JobFailure = z.infer<typeof JobFailure>;

/** Work due at a time, done at least once by the worker that claims it. */
export const Job = z.object({
  /** Scheduling an existing key replaces its job. */
  key: z.string().max(300),
  kind: JobKind,
  dueAt: Instant,
  runId: RunId.optional(),
  questionId: QuestionId.optional(),
  /** Only a worker on this host, with this agent, may claim it. */
  host: z.string().optional(),
  agent: z.string().optional(),
  /** The number of failed attempts. */
  tries: z.int(),
  /** The last failure, without secrets, for display in other processes. */
  failure: JobFailure.optional(),
  /** An initial claim: the committing process does the job itself. */
  claim: z.object({ worker: WorkerId, leaseMs: z.int() }).optional(),
});
export type Job = z.infer<typeof Job>;

/** A job claimed by one worker until its lease ends; only this attempt may finish it. */
export interface ClaimedJob extends Job {
  attempt: number;
}

/** A job about a question; each kind exists once per question. */
export function questionJob(kind: JobKind, question: Pick<Question, "id" | "runId">, dueAt: Instant): Job {
  return { key: jobKey(kind, question.id), kind, dueAt, runId: question.runId, questionId: question.id, tries: 0 };
}

/** A job about a run; only a worker on its host can do it. */
export function runJob(kind: JobKind, { id, host }: Pick<Run, "id" | "host">, dueAt: Instant): Job {
  return { key: jobKey(kind, id), kind, dueAt, runId: id, host, tries: 0 };
}

/** The job with which a worker on the run's host does the next step of a workflow. */
export function stepJob(run: Pick<Run, "id" | "host">, dueAt: Instant): Job {
  return runJob("step", run, dueAt);
}

export function jobKey(kind: JobKind, id: string): string {
  return `${kind}:${id}`;
}
