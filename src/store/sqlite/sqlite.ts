import { dirname, resolve } from "node:path";
import { Refusal } from "../../core/refusal.ts";
import { compareVersion } from "../schema.ts";
import { findReadOnly } from "./read-only.ts";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import { CHAIN_START, type KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { instant, type Instant } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { Batcher } from "../batch.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { type EntryRow, parseContent, parseEntry, parseEvent, parseQuestion, parseRun, parseSources } from "../row.ts";
import { Connection } from "./connection.ts";
import { createStore } from "./create.ts";
import { EntryCache } from "../entry-cache.ts";
import { QuestionCache } from "../question-cache.ts";
import { findDamage, findQuickDamage } from "./damage.ts";
import { requireOwnFolder, restrictPermissions, prepareFiles } from "./store-files.ts";
import { claimJobs, listFailingJobs, listJobs, nextJobAt } from "./job.ts";
import { READ_ENTRIES, READ_QUESTIONS, listEntries, listQuestions, listRuns, lookUp } from "./read.ts";
import { SCHEMA, findSchemaDifferences, migrate, readMeta } from "./schema.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import { readSqliteSnapshot } from "./snapshot.ts";
import { SqliteWatch } from "./watch.ts";
import { prepareAdopted } from "../prepare.ts";
import { restoreRows, SqliteWriter } from "./write.ts";
import type {
  StoreChange,
  ClaimFilter,
  EntryPage,
  RunOrigin,
  QuestionFilter,
  NameReference,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

const FIND_RUN = "select number, body from run where id = ? and +number > 0";
const READ_RUNS = `select number, body from run
  where id in (select value from json_each(?)) and +number > 0`;
const READ_ORIGINS = `select id, number, agent, body ->> '$.repo' as repo, body ->> '$.sources' as sources from run
  where id in (select value from json_each(?)) and +number > 0`;
const READ_CONTENTS = "select hash, body from content where hash in (select value from json_each(?))";
const FIND_QUESTION = "select body from question where id = ?";
const FIND_BY_KEY = "select body from question where run_id = ? and key = ?";
const FIND_CONTENT = "select body from content where hash = ?";
const FIND_ENTRY = "select kind, id, parent, version, body from entry where kind = ? and id = ?";
const COUNT = "select count(*) as count from question where status = ? and status <> 'answered'";
// Questions are never deleted, so the last row is their count: most are answered and not in the index.
const COUNT_ANSWERED = `select coalesce(max("row"), 0)
  - (select count(*) from question where status <> 'answered') as count from question`;
const FEED = "select n, hash, body, cast(seq as text) as cursor from event where seq > ? order by seq limit ?";
const CHAIN = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select n, hash, body, cast(seq as text) as cursor from event where seq in chain order by seq`;
const BACK = "select n, hash, body, cast(seq as text) as cursor from event where seq < ? order by seq desc limit ?";
// The chain of a run is followed from its end, skipping what was already shown.
const CHAIN_BACK = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select n, hash, body, cast(event.seq as text) as cursor
  from chain cross join event on event.seq = chain.seq where chain.seq < ? limit ?`;
const HEAD = "select chain_n as n, chain_hash as hash from run where id = ?";
const SEALS = "select n, hash, body from seal where n > ? order by n limit ?";

/** How long the result of a quick check is cached. */
const LOOK_AGAIN_MS = 10_000;

interface BodyRow {
  body: string;
}

interface CountRow {
  count: number;
}

type EventRow = Omit<KeptEvent, "event">;

export interface SqliteOptions {
  /** The clock for due jobs and leases; this machine's by default. */
  now?: () => Instant;
}

/** Opens the store in that file, creating it if missing. */
export async function openSqliteStore(path: string, { now = machineTime }: SqliteOptions = {}): Promise<Store> {
  if (findReadOnly(resolve(path))) return openReadOnly(resolve(path));
  const files = prepareFiles(resolve(path));
  await createStore(files.database);
  const connection = await Connection.open(files.database, { check: files.hasLog });
  try {
    await migrate(connection);
    await connection.markAsOwn();
    restrictPermissions(files);
  } catch (error) {
    connection.close();
    throw error;
  }
  return new SqliteStore(connection, files.wake, now);
}

/** Opens a store that cannot be written: it can be read, and every change is refused. */
async function openReadOnly(path: string): Promise<Store> {
  requireOwnFolder(dirname(path));
  const connection = await Connection.look(path);
  if ((await connection.read(() => compareVersion(readMeta(connection), SCHEMA))) === "current")
    return readSqliteStore(connection);
  connection.close();
  throw new Refusal("store_unusable", `${path} was made by another version of askd and cannot be updated here.`, {
    hint: "Read a copy of it in a folder that you can write, with --store.",
  });
}

/** A read-only view of the store in that file; nothing about it changes. */
export function readSqliteStore(connection: Connection): Store {
  return new SqliteStore(connection, "", machineTime);
}

/** A store in one SQLite file that several processes may share. */
class SqliteStore implements Store {
  readonly #connection: Connection;
  readonly #writer: SqliteWriter;
  readonly #listeners = new ChangeListeners();
  readonly #rows = new QuestionCache();
  readonly #entries = new EntryCache();
  readonly #watch: SqliteWatch;
  readonly #batcher: Batcher;

  readonly #now: () => Instant;
  /** The cached result of the last quick check. */
  #looked: { atMs: number; found: Promise<string[]> } | undefined;

  constructor(connection: Connection, wake: string, now: () => Instant) {
    const writer = new SqliteWriter(connection);
    this.#writer = writer;
    this.#connection = connection;
    this.#now = now;
    this.#watch = new SqliteWatch(connection, this.#listeners, wake);
    this.#batcher = new Batcher({
      atOnce: 1,
      apply: async (batch) => {
        const committed = await connection.transact(() => writer.write(batch, now()));
        writer.confirm();
        return committed;
      },
      tell: (change) => {
        this.#watch.touch();
        this.#listeners.notify(change);
      },
    });
  }

  commit(changes: Changes) {
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes) {
    const commit = prepareAdopted(changes);
    const committed = await this.#connection.transact(() => {
      const [result] = this.#writer.write([commit], this.#now());
      if (result?.ok) restoreRows(this.#connection, changes);
      return result ?? { ok: false as const, why: "newer_schema" as const };
    });
    // Without a confirmation the writer drops its cache, which no longer matches these rows.
    this.#watch.touch();
    this.#listeners.notify({ questions: new Set(), dueAt: undefined, all: true });
    return committed;
  }

  async findRun(id: RunId) {
    const row = await this.#get<BodyRow & { number: number }>(FIND_RUN, id);
    return row && parseRun(row.body, row.number);
  }

  async readOrigins(ids: readonly RunId[]): Promise<RunOrigin[]> {
    type Row = { id: RunId; number: number; agent: string; repo: string | null; sources: string | null };
    const rows = await this.#all<Row>(READ_ORIGINS, JSON.stringify(ids));
    return rows.map(({ repo, sources, ...row }) => ({
      ...row,
      repo: repo ?? undefined,
      sources: sources === null ? undefined : parseSources(sources),
    }));
  }

  async readRuns(ids: readonly RunId[]) {
    const rows = await this.#all<BodyRow & { number: number }>(READ_RUNS, JSON.stringify(ids));
    return rows.map(({ body, number }) => parseRun(body, number));
  }

  async readContents(hashes: readonly string[]) {
    const rows = await this.#all<BodyRow & { hash: string }>(READ_CONTENTS, JSON.stringify(hashes));
    return new Map(rows.map(({ hash, body }) => [hash, parseContent(body)]));
  }

  async readQuestions(ids: readonly QuestionId[]) {
    return (await this.#all<BodyRow>(READ_QUESTIONS, JSON.stringify(ids))).map(({ body }) => parseQuestion(body));
  }

  async findQuestion(id: QuestionId) {
    const row = await this.#get<BodyRow>(FIND_QUESTION, id);
    return row && parseQuestion(row.body);
  }

  async findQuestionByKey(runId: RunId, key: string) {
    const row = await this.#get<BodyRow>(FIND_BY_KEY, runId, key);
    return row && parseQuestion(row.body);
  }

  async findContent(hash: string) {
    const row = await this.#get<BodyRow>(FIND_CONTENT, hash);
    return row && parseContent(row.body);
  }

  async findEntry(kind: Entry["kind"], id: string) {
    const row = await this.#get<EntryRow>(FIND_ENTRY, kind, id);
    return row && parseEntry(row);
  }

  async readEntries(kind: Entry["kind"], ids: readonly string[]) {
    return (await this.#all<EntryRow>(READ_ENTRIES, kind, JSON.stringify(ids))).map(parseEntry);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage) {
    return this.#connection.read(() => listEntries(this.#connection, { kind, parent, page }, this.#entries));
  }

  listRuns(filter: RunFilter) {
    return this.#connection.read(() => listRuns(this.#connection, filter));
  }

  listQuestions(filter: QuestionFilter) {
    return this.#connection.read(() => listQuestions(this.#connection, filter, this.#rows));
  }

  findAnswered(words: readonly string[], limit: number) {
    return this.#connection.read(() => findAnswered(this.#connection, words, limit));
  }

  indexWords(limit: number) {
    return indexWords(this.#connection, limit);
  }

  async countQuestions(status: Question["status"]) {
    const counted = status === "answered" ? this.#get<CountRow>(COUNT_ANSWERED) : this.#get<CountRow>(COUNT, status);
    return (await counted)?.count ?? 0;
  }

  lookUp(ref: NameReference, limit: number) {
    return this.#connection.read(() => lookUp(this.#connection, ref, limit));
  }

  async readFeed(after: string, limit: number) {
    return (await this.#all<EventRow>(FEED, Number(after), limit)).map(parseEvent);
  }

  async findFeedEnd() {
    const [row] = await this.#all<{ seq: number }>("select coalesce(max(seq), 0) as seq from event");
    return String(row?.seq ?? 0);
  }

  async readTrailPage({ before, runId, limit }: TrailFilter) {
    const end = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
    const rows =
      runId === undefined
        ? await this.#all<EventRow>(BACK, end, limit)
        : await this.#all<EventRow>(CHAIN_BACK, runId, end, limit);
    return rows.map(parseEvent);
  }

  readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }> {
    return this.#connection.snapshot(() => ({
      events: this.#connection.prepare<EventRow>(CHAIN).all(runId).map(parseEvent),
      head: this.#connection.prepare<{ n: number; hash: string }>(HEAD).get(runId) ?? { n: 0, hash: CHAIN_START },
    }));
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>(SEALS, afterN, limit);
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>) {
    return readSqliteSnapshot(this.#connection.path, read);
  }

  claimJobs(filter: ClaimFilter) {
    return claimJobs(this.#connection, filter, this.#now);
  }

  nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">) {
    return this.#connection.read(() => nextJobAt(this.#connection, filter));
  }

  listJobs(limit: number) {
    return this.#connection.read(() => listJobs(this.#connection, limit));
  }

  listFailingJobs(limit: number) {
    return this.#connection.read(() => listFailingJobs(this.#connection, limit));
  }

  async findDamage(depth: "quick" | "whole") {
    if (depth === "whole") return findDamage(this.#connection, "integrity_check");
    const nowMs = performance.now();
    if (this.#looked === undefined || nowMs - this.#looked.atMs > LOOK_AGAIN_MS) {
      this.#looked = { atMs: nowMs, found: findQuickDamage(this.#connection) };
    }
    return this.#looked.found;
  }

  findSchemaDifferences() {
    return findSchemaDifferences(this.#connection);
  }

  async now() {
    return this.#now();
  }

  onChange(listener: (change: StoreChange) => void) {
    const remove = this.#listeners.add(listener);
    this.#watch.update();
    return () => {
      remove();
      this.#watch.update();
    };
  }

  async close() {
    await this.#batcher.idle();
    this.#watch.stop();
    this.#connection.close();
  }

  #get<Row>(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).get(...values));
  }

  #all<Row>(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

function machineTime() {
  return instant(Date.now());
}
