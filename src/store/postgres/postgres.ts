import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import type { Content } from "../../core/question/content.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { Batcher } from "../batch.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { decodeApplied, encodeBatch } from "./encode-batch.ts";
import { claimJobs, listFailingJobs, listJobs, nextJobAt } from "./job.ts";
import { PostgresPool } from "./pool.ts";
import { PostgresListener } from "./listen.ts";
import { adoptRows } from "./adopt.ts";
import { prepareAdopted } from "../prepare.ts";
import { type ExpectedSchema, findSchemaDifferences, readExpectedSchema } from "./schema-check.ts";
import type { SchemaDifference } from "../schema-difference.ts";
import { migrate } from "./migrate.ts";
import { EntryCache } from "../entry-cache.ts";
import { QuestionCache } from "../question-cache.ts";
import {
  ENTRY,
  READ_ENTRIES,
  READ_QUESTIONS,
  countQuestions,
  listEntries,
  listQuestions,
  listRuns,
  lookUp,
  readChain,
  readEntries,
  findFeedEnd,
  readTrailPage,
  readFeed,
  readQuestions,
  readRuns,
} from "./read.ts";
import { readPostgresSnapshot } from "./snapshot.ts";
import { encodeName } from "./stored-name.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import type { PreparedCommit } from "../prepare.ts";
import { parseOrigin, parseContent } from "../row.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import type {
  StoreChange,
  ClaimFilter,
  CommitResult,
  EntryPage,
  KeptJob,
  RunOrigin,
  QuestionFilter,
  NameReference,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

const POOL_SIZE = 10;
/** While the server writes one batch, this process prepares the next and reports the previous. */
const BATCHES_AT_ONCE = 2;
/** A conflict in a batch: a taken name, or a changed row. */
const IN_THE_WAY = new Set(["23505", "AK001"]);
/** Deadlock or lost race for a name: a retry sees the other's write. */
const RACES = new Set(["40001", "40P01", "23505"]);
const RACE_TRIES = 3;

export interface PostgresOptions {
  url: string;
  poolSize?: number;
}

/** Opens the store in a PostgreSQL database, creating or migrating its tables. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const pool = new PostgresPool(options.url, options.poolSize ?? POOL_SIZE);
  try {
    await pool.use((client) => migrate(client));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresStore(pool, options);
}

/** A store in PostgreSQL; any number of nodes may share it. */
export class PostgresStore implements Store {
  readonly #pool: PostgresPool;
  readonly #origin = randomUUID();
  readonly #rows = new QuestionCache();
  readonly #entries = new EntryCache();
  readonly #listeners = new ChangeListeners();
  /** The same for as long as this program runs. */
  #expectedSchema: ExpectedSchema | undefined;
  readonly #listener: PostgresListener;
  readonly #batcher: Batcher;

  constructor(pool: PostgresPool, options: PostgresOptions) {
    this.#pool = pool;
    const tell = (change: StoreChange): void => this.#listeners.notify(change);
    this.#listener = new PostgresListener({ url: options.url, origin: this.#origin, tell });
    this.#batcher = new Batcher({ atOnce: BATCHES_AT_ONCE, apply: (batch) => this.#apply(batch), tell });
  }

  commit(changes: Changes): Promise<CommitResult> {
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes): Promise<CommitResult> {
    const commit = prepareAdopted(changes);
    const params = encodeBatch([commit], { origin: this.#origin, isCareful: true });
    try {
      const committed = await this.#pool.use((client) =>
        adoptRows(client, changes, async () => {
          const { rows } = await client.query<{ applied: unknown }>(applyText(params), params);
          return decodeApplied([commit], rows[0]?.applied)[0];
        }),
      );
      return committed ?? { ok: false, why: "newer_schema" };
    } finally {
      this.#listeners.notify({ questions: new Set(), dueAt: undefined, all: true });
    }
  }

  async findRun(id: RunId): Promise<Run | undefined> {
    const sql = "select body, number from run where id = $1 and number > 0";
    return (await readRuns(this.#pool, sql, [id]))[0];
  }

  async readOrigins(ids: readonly RunId[]): Promise<RunOrigin[]> {
    const sql = "select body from run where id = any($1) and number > 0";
    const { rows } = await this.#pool.query<{ body: string }>(sql, [ids]);
    return rows.map(({ body }) => parseOrigin(body));
  }

  readRuns(ids: readonly RunId[]): Promise<Run[]> {
    return readRuns(this.#pool, "select body, number from run where id = any($1) and number > 0", [ids]);
  }

  async readContents(hashes: readonly string[]): Promise<Map<string, Content>> {
    const sql = "select hash, body from content where hash = any($1)";
    const { rows } = await this.#pool.query<{ hash: string; body: string }>(sql, [hashes]);
    return new Map(rows.map(({ hash, body }) => [hash, parseContent(body)]));
  }

  readQuestions(ids: readonly QuestionId[]): Promise<Question[]> {
    return readQuestions(this.#pool, READ_QUESTIONS, [ids]);
  }

  async findQuestion(id: QuestionId): Promise<Question | undefined> {
    return (await readQuestions(this.#pool, "select body from question where id = $1", [id]))[0];
  }

  async findQuestionByKey(runId: RunId, key: string): Promise<Question | undefined> {
    const sql = "select body from question where run_id = $1 and key = $2";
    return (await readQuestions(this.#pool, sql, [runId, encodeName(key)]))[0];
  }

  async findContent(hash: string): Promise<Content | undefined> {
    const { rows } = await this.#pool.query<{ body: string }>("select body from content where hash = $1", [hash]);
    return rows[0] && parseContent(rows[0].body);
  }

  async findEntry(kind: Entry["kind"], id: string): Promise<Entry | undefined> {
    return (await readEntries(this.#pool, `${ENTRY} where kind = $1 and id = $2`, [kind, encodeName(id)]))[0];
  }

  readEntries(kind: Entry["kind"], ids: readonly string[]): Promise<Entry[]> {
    return readEntries(this.#pool, READ_ENTRIES, [kind, ids.map(encodeName)]);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage): Promise<Entry[]> {
    return listEntries(this.#pool, { kind, parent, page }, this.#entries);
  }

  listRuns(filter: RunFilter): Promise<Run[]> {
    return listRuns(this.#pool, filter);
  }

  listQuestions(filter: QuestionFilter): Promise<Question[]> {
    return listQuestions(this.#pool, filter, this.#rows);
  }

  findAnswered(words: readonly string[], limit: number): Promise<QuestionId[][]> {
    return findAnswered(this.#pool, words, limit);
  }

  indexWords(limit: number): Promise<number> {
    return indexWords(this.#pool, limit);
  }

  countQuestions(status: Question["status"]): Promise<number> {
    return countQuestions(this.#pool, status);
  }

  lookUp(ref: NameReference, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    return lookUp(this.#pool, ref, limit);
  }

  readFeed(after: string, limit: number): Promise<KeptEvent[]> {
    return readFeed(this.#pool, after, limit);
  }

  findFeedEnd(): Promise<string> {
    return findFeedEnd(this.#pool);
  }

  readTrailPage(filter: TrailFilter): Promise<KeptEvent[]> {
    return readTrailPage(this.#pool, filter);
  }

  readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }> {
    return readChain(this.#pool, runId);
  }

  async listSeals(afterN: number, limit: number): Promise<Seal[]> {
    const sql = "select n, hash, body from seal where n > $1 order by n limit $2";
    return (await this.#pool.query<Seal>(sql, [afterN, limit])).rows;
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result> {
    return this.#pool.use((client) => readPostgresSnapshot(client, read));
  }

  claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
    return claimJobs(this.#pool, filter);
  }

  nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Promise<Instant | undefined> {
    return nextJobAt(this.#pool, filter);
  }

  listJobs(limit: number): Promise<KeptJob[]> {
    return listJobs(this.#pool, limit);
  }

  listFailingJobs(limit: number): Promise<KeptJob[]> {
    return listFailingJobs(this.#pool, limit);
  }

  /** PostgreSQL checks its files itself: it refuses to read damaged ones. */
  async findDamage(): Promise<string[]> {
    return [];
  }

  findSchemaDifferences(): Promise<SchemaDifference[]> {
    return this.#pool.use(async (client) => {
      this.#expectedSchema ??= await readExpectedSchema(client);
      return findSchemaDifferences(client, this.#expectedSchema);
    });
  }

  async now(): Promise<Instant> {
    const { rows } = await this.#pool.query<{ now: string }>("select askd_instant(0) as now");
    return Instant.parse(rows[0]?.now);
  }

  onChange(listener: (change: StoreChange) => void): () => void {
    this.#listener.start();
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    await this.#batcher.idle();
    await this.#listener.close();
    await this.#pool.end();
  }

  async #apply(batch: readonly PreparedCommit[]): Promise<CommitResult[]> {
    let isCareful = false;
    for (let tries = 1; ; tries += 1) {
      try {
        return decodeApplied(batch, await this.#send(encodeBatch(batch, { origin: this.#origin, isCareful })));
      } catch (error) {
        const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
        const mayGoOn = !isCareful && IN_THE_WAY.has(code);
        if (!mayGoOn && (!RACES.has(code) || batch.length > 1 || tries > RACE_TRIES)) throw error;
        isCareful = true;
      }
    }
  }

  #send(params: unknown[]): Promise<unknown> {
    return this.#pool.use(async (client) => {
      const text = applyText(params);
      const { rows } = await client.query<{ applied: unknown }>({ name: "askd_apply", text, values: params });
      return rows[0]?.applied;
    });
  }
}

function applyText(params: readonly unknown[]): string {
  return `select askd_apply(${params.map((_, index) => `$${index + 1}`).join(", ")}) as applied`;
}
