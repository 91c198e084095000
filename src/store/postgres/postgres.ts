import { randomUUID } from "node:crypto";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Question } from "../../core/question/question.ts";
import { Batcher } from "../batch.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { PostgresPool } from "./pool.ts";
import { EVERYTHING, PostgresListener } from "./listen.ts";
import { type ExpectedSchema, findSchemaDifferences, migrate, readExpectedSchema } from "./migrate.ts";
import { EntryCache } from "../entry-cache.ts";
import { QuestionCache } from "../question-cache.ts";
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
import { ENTRY, READ_ENTRIES, READ_QUESTIONS, encodeName, readEntries, readQuestions, readRuns } from "./row.ts";
import { readPostgresSnapshot } from "./snapshot.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import { PostgresWriter } from "./write.ts";
import { parseContent, parseJob, parseOrigin } from "../row.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import type {
  StoreChange,
  ClaimFilter,
  EntryPage,
  KeptJob,
  QuestionFilter,
  NameReference,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

const POOL_SIZE = 10;
/** While the server writes one batch, this process prepares the next and reports the previous. */
const BATCHES_AT_ONCE = 2;
const FITS = "kind = any($1) and (host is null or host = $2) and (agent is null or agent = any($3))";

const KEPT = "select body, attempt, lease_until from job";

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
select now, body, attempt from clock left join claimed on true order by due_at, key`;

export interface PostgresOptions {
  url: string;
  poolSize?: number;
}

/** Opens the store in a PostgreSQL database, creating or migrating its tables. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const pool = new PostgresPool(options.url, options.poolSize ?? POOL_SIZE);
  try {
    await pool.use(migrate);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresStore(pool, options);
}

/** A store in PostgreSQL; any number of nodes may share it. */
class PostgresStore implements Store {
  readonly #pool: PostgresPool;
  readonly #writer: PostgresWriter;
  readonly #rows = new QuestionCache();
  readonly #entries = new EntryCache();
  readonly #listeners = new ChangeListeners();
  /** The same for as long as this program runs. */
  #expectedSchema: ExpectedSchema | undefined;
  readonly #listener: PostgresListener;
  readonly #batcher: Batcher;

  constructor(pool: PostgresPool, options: PostgresOptions) {
    this.#pool = pool;
    const origin = randomUUID();
    const writer = new PostgresWriter(pool, origin);
    const tell = (change: StoreChange) => this.#listeners.notify(change);
    this.#writer = writer;
    this.#listener = new PostgresListener({ url: options.url, origin, tell });
    this.#batcher = new Batcher({ atOnce: BATCHES_AT_ONCE, apply: (batch) => writer.write(batch), tell });
  }

  commit(changes: Changes) {
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes) {
    try {
      return await this.#writer.adopt(changes);
    } finally {
      this.#listeners.notify(EVERYTHING);
    }
  }

  async findRun(id: RunId) {
    const sql = "select body, number from run where id = $1 and number > 0";
    return (await readRuns(this.#pool, sql, [id]))[0];
  }

  async readOrigins(ids: readonly RunId[]) {
    const sql = "select body, number::int4 as number from run where id = any($1) and number > 0";
    const { rows } = await this.#pool.query<{ body: string; number: number }>(sql, [ids]);
    return rows.map(({ body, number }) => parseOrigin(body, number));
  }

  readRuns(ids: readonly RunId[]) {
    return readRuns(this.#pool, "select body, number from run where id = any($1) and number > 0", [ids]);
  }

  async readContents(hashes: readonly string[]) {
    const sql = "select hash, body from content where hash = any($1)";
    const { rows } = await this.#pool.query<{ hash: string; body: string }>(sql, [hashes]);
    return new Map(rows.map(({ hash, body }) => [hash, parseContent(body)]));
  }

  readQuestions(ids: readonly QuestionId[]) {
    return readQuestions(this.#pool, READ_QUESTIONS, [ids]);
  }

  async findQuestion(id: QuestionId) {
    return (await readQuestions(this.#pool, "select body from question where id = $1", [id]))[0];
  }

  async findQuestionByKey(runId: RunId, key: string) {
    const sql = "select body from question where run_id = $1 and key = $2";
    return (await readQuestions(this.#pool, sql, [runId, encodeName(key)]))[0];
  }

  async findContent(hash: string) {
    const { rows } = await this.#pool.query<{ body: string }>("select body from content where hash = $1", [hash]);
    return rows[0] && parseContent(rows[0].body);
  }

  async findEntry(kind: Entry["kind"], id: string) {
    return (await readEntries(this.#pool, `${ENTRY} where kind = $1 and id = $2`, [kind, encodeName(id)]))[0];
  }

  readEntries(kind: Entry["kind"], ids: readonly string[]) {
    return readEntries(this.#pool, READ_ENTRIES, [kind, ids.map(encodeName)]);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage) {
    return listEntries(this.#pool, { kind, parent, page }, this.#entries);
  }

  listRuns(filter: RunFilter) {
    return listRuns(this.#pool, filter);
  }

  listQuestions(filter: QuestionFilter) {
    return listQuestions(this.#pool, filter, this.#rows);
  }

  findAnswered(words: readonly string[], limit: number) {
    return findAnswered(this.#pool, words, limit);
  }

  indexWords(limit: number) {
    return indexWords(this.#pool, limit);
  }

  countQuestions(status: Question["status"]) {
    return countQuestions(this.#pool, status);
  }

  lookUp(ref: NameReference, limit: number) {
    return lookUp(this.#pool, ref, limit);
  }

  readFeed(after: string, limit: number) {
    return readFeed(this.#pool, after, limit);
  }

  findFeedEnd() {
    return findFeedEnd(this.#pool);
  }

  readTrailPage(filter: TrailFilter) {
    return readTrailPage(this.#pool, filter);
  }

  readChain(runId: RunId) {
    return readChain(this.#pool, runId);
  }

  async listSeals(afterN: number, limit: number) {
    const sql = "select n, hash, body from seal where n > $1 order by n limit $2";
    return (await this.#pool.query<Seal>(sql, [afterN, limit])).rows;
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>) {
    return this.#pool.use((client) => readPostgresSnapshot(client, read));
  }

  /** By the database's clock. */
  async claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
    const { kinds, host, agents, leaseMs, worker, limit } = filter;
    const { rows } = await this.#pool.query<{ now: string; body: string | null; attempt: number }>({
      name: "askd_claim",
      text: CLAIM,
      values: [kinds, host, agents, leaseMs, worker, limit],
    });
    const jobs = rows.flatMap(({ body, attempt }) => (body === null ? [] : [{ ...parseJob(body), attempt }]));
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

  async #readJobs(sql: string, limit: number): Promise<KeptJob[]> {
    const { rows } = await this.#pool.query<{ body: string; attempt: number; lease_until: string | null }>(sql, [
      limit,
    ]);
    return rows.map(({ body, attempt, lease_until: leaseUntil }) => ({
      ...parseJob(body),
      attempt,
      leaseUntil: leaseUntil === null ? undefined : Instant.parse(leaseUntil),
    }));
  }
}
