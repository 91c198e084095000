import type { ArchiveLimit } from "./archive.ts";
import type { SchemaDifference } from "./schema.ts";
import type { Changes, Entry, Seal } from "../core/changes.ts";
import type { Content } from "../core/question/content.ts";
import type { KeptEvent } from "../core/trail/event.ts";
import type { QuestionId, RunId, WorkerId } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";
import type { ClaimedJob, JobKind } from "../core/run/job.ts";
import type { Question } from "../core/question/question.ts";
import type { Run, RunStatus } from "../core/run/run.ts";
import type { StoreSnapshot } from "./snapshot.ts";

/**
 * The result of a commit: `numbers` of the runs it created, `attempts` of the jobs it scheduled, by key. A job created
 * with a claim is finished with that attempt; a store never reuses an attempt of a key. `moved`: a row is no longer at
 * the version it was read at. `taken`: a unique name is in use. `job_lost`: a claimed job was lost. `newer_schema`:
 * this program may no longer write.
 */
export type CommitResult =
  | { ok: true; numbers: ReadonlyMap<string, number>; attempts: ReadonlyMap<string, number> }
  | { ok: false; why: "moved" | "taken" | "job_lost" | "newer_schema" };

/** The change of a commit, here or in another process. */
export interface StoreChange {
  questions: ReadonlySet<string>;
  /** The earliest job it scheduled; undefined also means "unknown". */
  dueAt: Instant | undefined;
  /** Set when the store cannot tell what changed, such as after a lost connection: read everything. */
  all?: true;
}

export interface QuestionFilter {
  status?: Question["status"];
  /** Only closed questions. */
  isClosed?: true;
  runId?: RunId;
  /** Oldest ask first, or newest. */
  order: "oldest" | "newest";
  /** Only rows after this id in that order. */
  after?: QuestionId;
  limit: number;
  /** Only the newest with all words of this text in the title or in the names of the run. */
  find?: string;
}

export interface RunFilter {
  statuses?: readonly RunStatus[];
  parentId?: RunId;
  /** Only runs that ended at or after this moment. */
  endedSince?: Instant;
  order: "oldest" | "newest";
  after?: RunId;
  limit: number;
}

/** A page of entries in the order of their ids. */
export interface EntryPage {
  /** Only rows after this id. */
  after?: string;
  limit: number;
}

/** A page of the trail, newest first. */
export interface TrailFilter {
  /** Only events before the one with this cursor. */
  before?: string;
  runId?: RunId;
  limit: number;
}

/** A name of a run or question as people and agents give it. `short` is a prefix of the random part of an id. */
export type NameReference =
  | { by: "number"; number: number }
  | { by: "name" | "external" | "session" | "short"; text: string };

/** The fields of a run that statistics need. */
export type RunOrigin = Pick<Run, "id" | "number" | "agent" | "repo" | "sources">;

/** A stored job with its lease. */
export interface KeptJob extends ClaimedJob {
  leaseUntil: Instant | undefined;
}

export interface ClaimFilter {
  worker: WorkerId;
  kinds: readonly JobKind[];
  host: string;
  agents: readonly string[];
  leaseMs: number;
  limit: number;
}

/** Damaged rows that no change can replace, and rows that are gone and that a change needs. */
export interface DamagedRows {
  contents?: readonly string[];
  entries?: ReadonlyArray<Pick<Entry, "kind" | "id">>;
  lostRuns?: readonly LostRun[];
  lostQuestions?: readonly LostQuestion[];
}

/** A run whose row is gone, as its trail knows it. */
export interface LostRun {
  id: RunId;
  /** 0 if it is not known; another one if it was given to a later run. */
  number: number;
  version: number;
  /** The last line of its chain. */
  head: { n: number; hash: string; seq: number };
}

/** A question whose row is gone, as its trail knows it. */
export interface LostQuestion extends Pick<Question, "id" | "runId" | "key" | "version" | "status"> {}

/** Stores runs, questions, events and jobs. Everything was decided before; it has no rules of its own. */
export interface Store {
  /** Writes all of it or nothing; it is on disk when the promise resolves. */
  commit(changes: Changes): Promise<CommitResult>;

  /**
   * Imports rows of another store, all of them or nothing, with their versions, and runs with their numbers where these
   * are free. Existing rows are `taken`.
   */
  adopt(changes: Changes): Promise<CommitResult>;

  /** Deletes damaged rows, puts back empty ones for those that are lost, and writes what takes their place, all of it or nothing. */
  replaceDamaged(gone: DamagedRows, changes: Changes): Promise<CommitResult>;

  findRun(id: RunId): Promise<Run | undefined>;
  /** The origins of these runs, as far as they exist, in no particular order. */
  readOrigins(ids: readonly RunId[]): Promise<RunOrigin[]>;
  /** These runs, as far as they exist, in no particular order. */
  readRuns(ids: readonly RunId[]): Promise<Run[]>;
  /** The contents with these hashes, as far as they exist. */
  readContents(hashes: readonly string[]): Promise<Map<string, Content>>;
  /** These questions, as far as they exist, in no particular order. */
  readQuestions(ids: readonly QuestionId[]): Promise<Question[]>;
  findQuestion(id: QuestionId): Promise<Question | undefined>;
  findQuestionByKey(runId: RunId, key: string): Promise<Question | undefined>;
  findContent(hash: string): Promise<Content | undefined>;
  findEntry(kind: Entry["kind"], id: string): Promise<Entry | undefined>;
  /** These entries, as far as they exist, in id order. */
  readEntries(kind: Entry["kind"], ids: readonly string[]): Promise<Entry[]>;
  /** Entries in id order: all of a kind, those of one parent, or one page of either. */
  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage): Promise<Entry[]>;
  listRuns(filter: RunFilter): Promise<Run[]>;
  listQuestions(filter: QuestionFilter): Promise<Question[]>;
  /** For each word at most `limit` questions that a person answered and whose title has it, newest first. */
  findAnswered(words: readonly string[], limit: number): Promise<QuestionId[][]>;
  /** Adds up to `limit` more events to the word index; returns how many there were. */
  indexWords(limit: number): Promise<number>;
  countQuestions(status: Question["status"]): Promise<number>;
  /** At most `limit` runs and questions with this name, newest first. */
  lookUp(ref: NameReference, limit: number): Promise<{ runs: Run[]; questions: Question[] }>;

  /**
   * The feed: events after the cursor, from the first if it is empty, in an order in which no event can appear later
   * before one already read.
   */
  readFeed(after: string, limit: number): Promise<KeptEvent[]>;
  /** The cursor of the last event in the feed. */
  findFeedEnd(): Promise<string>;
  /** Events of everything, or of one run, newest first. */
  readTrailPage(filter: TrailFilter): Promise<KeptEvent[]>;
  /** One run's events in the order of its chain, with the head that the run itself records. */
  readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }>;
  listSeals(afterN: number, limit: number): Promise<Seal[]>;

  /**
   * Moves a page of the oldest lines into the archive, with the texts of the runs that ended with them, if all of them
   * are within the limit; returns how many lines. Everything else reads them as before.
   */
  archive(limit: ArchiveLimit): Promise<number>;

  /** Reads a consistent snapshot, row by row, for comparison with the trail. */
  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result>;

  /** Claims due jobs, each for one worker until its lease ends, and returns the store's time. */
  claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }>;
  /** When the next job that matches the filter can be claimed. */
  nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Promise<Instant | undefined>;
  listJobs(limit: number): Promise<KeptJob[]>;
  /** Jobs whose last attempt failed, in the order in which they can be claimed. */
  listFailingJobs(limit: number): Promise<KeptJob[]>;

  /** Damage to its files: of the whole store, or, with `quick`, what a fast check finds. */
  findDamage(depth: "quick" | "whole"): Promise<string[]>;
  /** The rows that this process met lately and could not read, by name; lists leave them out. */
  listUnreadable(): string[];
  /** Reports a row that others name and that is gone, as one that could not be read. */
  reportLost(name: string): void;
  /** Triggers, views, indexes, tables and columns that differ from what the migrations make. */
  findSchemaDifferences(): Promise<SchemaDifference[]>;

  /** The store's own time, which decides deadlines and leases. */
  now(): Promise<Instant>;
  /** Calls the listener after every commit, of this process or another. */
  onChange(listener: (change: StoreChange) => void): () => void;
  close(): Promise<void>;
}
