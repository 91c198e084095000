import type { Actor } from "./people/actor.ts";
import type { Content } from "./question/content.ts";
import type { Event } from "./trail/event.ts";
import type { Ids } from "./id.ts";
import type { Instant } from "./instant.ts";
import type { ClaimedJob, Job, JobFailure } from "./run/job.ts";
import type { Person } from "./people/person.ts";
import type { Question } from "./question/question.ts";
import type { Rules } from "./rules.ts";
import type { Run } from "./run/run.ts";

/** What a decision may know beyond what was read: the time, who acts, new ids, the configured rules. */
export interface At {
  now: Instant;
  by: Actor;
  ids: Ids;
  rules: Rules;
  /** The caller that holds the question is here and takes its outcome as soon as it is committed. */
  isTaken?: boolean;
}

/**
 * A small row of any other kind: person, token, worker, delivery, inbox entry, alert, template, who asked what, clock,
 * last seal, last anchored seal, roster.
 */
export interface Entry {
  kind:
    | "person"
    | "token"
    | "worker"
    | "usage"
    | "delivery"
    | "inbox"
    | "alert"
    | "template"
    | "ask"
    | "clock"
    | "seal"
    | "anchor"
    | "roster";
  id: string;
  /** What it belongs to, for lists: a delivery's question. */
  parent?: string;
  version: number;
  body: Record<string, unknown>;
}

/** The heads of all chains that grew since the last one, bound to all earlier seals. */
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
  /** Keys of jobs that are no longer needed, whoever has them. */
  dropped?: string[];
  finished?: ClaimedJob[];
  /** Claimed jobs that are to be done again later. */
  postponed?: Postponed[];
}

/** A claimed job that is to be done again later. With no tries left to count, an earlier failure is forgotten. */
export interface Postponed {
  job: ClaimedJob;
  dueAt: Instant;
  tries: number;
  /** Why it was not done this time; without one, what is known from before stays. */
  failure?: JobFailure;
}

/** A question with what it asked and the run it belongs to, as read. */
export interface Read {
  run: Run;
  question: Question;
  content: Content;
  /** Other questions of the run with something that its agent has not been shown; read where a decision may need them. */
  others?: readonly Question[];
  /** Everybody on the list of people, those who were removed included; read where a question names people or counts votes. */
  people?: readonly Person[] | undefined;
}
