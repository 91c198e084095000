import type { Changes, Entry, PostponedJob, Seal } from "../core/changes.ts";
import type { Event } from "../core/trail/event.ts";
import type { Instant } from "../core/instant.ts";
import type { Job } from "../core/run/job.ts";
import type { Question } from "../core/question/question.ts";
import {
  RUN_ROW,
  type RowDigests,
  contentRow,
  digestOf,
  entryDigest,
  entryRow,
  isPinnedEntry,
  jobDigest,
  jobRow,
} from "../core/trail/row-digest.ts";
import type { Run } from "../core/run/run.ts";

/**
 * A row ready to store: `body` carries the next version, `guard` is the version that must be stored now, 0 for none.
 */
export interface PreparedRow<Row> {
  id: string;
  guard: number;
  /** The text to store. It lacks the number of a new run, which the store assigns and keeps in a column. */
  body: string;
  /** The object the body was made from, for the searched columns. */
  row: Row;
}

export interface PreparedEntry {
  kind: Entry["kind"];
  id: string;
  parent: string | null;
  guard: number;
  body: string;
}

export interface PreparedEvent {
  runId: string;
  questionId: string | null;
  /** The exact text that is hashed and stored. */
  body: string;
}

export interface PreparedJob {
  job: Job;
  /** The job without its claim. */
  body: string;
}

export interface PreparedPostponed {
  key: string;
  attempt: number;
  dueAt: Instant;
  body: string;
}

/** One commit with every row serialised once, so that a store only binds text. */
export interface PreparedCommit {
  runs: Array<PreparedRow<Run>>;
  questions: Array<PreparedRow<Question>>;
  contents: Array<{ hash: string; body: string }>;
  entries: PreparedEntry[];
  events: PreparedEvent[];
  seals: readonly Seal[];
  scheduled: PreparedJob[];
  dropped: readonly string[];
  finished: ReadonlyArray<{ key: string; attempt: number }>;
  postponed: PreparedPostponed[];
  /** Every run it writes or adds events to, sorted: the lock order. */
  runIds: string[];
  /** Names of everything that only one commit of a batch may touch. */
  touches: string[];
  bytes: number;
}

/** Serialises the changes of a decision. */
export function prepareCommit(changes: Changes): PreparedCommit {
  const runs = (changes.runs ?? []).map(prepareRow);
  const questions = (changes.questions ?? []).map(prepareRow);
  const contents = (changes.contents ?? []).map(({ hash, content }) => ({ hash, body: JSON.stringify(content) }));
  const entries = (changes.entries ?? []).map(prepareEntry);
  const scheduled = (changes.scheduled ?? []).map((job) => ({ job, body: jobBody(job) }));
  const postponed = (changes.postponed ?? []).map(preparePostponed);
  const seals = changes.seals ?? [];
  const dropped = changes.dropped ?? [];
  const finished = changes.finished ?? [];
  const commit: PreparedCommit = {
    runs,
    questions,
    contents,
    entries,
    events: [],
    seals,
    scheduled,
    dropped,
    finished,
    postponed,
    runIds: [],
    touches: [],
    bytes: 0,
  };
  commit.events = prepareEvents(changes.events ?? [], commit);
  commit.bytes = sizeOf([runs, questions, contents, entries, commit.events, seals, scheduled, postponed]);
  commit.runIds = runIdsOf(commit);
  commit.touches = touchesOf(commit);
  return commit;
}

/** Serialises imported rows: they are new here and keep their versions. */
export function prepareAdopted(changes: Changes): PreparedCommit {
  const anew = <Row extends Run | Question>(row: Row): Row => ({ ...row, version: 0 });
  const commit = prepareCommit({
    ...changes,
    runs: (changes.runs ?? []).map(anew),
    questions: (changes.questions ?? []).map(anew),
  });
  const keep = <Row extends Run | Question>(row: PreparedRow<Row>, own: Row | undefined): PreparedRow<Row> =>
    own ? { ...row, body: JSON.stringify(own) } : row;
  commit.runs = commit.runs.map((row, index) => {
    const own = changes.runs?.[index];
    // The number may be taken here: the column gets the assigned one, as for a new run.
    return keep(row, own && { ...own, number: 0 });
  });
  commit.questions = commit.questions.map((row, index) => keep(row, changes.questions?.[index]));
  // The digests are those of the rows as stored here.
  commit.events = prepareEvents(changes.events ?? [], commit);
  return commit;
}

/** Serialises events; the last event of each chain in a commit pins the rows of that chain. */
function prepareEvents(events: readonly Event[], commit: PreparedCommit) {
  const last = new Map<string, number>();
  events.forEach((event, index) => last.set(event.runId, index));
  const digests = last.size === 0 ? undefined : digestsByChain(commit, [...last.keys()]);
  return events.map((event, index) => {
    const written = last.get(event.runId) === index ? digests?.get(event.runId) : undefined;
    const rows = written ? { ...event.rows, ...written } : event.rows;
    return {
      runId: event.runId,
      questionId: event.questionId ?? null,
      body: JSON.stringify(rows === undefined ? event : { ...event, rows }),
    };
  });
}

/** The row digests of a commit by the chain that pins them; rows of no run are pinned by the first chain. */
function digestsByChain(commit: PreparedCommit, chains: readonly string[]) {
  const digests = new Map<string, RowDigests>();
  const pin = (chain: string | undefined, row: string, digest: string | null) => {
    const owner = chain !== undefined && chains.includes(chain) ? chain : chains[0];
    if (owner === undefined) return;
    const rows = digests.get(owner);
    if (rows) rows[row] = digest;
    else digests.set(owner, { [row]: digest });
  };
  const runOf = new Map<string, string>();
  const contentOf = new Map<string, string>();
  for (const { id, body } of commit.runs) pin(id, RUN_ROW, digestOf(body));
  for (const { id, body, row } of commit.questions) {
    runOf.set(id, row.runId);
    contentOf.set(row.content, row.runId);
    pin(row.runId, id, digestOf(body));
  }
  for (const { hash, body } of commit.contents) pin(contentOf.get(hash), contentRow(hash), digestOf(body));
  for (const entry of commit.entries) {
    const { parent, guard } = entry;
    const owner = runOf.get(parent ?? "") ?? parent ?? undefined;
    if (isPinnedEntry(entry)) pin(owner, entryRow(entry), entryDigest(entry, guard + 1));
  }
  const ownerOf = (key: string) => {
    const id = key.slice(key.indexOf(":") + 1);
    return runOf.get(id) ?? id;
  };
  for (const key of commit.dropped) pin(ownerOf(key), jobRow(key), null);
  for (const { key } of commit.finished) pin(ownerOf(key), jobRow(key), null);
  for (const { job } of commit.scheduled) pin(job.runId, jobRow(job.key), jobDigest(job));
  return digests;
}

function prepareRow<Row extends Run | Question>(row: Row): PreparedRow<Row> {
  return { id: row.id, guard: row.version, body: JSON.stringify({ ...row, version: row.version + 1 }), row };
}

function prepareEntry(entry: Entry): PreparedEntry {
  return {
    kind: entry.kind,
    id: entry.id,
    parent: entry.parent ?? null,
    guard: entry.version,
    body: JSON.stringify(entry.body),
  };
}

function preparePostponed({ job, dueAt, tries, failure = job.failure }: PostponedJob): PreparedPostponed {
  const body = jobBody({ ...job, dueAt, tries, failure: tries === 0 ? undefined : failure });
  return { key: job.key, attempt: job.attempt, dueAt, body };
}

function jobBody(job: Job) {
  if (job.claim === undefined && !("attempt" in job)) return JSON.stringify(job);
  return JSON.stringify({ ...job, claim: undefined, attempt: undefined });
}

function runIdsOf(rows: PreparedCommit): string[] {
  const ids = new Set<string>();
  for (const run of rows.runs) ids.add(run.id);
  for (const question of rows.questions) ids.add(question.row.runId);
  for (const event of rows.events) ids.add(event.runId);
  return ids.size > 1 ? [...ids].sort() : [...ids];
}

// A question never changes its run, so the run's name covers the question, its ask key and "one pending per run".
function touchesOf(rows: PreparedCommit) {
  const touches = [...rows.runIds];
  for (const { row } of rows.runs) {
    if (row.session !== undefined) touches.push(JSON.stringify([row.host, row.agent, row.session]));
  }
  for (const entry of rows.entries) touches.push(`${entry.kind} ${entry.id}`);
  for (const seal of rows.seals) touches.push(`seal ${seal.n}`);
  for (const { job } of rows.scheduled) touches.push(`job ${job.key}`);
  for (const key of rows.dropped) touches.push(`job ${key}`);
  for (const { key } of rows.finished) touches.push(`job ${key}`);
  for (const { key } of rows.postponed) touches.push(`job ${key}`);
  return touches;
}

/** The approximate number of bytes written. */
function sizeOf(bodies: ReadonlyArray<ReadonlyArray<{ body: string }>>) {
  let bytes = 0;
  for (const rows of bodies) for (const row of rows) bytes += row.body.length;
  return bytes;
}
