import type { Entry, Seal } from "../core/changes.ts";
import type { StoredPage } from "./archive.ts";

/** The texts that both dialects read a snapshot with. */
export const SNAPSHOT_SQL = {
  runColumns: `id, number, version, body, name, external_id, host, agent, session, parent_id, status, ended_at,
  chain_n, chain_hash`,
  questionColumns: "id, version, body, run_id, key, status",
  job: "select key, kind, host, agent, due_at, ready_at, lease_until, body from job",
  countContents: "select count(*) as count from content",
  countEntries: "select kind, count(*) as count from entry group by kind",
} as const;

/** A row of the run table. */
export interface RunRow
  extends
    Record<"id" | "body" | "name" | "host" | "agent" | "status" | "chain_hash", string>,
    Record<"external_id" | "session" | "parent_id" | "ended_at", string | null>,
    Record<"number" | "version" | "chain_n", number> {
  chain_seq?: number;
}

export interface QuestionRow extends Record<"id" | "body" | "run_id" | "key" | "status", string> {
  version: number;
  row?: number;
}

export interface JobRow extends Record<"key" | "kind" | "due_at" | "ready_at" | "body", string> {
  host: string | null;
  agent: string | null;
  lease_until: string | null;
}

export type LineHashRow = Record<"run_id" | "hash", string> & Record<"n" | "number", number>;
export type CountRow = { kind: string; count: number };

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
  /** Its number, in a store that numbers questions for the index of words. */
  place: number | undefined;
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
  kind: Entry["kind"];
  id: string;
  parent: string | null;
  version: number;
  body: string;
}

/** Row counts of tables that are only partly compared. */
export interface RowCounts {
  /** Those in the table, and those of the archive that were read. */
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
  /** These runs, as far as they exist, in no particular order. */
  readRuns(ids: readonly string[]): Promise<StoredRun[]>;
  /** In the order of their runs, then of their keys. */
  listQuestions(after: Pick<StoredQuestion, "runId" | "key"> | undefined, limit: number): Promise<StoredQuestion[]>;
  /** In the order of their runs, then of their numbers. */
  listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]>;
  /** The pages of the archive that could not be read so far: their lines and texts are missing from what is listed. */
  listDamagedPages(): readonly StoredPage[];
  /** The lines of one run, in the order of its chain. */
  readLinesOf(runId: string): Promise<StoredLine[]>;
  /** In the order of their keys. */
  listJobs(after: string, limit: number): Promise<StoredJob[]>;
  /** The hashes of the lines between two cursors, in feed order. */
  readFeedHashes(after: string, upTo: string): Promise<string[]>;
  listSeals(afterN: number, limit: number): Promise<Seal[]>;
  readContents(names: readonly string[]): Promise<Map<string, string>>;
  readJobs(keys: readonly string[]): Promise<StoredJob[]>;
  /** Texts in the order of their names. */
  listContents(after: string, limit: number): Promise<Array<{ hash: string; body: string }>>;
  /** Entries of a kind in the order of their ids. */
  listEntries(kind: string, after: string, limit: number): Promise<StoredEntry[]>;
  readEntries(kind: string, ids: readonly string[]): Promise<StoredEntry[]>;
  /** The hash and run number of each of these lines, by `lineName`. */
  readLines(lines: ReadonlyArray<{ runId: string; n: number }>): Promise<Map<string, { hash: string; number: number }>>;
  countRows(): Promise<RowCounts>;
}

export function lineName(runId: string, n: number): string {
  return `${runId} ${n}`;
}

/** Undoes what a database does to a name that it cannot store as it is. */
type Decode = (name: string) => string;

export function toStoredRun(row: RunRow, decode: Decode): StoredRun {
  const { id, number, version, body, status } = row;
  return {
    id,
    number,
    body,
    columns: {
      id,
      version,
      name: decode(row.name),
      externalId: row.external_id && decode(row.external_id),
      host: decode(row.host),
      agent: decode(row.agent),
      session: row.session && decode(row.session),
      parentId: row.parent_id,
      status,
      endedAt: row.ended_at,
    },
    chain: { n: row.chain_n, hash: row.chain_hash },
    lastSeq: row.chain_seq,
  };
}

export function toStoredQuestion(row: QuestionRow, decode: Decode): StoredQuestion {
  const { id, version, body, run_id: runId, key, status, row: place } = row;
  return { id, runId, key, body, columns: { id, version, runId, key: decode(key), status }, place };
}

export function toStoredJob(row: JobRow, decode: Decode): StoredJob {
  const key = decode(row.key);
  const host = row.host && decode(row.host);
  const agent = row.agent && decode(row.agent);
  return {
    key,
    body: row.body,
    columns: { key, kind: row.kind, host, agent, dueAt: row.due_at },
    readyAt: row.ready_at,
    leaseUntil: row.lease_until,
  };
}

export function toLineHashes(rows: readonly LineHashRow[]): Map<string, { hash: string; number: number }> {
  return new Map(rows.map(({ run_id: runId, n, hash, number }) => [lineName(runId, n), { hash, number }]));
}

/** `contents` has one row, the count of all in the table. */
export function toRowCounts(
  contents: ReadonlyArray<Pick<CountRow, "count">>,
  entries: readonly CountRow[],
  archivedContents: number,
): RowCounts {
  return {
    contents: (contents[0]?.count ?? 0) + archivedContents,
    entries: new Map(entries.map(({ kind, count }) => [kind, count])),
  };
}
