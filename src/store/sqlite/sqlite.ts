import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Refusal } from "../../core/refusal.ts";
import { compareVersion } from "../schema.ts";
import { findReadOnly } from "./read-only.ts";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { instant, type Instant } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { Batcher } from "../batch.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { type EntryRow, entryName, getEntry, parseEntry, parseOrigin, readContent, runName, toRun } from "../row.ts";
import { Connection } from "./connection.ts";
import { SqliteArchive, archiveLines } from "./archive.ts";
import { createStore } from "./create.ts";
import { EntryCache } from "../entry-cache.ts";
import { QuestionCache, getQuestion, readQuestions } from "../question-cache.ts";
import { findDamage, findQuickDamage } from "./damage.ts";
import { requireOwnFolder, requireShortPath, restrictPermissions, prepareFiles } from "./store-files.ts";
import { claimJobs, listFailingJobs, listJobs, nextJobAt } from "./job.ts";
import { READ_ENTRIES, READ_QUESTIONS, SqliteTrail, listEntries, listQuestions, listRuns, lookUp } from "./read.ts";
import { SCHEMA, findSchemaDifferences, migrate, readMeta } from "./schema.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import type { ArchivableRow, ArchiveLimit } from "../archive.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import { readSqliteSnapshot } from "./snapshot.ts";
import { SqliteWatch } from "./watch.ts";
import { prepareAdopted, prepareCommit } from "../prepare.ts";
import { deleteRows, putLostRows, restoreRows, SqliteWriter } from "./write.ts";
import type {
  StoreChange,
  ClaimFilter,
  DamagedRows,
  EntryPage,
  RunOrigin,
  QuestionFilter,
  NameReference,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

const FIND_RUN = "select id, number, body from run where id = ? and +number > 0";
const READ_RUNS = `select id, number, body from run
  where id in (select value from json_each(?)) and +number > 0`;
const READ_CONTENTS = "select hash, body from content where hash in (select value from json_each(?))";
const FIND_QUESTION = "select id, body from question where id = ?";
const FIND_BY_KEY = "select id, body from question where run_id = ? and key = ?";
const FIND_CONTENT = "select body from content where hash = ?";
const FIND_ENTRY = "select kind, id, parent, version, body from entry where kind = ? and id = ?";
const COUNT = "select count(*) as count from question where status = ? and status <> 'answered'";
// Questions are never deleted, so the last row is their count: most are answered and not in the index.
const COUNT_ANSWERED = `select coalesce(max("row"), 0)
  - (select count(*) from question where status <> 'answered') as count from question`;
const SEALS = "select n, hash, body from seal where n > ? order by n limit ?";

/** How long the result of a quick check is cached. */
const LOOK_AGAIN_MS = 10_000;

interface CountRow {
  count: number;
}

type RunBody = ArchivableRow & { number: number };

export interface SqliteOptions {
  /** Writes nothing, neither to the file nor beside it; every change is refused. */
  isReadOnly?: boolean;
  /** The clock for due jobs and leases; this machine's by default. */
  now?: () => Instant;
}

/** Opens the store in that file, creating it if missing. */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { now = machineTime, isReadOnly = false } = options;
  requireShortPath(resolve(path));
  if (isReadOnly || findReadOnly(resolve(path))) return openReadOnly(resolve(path), { isReadOnly });
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
async function openReadOnly(path: string, { isReadOnly }: { isReadOnly: boolean }): Promise<Store> {
  if (!existsSync(path)) {
    throw new Refusal("not_found", `There is no store at ${path}`, {
      hint: "Name the file with --store sqlite:<path>",
    });
  }
  requireOwnFolder(dirname(path));
  const connection = await (isReadOnly ? Connection.lookUntouched(path) : Connection.look(path));
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
  readonly #rows: QuestionCache;
  readonly #entries = new EntryCache();
  readonly #archive: SqliteArchive;
  readonly #trail: SqliteTrail;
  readonly #watch: SqliteWatch;
  readonly #batcher: Batcher;

  readonly #now: () => Instant;
  /** The cached result of the last quick check. */
  #looked: { atMs: number; found: Promise<string[]> } | undefined;

  constructor(connection: Connection, wake: string, now: () => Instant) {
    const writer = new SqliteWriter(connection);
    this.#writer = writer;
    this.#connection = connection;
    this.#rows = new QuestionCache(connection.unreadable);
    this.#archive = new SqliteArchive(connection);
    this.#trail = new SqliteTrail(connection, this.#archive);
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

  async replaceDamaged(gone: DamagedRows, changes: Changes) {
    const commit = prepareCommit(changes);
    const committed = await this.#connection.transact(() => {
      deleteRows(this.#connection, gone);
      putLostRows(this.#connection, gone);
      const [result] = this.#writer.write([commit], this.#now());
      if (!result?.ok) throw new Error(`damaged rows could not be replaced: ${result?.why ?? "newer_schema"}`);
      return result;
    });
    this.#watch.touch();
    this.#listeners.notify({ questions: new Set(), dueAt: undefined, all: true });
    return committed;
  }

  async findRun(id: RunId) {
    const row = await this.#getRow<RunBody>(FIND_RUN, id);
    return row && this.#unreadable.get(row, runName, toRun);
  }

  async readOrigins(ids: readonly RunId[]): Promise<RunOrigin[]> {
    const rows = await this.#allRows<RunBody>(READ_RUNS, JSON.stringify(ids));
    return this.#unreadable.read(rows, runName, ({ body, number }) => parseOrigin(body, number));
  }

  async readRuns(ids: readonly RunId[]) {
    const rows = await this.#allRows<RunBody>(READ_RUNS, JSON.stringify(ids));
    return this.#unreadable.read(rows, runName, toRun);
  }

  async readContents(hashes: readonly string[]) {
    const rows = await this.#all<{ hash: string; body: string }>(READ_CONTENTS, JSON.stringify(hashes));
    const texts = new Map(rows.map(({ hash, body }) => [hash, body]));
    const missing = hashes.filter((hash) => !texts.has(hash));
    const archived = await this.#connection.read(() => this.#archive.findContents(missing));
    const all = [...texts, ...archived];
    return new Map(all.map(([hash, body]) => [hash, readContent(this.#unreadable, { hash, body })]));
  }

  async readQuestions(ids: readonly QuestionId[]) {
    return readQuestions(this.#unreadable, await this.#allRows<ArchivableRow>(READ_QUESTIONS, JSON.stringify(ids)));
  }

  async findQuestion(id: QuestionId) {
    const row = await this.#getRow<ArchivableRow>(FIND_QUESTION, id);
    return row && getQuestion(this.#unreadable, row);
  }

  async findQuestionByKey(runId: RunId, key: string) {
    const row = await this.#getRow<ArchivableRow>(FIND_BY_KEY, runId, key);
    return row && getQuestion(this.#unreadable, row);
  }

  async findContent(hash: string) {
    const row = await this.#get<{ body: string }>(FIND_CONTENT, hash);
    return row ? readContent(this.#unreadable, { hash, body: row.body }) : (await this.readContents([hash])).get(hash);
  }

  async findEntry(kind: Entry["kind"], id: string) {
    const row = await this.#get<EntryRow>(FIND_ENTRY, kind, id);
    return row && getEntry(this.#unreadable, row);
  }

  async readEntries(kind: Entry["kind"], ids: readonly string[]) {
    const rows = await this.#all<EntryRow>(READ_ENTRIES, kind, JSON.stringify(ids));
    return this.#unreadable.read(rows, entryName, parseEntry);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage) {
    const list = (part: EntryPage | undefined) =>
      this.#connection.read(() => listEntries(this.#connection, { kind, parent, page: part }, this.#entries));
    return page ? this.#unreadable.fillPage(page.limit, (limit) => list({ ...page, limit })) : list(undefined);
  }

  listRuns(filter: RunFilter) {
    return this.#unreadable.fillPage(filter.limit, (limit) =>
      this.#connection.read(() => listRuns(this.#connection, { ...filter, limit }, this.#archive)),
    );
  }

  listQuestions(filter: QuestionFilter) {
    const how = { reader: this.#rows, archive: this.#archive };
    return this.#unreadable.fillPage(filter.limit, (limit) =>
      this.#connection.read(() => listQuestions(this.#connection, { ...filter, limit }, how)),
    );
  }

  findAnswered(words: readonly string[], limit: number) {
    return this.#connection.read(() => findAnswered(this.#connection, words, limit));
  }

  indexWords(limit: number) {
    return indexWords(this.#connection, limit, this.#archive);
  }

  async countQuestions(status: Question["status"]) {
    const counted = status === "answered" ? this.#get<CountRow>(COUNT_ANSWERED) : this.#get<CountRow>(COUNT, status);
    return (await counted)?.count ?? 0;
  }

  lookUp(ref: NameReference, limit: number) {
    return this.#connection.read(() => lookUp(this.#connection, ref, { limit, archive: this.#archive }));
  }

  readFeed(after: string, limit: number) {
    return this.#trail.readFeed(after, limit);
  }

  findFeedEnd() {
    return this.#trail.findEnd();
  }

  readTrailPage(filter: TrailFilter) {
    return this.#trail.readPage(filter);
  }

  readChain(runId: RunId) {
    return this.#trail.readChain(runId);
  }

  listSeals(afterN: number, limit: number) {
    return this.#all<Seal>(SEALS, afterN, limit);
  }

  archive(limit: ArchiveLimit) {
    return archiveLines(this.#connection, limit);
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>) {
    return readSqliteSnapshot(this.#connection, read);
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

  reportLost(name: string) {
    this.#unreadable.report(name);
  }

  listUnreadable() {
    return this.#unreadable.list();
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

  async #getRow<Row extends ArchivableRow>(sql: string, ...values: Array<string | number>) {
    const row = await this.#get<Row>(sql, ...values);
    return row && this.#connection.read(() => this.#archive.fillRow(row));
  }

  async #allRows<Row extends ArchivableRow>(sql: string, ...values: Array<string | number>) {
    const rows = await this.#all<Row>(sql, ...values);
    return this.#connection.read(() => this.#archive.fill(rows));
  }

  get #unreadable() {
    return this.#connection.unreadable;
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
