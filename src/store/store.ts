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
 * What became of a commit: `numbers` of the runs it made, `attempts` of the jobs it scheduled, by key.
 * A job that is born claimed is finished with that attempt; a store never gives an attempt of a key twice.
 * `moved`: a row is no longer at the version it was read at. `taken`: somebody has that unique name.
 * `job_lost`: a claimed job is no longer ours. `newer_schema`: this program may no longer write.
 */
export type Committed =
  | { ok: true; numbers: ReadonlyMap<string, number>; attempts: ReadonlyMap<string, number> }
  | { ok: false; why: "moved" | "taken" | "job_lost" | "newer_schema" };

/** What a commit, here or in another process, may have changed. */
export interface Change {
  questions: ReadonlySet<string>;
  /** The earliest of the jobs it scheduled; undefined also means "not known, look". */
  dueAt: Instant | undefined;
  /** Set when the store cannot say what changed, as after a lost connection: look at everything. */
  all?: true;
}

export interface QuestionFilter {
  status?: Question["status"];
  /** Only those that no longer wait. */
  isClosed?: true;
  runId?: RunId;
  /** Oldest ask first, or newest. */
  order: "oldest" | "newest";
  /** Only what comes after this id in that order. */
  after?: QuestionId;
  limit: number;
  /** Only of the newest that have all words of this text, in the title or in the names of the run. */
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
  /** Only what comes after this id. */
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

/** How people and agents name a run or a question. `short` is a prefix of the random part of an id. */
export type Ref = { by: "number"; number: number } | { by: "name" | "external" | "session" | "short"; text: string };

/** What counting has to know of a run. */
export type Origin = Pick<Run, "id" | "agent" | "repo" | "sources">;

/** A job as it is kept, with the lease of whoever has it. */
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

/** Keeps runs, questions, events and jobs. Everything it is given was decided before; it has no rules of its own. */
export interface Store {
  /** Writes all of it or nothing; it is on disk when the promise resolves. */
  commit(changes: Changes): Promise<Committed>;

  /**
   * Writes rows that were kept elsewhere, all of them or nothing: at the versions they carry, runs under their numbers
   * where these are free. Rows that are there already are `taken`.
   */
  adopt(changes: Changes): Promise<Committed>;

  findRun(id: RunId): Promise<Run | undefined>;
  /** Where these runs come from, as far as they are kept, in no particular order. */
  readOrigins(ids: readonly RunId[]): Promise<Origin[]>;
  /** These runs, as far as they are kept, in no particular order. */
  readRuns(ids: readonly RunId[]): Promise<Run[]>;
  /** The texts of these names, as far as they are kept. */
  readContents(hashes: readonly string[]): Promise<Map<string, Content>>;
  /** These questions, as far as they are kept, in no particular order. */
  readQuestions(ids: readonly QuestionId[]): Promise<Question[]>;
  findQuestion(id: QuestionId): Promise<Question | undefined>;
  findQuestionByKey(runId: RunId, key: string): Promise<Question | undefined>;
  findContent(hash: string): Promise<Content | undefined>;
  findEntry(kind: Entry["kind"], id: string): Promise<Entry | undefined>;
  /** These entries, as far as they are kept, in the order of their ids. */
  readEntries(kind: Entry["kind"], ids: readonly string[]): Promise<Entry[]>;
  /** In the order of their ids: all of a kind, those below one parent, or one page of either. */
  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage): Promise<Entry[]>;
  listRuns(filter: RunFilter): Promise<Run[]>;
  listQuestions(filter: QuestionFilter): Promise<Question[]>;
  /** For each of these words at most `limit` questions that a person answered and whose title has it, newest first. */
  findAnswered(words: readonly string[], limit: number): Promise<QuestionId[][]>;
  /** Takes up to `limit` more events into what words are looked up in; says how many there were. */
  indexWords(limit: number): Promise<number>;
  countQuestions(status: Question["status"]): Promise<number>;
  /** At most `limit` runs and questions that go by this name, newest first. */
  lookUp(ref: Ref, limit: number): Promise<{ runs: Run[]; questions: Question[] }>;

  /**
   * The feed: events after the cursor, or from the first if it is empty, in an order in which none can appear later
   * before one already read.
   */
  readFeed(after: string, limit: number): Promise<KeptEvent[]>;
  /** The cursor of the last event that the feed shows now. */
  findFeedEnd(): Promise<string>;
  /** Events of everything, or of one run, newest first. */
  readBack(filter: TrailFilter): Promise<KeptEvent[]>;
  /** One run's events in the order of its chain, with the head that the run itself records. */
  readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }>;
  listSeals(afterN: number, limit: number): Promise<Seal[]>;

  /** Reads everything as it is at one moment, row by row, for comparison with the trail. */
  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result>;

  /** Hands out due jobs, each to one worker until its lease ends, with the store's time. */
  claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }>;
  /** When the next job that passes the filter can be claimed: now or in the past means at once. */
  nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Promise<Instant | undefined>;
  listJobs(limit: number): Promise<KeptJob[]>;
  /** Jobs that failed when they were last done, the one that can be claimed first before the others. */
  listFailing(limit: number): Promise<KeptJob[]>;

  /** What is wrong with its files: all of it, or, `quick`, what is found without keeping anybody waiting. */
  findDamage(depth: "quick" | "whole"): Promise<string[]>;

  /** The store's own time, which decides deadlines and leases. */
  now(): Promise<Instant>;
  /** Calls the listener after every commit, of this process or another. */
  onChange(listener: (change: Change) => void): () => void;
  close(): Promise<void>;
}
