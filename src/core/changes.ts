import type { Actor } from "./people/actor.ts";
import type { Content } from "./question/content.ts";
import type { Event } from "./trail/event.ts";
import type { Ids } from "./id.ts";
import type { Instant } from "./instant.ts";
import type { ClaimedJob, Job, JobFailure } from "./run/job.ts";
import type { Person } from "./people/person.ts";
import type { PendingQuestion, Question } from "./question/question.ts";
import type { Rules } from "./rules.ts";
import type { Run } from "./run/run.ts";

/** The input of a decision beyond the rows it read: the time, who acts, new ids, the configured rules. */
export interface DecisionContext {
  now: Instant;
  by: Actor;
  ids: Ids;
  rules: Rules;
  /** The caller that holds the question takes its outcome as soon as it is committed. */
  isTaken?: boolean;
}

/**
 * A small row of any other kind: person, token, worker, delivery, message outside, listener, presence, outage of a channel, when a channel last sent something, digest, attention of a person, inbox entry, alert,
 * template, who asked what, clock, last seal, last anchored seal, roster, statistics of closed questions, the key that
 * signs exports, the copy of a damaged row, definition of a workflow, who approved it, checkpoint of its run, what
 * triggered it last.
 */
export interface Entry {
  kind:
    | "person"
    | "token"
    | "worker"
    | "usage"
    | "delivery"
    | "outside"
    | "listener"
    | "presence"
    | "outage"
    | "last_sent"
    | "digest"
    | "attention"
    | "inbox"
    | "alert"
    | "template"
    | "ask"
    | "clock"
    | "seal"
    | "anchor"
    | "roster"
    | "refused"
    | "stats"
    | "key"
    | "quarantine"
    | "definition"
    | "workflow"
    | "checkpoint"
    | "trigger";
  id: string;
  /** The owner it is listed under, such as the question of a delivery. */
  parent?: string;
  version: number;
  body: Record<string, unknown>;
}

/** The heads of all chains that grew since the previous seal, chained to all earlier seals. */
export interface Seal {
  n: number;
  hash: string;
  body: string;
}

/**
 * Everything that one decision writes. The store writes all of it or nothing.
 * A row carries the version it was read at, 0 if it is new; it is kept with the next one.
 */
export interface Changes {
  runs?: Run[];
  questions?: Question[];
  contents?: Array<{ hash: string; content: Content }>;
  entries?: Entry[];
  events?: Event[];
  seals?: Seal[];
  scheduled?: Job[];
  /** Keys of jobs to delete, claimed or not. */
  dropped?: string[];
  finished?: ClaimedJob[];
  /** Claimed jobs to reschedule. */
  postponed?: PostponedJob[];
}

/** A claimed job to reschedule. With `tries` 0 an earlier failure is cleared. */
export interface PostponedJob {
  job: ClaimedJob;
  dueAt: Instant;
  tries: number;
  /** The reason it failed this time; undefined keeps the stored one. */
  failure?: JobFailure;
}

/** A question with what it asked and the run it belongs to, as read. */
export interface QuestionSnapshot {
  run: Run;
  question: Question;
  content: Content;
  /** Other questions of the run with open hand-overs; read where a decision needs them. */
  others?: readonly Question[];
  /** All listed people, removed ones included; read where a question names people or counts votes. */
  people?: readonly Person[] | undefined;
}

/** A pending question, as read. */
export interface PendingSnapshot extends QuestionSnapshot {
  question: PendingQuestion;
}
