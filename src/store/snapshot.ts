import type { Seal } from "../core/changes.ts";

/** Columns that are copied from a row's text, by the name of the field they are copied from. */
export type CopiedColumns = Readonly<Record<string, string | number | null>>;

/** A run as it is kept, with the last line of its chain. */
export interface RunSnapshot {
  id: string;
  /** The store gives it; the text of a new run does not have it yet. */
  number: number;
  body: string;
  columns: CopiedColumns;
  chain: { n: number; hash: string };
  /** Where its last line is, in a store that links lines by their places. */
  lastSeq: number | undefined;
}

export interface QuestionSnapshot {
  id: string;
  runId: string;
  /** The ask key as the column has it, by which pages continue. */
  key: string;
  body: string;
  columns: CopiedColumns;
}

/** A line of the trail as it is kept. */
export interface LineSnapshot {
  runId: string;
  n: number;
  hash: string;
  body: string;
  /** Its place in the feed: the transaction that wrote it, in a store that has them side by side, then its number. */
  xid: number;
  seq: number;
  /** The place of the line before it in its chain, in a store that links lines by their places. */
  before: number | undefined;
}

export interface JobSnapshot {
  key: string;
  body: string;
  columns: CopiedColumns;
  readyAt: string;
  leaseUntil: string | null;
}

export interface EntrySnapshot {
  kind: string;
  id: string;
  parent: string | null;
  version: number;
  body: string;
}

/** How many rows there are of what is only compared in part. */
export interface RowCounts {
  contents: number;
  /** By kind. */
  entries: ReadonlyMap<string, number>;
}

/**
 * Everything in a store as it was at one moment, row by row with the exact texts, whoever writes meanwhile. Lists come
 * in pages, so that a store of any size is read with little memory.
 */
export interface StoreSnapshot {
  /** In the order of their ids. */
  listRuns(after: string, limit: number): Promise<RunSnapshot[]>;
  /** In the order of their runs, then of their keys. */
  listQuestions(after: Pick<QuestionSnapshot, "runId" | "key"> | undefined, limit: number): Promise<QuestionSnapshot[]>;
  /** In the order of their runs, then of their numbers. */
  listLines(after: Pick<LineSnapshot, "runId" | "n" | "seq"> | undefined, limit: number): Promise<LineSnapshot[]>;
  /** In the order of their keys. */
  listJobs(after: string, limit: number): Promise<JobSnapshot[]>;
  /** The hashes of the lines after one cursor up to another, in the order of the feed. */
  readFeedHashes(after: string, upTo: string): Promise<string[]>;
  listSeals(afterN: number, limit: number): Promise<Seal[]>;
  readContents(names: readonly string[]): Promise<Map<string, string>>;
  readJobs(keys: readonly string[]): Promise<JobSnapshot[]>;
  readEntries(kind: string, ids: readonly string[]): Promise<EntrySnapshot[]>;
  /** The hash of each of these lines and the number of its run, by `lineName`. */
  readLines(lines: ReadonlyArray<{ runId: string; n: number }>): Promise<Map<string, { hash: string; number: number }>>;
  countRows(): Promise<RowCounts>;
}

export function lineName(runId: string, n: number): string {
  return `${runId} ${n}`;
}
