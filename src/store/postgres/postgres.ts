import { randomUUID } from "node:crypto";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Question } from "../../core/question/question.ts";
import { Batcher } from "../batch.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { readOnlyRefusal } from "../read-only.ts";
import type { ArchivableRow, ArchiveLimit } from "../archive.ts";
import { PostgresArchive, archiveLines } from "./archive.ts";
import { PostgresPool } from "./pool.ts";
import { splitAddress } from "./connect.ts";
import { FeedPoll } from "./feed-poll.ts";
import { EVERYTHING, PostgresListener } from "./listen.ts";
import { type ExpectedSchema, findSchemaDifferences, migrate, readExpectedSchema, requireCurrent } from "./migrate.ts";
import { EntryCache } from "../entry-cache.ts";
import { QuestionCache, getQuestion } from "../question-cache.ts";
import {
  countQuestions,
  listEntries,
  listQuestions,
  listRuns,
  lookUp,
  readChain,
  findFeedEnd,
  readTrailPage,
  readFeed,
} from "./read.ts";
import {
  ENTRY,
  READ_ENTRIES,
  READ_QUESTIONS,
  decodeEntry,
  encodeName,
  readEntries,
  readQuestions,
  readRuns,
} from "./row.ts";
import { readPostgresSnapshot } from "./snapshot.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import { PostgresWriter } from "./write.ts";
import {
  type EntryRow,
  type JobText,
  type RunText,
  getEntry,
  jobName,
  parseOrigin,
  readContent,
  runName,
  toJob,
  toRun,
} from "../row.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import type {
  StoreChange,
  ClaimFilter,
  DamagedRows,
  EntryPage,
  KeptJob,
  QuestionFilter,
  NameReference,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

/** The most connections of a process; a small server gives fewer. */
const POOL_SIZE = 10;
/** While the server writes one batch, this process prepares the next and reports the previous. */
const BATCHES_AT_ONCE = 2;
const FITS = "kind = any($1) and (host is null or host = $2) and (agent is null or agent = any($3))";

const KEPT = "select key, body, attempt, lease_until from job";

// Rows locked by another worker are skipped, never waited for.
const CLAIM = `
with clock as materialized (select askd_instant(0) as now, askd_instant($4) as lease_until),
due as (
  select key from job, clock where ready_at <= now and ${FITS}
  order by ready_at, key limit $6 for update of job skip locked
),
claimed as (
  update job set ready_at = greatest(due_at, clock.lease_until), claimed_by = $5, lease_until = clock.lease_until,
    attempt = nextval('job_attempt')
  from due, clock where job.key = due.key
  returning job.key, body, attempt, due_at
)
select now, key, body, attempt from clock left join claimed on true order by due_at, key`;

interface ClaimedRow {
  now: string;
  key: string;
  body: string | null;
  attempt: number;
}

export interface PostgresOptions {
  url: string;
  poolSize?: number;
  /** Creates and migrates nothing; every change is refused. */
  isReadOnly?: boolean;
}

/** Opens the store in a PostgreSQL database, creating or migrating its tables. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { isReadOnly = false } = options;
  const pool = new PostgresPool(options.url, options.poolSize ?? POOL_SIZE);
  try {
    await pool.open();
    await pool.use(isReadOnly ? requireCurrent : migrate);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresStore(pool, options);
}

/** A store in PostgreSQL; any number of nodes may share it. */
class PostgresStore implements Store {
  readonly #pool: PostgresPool;
  readonly #archive: PostgresArchive;
  readonly #writer: PostgresWriter;
  readonly #rows: QuestionCache;
  readonly #entries = new EntryCache();
  readonly #listeners = new ChangeListeners();
  /** The same for as long as this program runs. */
  #expectedSchema: ExpectedSchema | undefined;
  readonly #listener: Pick<PostgresListener, "start" | "close">;
  readonly #batcher: Batcher;
  readonly #isReadOnly: boolean;

  constructor(pool: PostgresPool, options: PostgresOptions) {
    this.#pool = pool;
    this.#rows = new QuestionCache(pool.unreadable);
    this.#archive = new PostgresArchive(pool);
    this.#isReadOnly = options.isReadOnly ?? false;
    const origin = randomUUID();
    const writer = new PostgresWriter(pool, origin);
    const tell = (change: StoreChange) => this.#listeners.notify(change);
    this.#writer = writer;
    const { listenUrl } = splitAddress(options.url);
    this.#listener =
      pool.isPooled && listenUrl === undefined
        ? new FeedPoll({ findEnd: () => findFeedEnd(pool), tell })
        : new PostgresListener({ url: listenUrl ?? options.url, origin, tell });
    this.#batcher = new Batcher({ atOnce: BATCHES_AT_ONCE, apply: (batch) => writer.write(batch), tell });
  }

  async commit(changes: Changes) {
    this.#requireWritable();
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes) {
    this.#requireWritable();
    try {
      return await this.#writer.adopt(changes);
    } finally {
      this.#listeners.notify(EVERYTHING);
    }
  }

  async replaceDamaged(gone: DamagedRows, changes: Changes) {
    this.#requireWritable();
    try {
      return await this.#writer.replaceDamaged(gone, changes);
    } finally {
      this.#listeners.notify(EVERYTHING);
    }
  }

  async findRun(id: RunId) {
    const sql = "select id, body, number from run where id = $1 and number > 0";
    const [row] = await this.#archive.select<ArchivableRow & RunText>(sql, [id]);
    return row && this.#pool.unreadable.get(row, runName, toRun);
  }

  async readOrigins(ids: readonly RunId[]) {
    const sql = "select id, body, number::int4 as number from run where id = any($1) and number > 0";
    const rows = await this.#archive.select<ArchivableRow & RunText>(sql, [ids]);
    return this.#pool.unreadable.read(rows, runName, ({ body, number }) => parseOrigin(body, number));
  }

  readRuns(ids: readonly RunId[]) {
    return readRuns(this.#archive, "select id, body, number from run where id = any($1) and number > 0", [ids]);
  }

  async readContents(hashes: readonly string[]) {
    const sql = "select hash, body from content where hash = any($1)";
    const { rows } = await this.#pool.query<{ hash: string; body: string }>(sql, [hashes]);
    const texts = new Map(rows.map(({ hash, body }) => [hash, body]));
    const archived = await this.#archive.findContents(hashes.filter((hash) => !texts.has(hash)));
    const all = [...texts, ...archived];
    return new Map(all.map(([hash, body]) => [hash, readContent(this.#pool.unreadable, { hash, body })]));
  }

  readQuestions(ids: readonly QuestionId[]) {
    return readQuestions(this.#archive, READ_QUESTIONS, [ids]);
  }

  async findQuestion(id: QuestionId) {
    return this.#findQuestion("select id, body from question where id = $1", [id]);
  }

  async findQuestionByKey(runId: RunId, key: string) {
    const sql = "select id, body from question where run_id = $1 and key = $2";
    return this.#findQuestion(sql, [runId, encodeName(key)]);
  }

  async findContent(hash: string) {
    return (await this.readContents([hash])).get(hash);
  }

  async findEntry(kind: Entry["kind"], id: string) {
    const sql = `${ENTRY} where kind = $1 and id = $2`;
    const { rows } = await this.#pool.query<EntryRow>(sql, [kind, encodeName(id)]);
    return rows[0] && getEntry(this.#pool.unreadable, decodeEntry(rows[0]));
  }

  readEntries(kind: Entry["kind"], ids: readonly string[]) {
    return readEntries(this.#pool, READ_ENTRIES, [kind, ids.map(encodeName)]);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage) {
    const list = (part: EntryPage | undefined) => listEntries(this.#pool, { kind, parent, page: part }, this.#entries);
    return page ? this.#pool.unreadable.fillPage(page.limit, (limit) => list({ ...page, limit })) : list(undefined);
  }

  listRuns(filter: RunFilter) {
    return this.#pool.unreadable.fillPage(filter.limit, (limit) => listRuns(this.#archive, { ...filter, limit }));
  }

  listQuestions(filter: QuestionFilter) {
    return this.#pool.unreadable.fillPage(filter.limit, (limit) =>
      listQuestions(this.#archive, { ...filter, limit }, this.#rows),
    );
  }

  findAnswered(words: readonly string[], limit: number) {
    return findAnswered(this.#pool, words, limit);
  }

  async indexWords(limit: number) {
    this.#requireWritable();
    return indexWords(this.#pool, limit);
  }

  countQuestions(status: Question["status"]) {
    return countQuestions(this.#pool, status);
  }

  lookUp(ref: NameReference, limit: number) {
    return lookUp(this.#archive, ref, limit);
  }

  readFeed(after: string, limit: number) {
    return this.#pool.unreadable.fillPage(limit, (count) => readFeed(this.#archive, after, count));
  }

  findFeedEnd() {
    return findFeedEnd(this.#pool);
  }

  readTrailPage(filter: TrailFilter) {
    return this.#pool.unreadable.fillPage(filter.limit, (limit) => readTrailPage(this.#archive, { ...filter, limit }));
  }

  readChain(runId: RunId) {
    return readChain(this.#archive, runId);
  }

  async listSeals(afterN: number, limit: number) {
    const sql = "select n, hash, body from seal where n > $1 order by n limit $2";
    return (await this.#pool.query<Seal>(sql, [afterN, limit])).rows;
  }

  async archive(limit: ArchiveLimit) {
    this.#requireWritable();
    return archiveLines(this.#pool, limit);
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>) {
    return this.#pool.use((client) => readPostgresSnapshot(client, read));
  }

  /** By the database's clock. */
  async claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
    this.#requireWritable();
    const { kinds, host, agents, leaseMs, worker, limit } = filter;
    const { rows } = await this.#pool.query<ClaimedRow>(
      this.#pool.prepared("askd_claim", CLAIM, [kinds, host, agents, leaseMs, worker, limit]),
    );
    const claimed = rows.flatMap(({ key, body, attempt }) => (body === null ? [] : [{ key, body, attempt }]));
    const jobs = this.#pool.unreadable.read(claimed, jobName, (row) => ({ ...toJob(row), attempt: row.attempt }));
    return { now: Instant.parse(rows[0]?.now), jobs };
  }

  async nextJobAt({ kinds, host, agents }: Pick<ClaimFilter, "kinds" | "host" | "agents">) {
    const sql = `select ready_at from job where ${FITS} order by ready_at limit 1`;
    const { rows } = await this.#pool.query<{ ready_at: string }>(sql, [kinds, host, agents]);
    return rows[0] && Instant.parse(rows[0].ready_at);
  }

  listJobs(limit: number) {
    return this.#readJobs(`${KEPT} order by ready_at, key limit $1`, limit);
  }

  listFailingJobs(limit: number) {
    // Few jobs fail and the list is rarely read: scanning the text of all jobs is cheaper than an index on every write.
    return this.#readJobs(`${KEPT} where position('"failure":{' in body) > 0 order by ready_at, key limit $1`, limit);
  }

  /** PostgreSQL checks its files itself: it refuses to read damaged ones. */
  async findDamage(): Promise<string[]> {
    return [];
  }

  reportLost(name: string) {
    this.#pool.unreadable.report(name);
  }

  listUnreadable() {
    return this.#pool.unreadable.list();
  }

  findSchemaDifferences() {
    return this.#pool.use(async (client) => {
      this.#expectedSchema ??= await readExpectedSchema(client);
      return findSchemaDifferences(client, this.#expectedSchema);
    });
  }

  async now() {
    const { rows } = await this.#pool.query<{ now: string }>("select askd_instant(0) as now");
    return Instant.parse(rows[0]?.now);
  }

  onChange(listener: (change: StoreChange) => void) {
    this.#listener.start();
    return this.#listeners.add(listener);
  }

  async close() {
    await this.#batcher.idle();
    await this.#listener.close();
    await this.#pool.end();
  }

  #requireWritable() {
    if (this.#isReadOnly) throw readOnlyRefusal();
  }

  async #readJobs(sql: string, limit: number): Promise<KeptJob[]> {
    const { rows } = await this.#pool.query<JobText & { attempt: number; lease_until: string | null }>(sql, [limit]);
    return this.#pool.unreadable.read(rows, jobName, ({ attempt, lease_until: leaseUntil, ...row }) => ({
      ...toJob(row),
      attempt,
      leaseUntil: leaseUntil === null ? undefined : Instant.parse(leaseUntil),
    }));
  }

  async #findQuestion(sql: string, params: unknown[]) {
    const [row] = await this.#archive.select<ArchivableRow>(sql, params);
    return row && getQuestion(this.#pool.unreadable, row);
  }
}
