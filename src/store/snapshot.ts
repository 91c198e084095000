import type { Seal } from "../core/changes.ts";

/** Columns copied from a row's text, by field name. */
export type CopiedColumns = Readonly<Record<string, string | number | null>>;

/** A stored run with the head of its chain. */
export interface StoredRun {
  id: string;
  /** Assigned by the store; the text of a new run lacks it. */
  number: number;
  body: string;
  columns: CopiedColumns;
  chain: { n: number; hash: string };
  /** The position of its last event, in a store that links events by position. */
  lastSeq: number | undefined;
}

export interface StoredQuestion {
  id: string;
  runId: string;
  /** The ask key as stored in the column, which pages continue from. */
  key: string;
  body: string;
  columns: CopiedColumns;
}

/** A stored line of the trail. */
export interface StoredLine {
  runId: string;
  n: number;
  hash: string;
  body: string;
  /** Its position in the feed: the transaction that wrote it, in a store with concurrent ones, then its number. */
  xid: number;
  seq: number;
  /** The position of the previous line of its chain, in a store that links lines by position. */
  before: number | undefined;
}

export interface StoredJob {
  key: string;
  body: string;
  columns: CopiedColumns;
  readyAt: string;
  leaseUntil: string | null;
}

export interface StoredEntry {
  kind: string;
  id: string;
  parent: string | null;
  version: number;
  body: string;
}

/** Row counts of tables that are only partly compared. */
export interface RowCounts {
  contents: number;
  /** By kind. */
  entries: ReadonlyMap<string, number>;
}

/**
 * A consistent snapshot of a store, row by row with the exact texts. Lists come in pages, so that a store of any size
 * is read with little memory.
 */
export interface StoreSnapshot {
  /** In the order of their ids. */
  listRuns(after: string, limit: number): Promise<StoredRun[]>;
  /** In the order of their runs, then of their keys. */
  listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number): Promise<StoredQuestion[]>;
  /** In the order of their runs, then of their numbers. */
  listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]>;
  /** In the order of their keys. */
  listJobs(after: string, limit: number): Promise<StoredJob[]>;
  /** The hashes of the lines between two cursors, in feed order. */
  readFeedHashes(after: string, upTo: string): Promise<string[]>;
  listSeals(afterN: number, limit: number): Promise<Seal[]>;
  readContents(names: readonly string[]): Promise<Map<string, string>>;
  readJobs(keys: readonly string[]): Promise<StoredJob[]>;
  readEntries(kind: string, ids: readonly string[]): Promise<StoredEntry[]>;
  /** The hash and run number of each of these lines, by `lineName`. */
  readLines(lines: ReadonlyArray<{ runId: string; n: number }>): Promise<Map<string, { hash: string; number: number }>>;
  countRows(): Promise<RowCounts>;
}

export function lineName(runId: string, n: number): string {
  return `${runId} ${n}`;
}
