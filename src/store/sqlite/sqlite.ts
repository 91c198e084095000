import { resolve } from "node:path";
import type { Changes, Entry, Seal } from "../../core/changes.ts";
import type { Content } from "../../core/question/content.ts";
import { CHAIN_START, type KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { instant, type Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { Batcher } from "../batch.ts";
import { Listeners } from "../change-listeners.ts";
import { parseContent, parseEvent, parseQuestion, parseRun, parseSources } from "../row.ts";
import { Connection } from "./connection.ts";
import { createStore } from "./create.ts";
import { EntryReader } from "../entry-cache.ts";
import { RowReader } from "../question-cache.ts";
import { findDamage, findQuickDamage } from "./damage.ts";
import { closeToOthers, prepareFiles } from "./store-files.ts";
import { claimJobs, listFailing, listJobs, nextJobAt } from "./job.ts";
import {
  READ_ENTRIES,
  READ_QUESTIONS,
  listEntries,
  listQuestions,
  listRuns,
  lookUp,
  toEntry,
  type EntryRow,
} from "./read.ts";
import { migrate } from "./schema.ts";
import { findAnswered, indexWords } from "./word-search.ts";
import type { StoreSnapshot } from "../snapshot.ts";
import { readSqliteSnapshot } from "./snapshot.ts";
import { SqliteWatch } from "./watch.ts";
import { prepareAdopted } from "../prepare.ts";
import { restoreRows, SqliteWriter } from "./write.ts";
import type {
  Change,
  ClaimFilter,
  Committed,
  EntryPage,
  KeptJob,
  Origin,
  QuestionFilter,
  Ref,
  RunFilter,
  Store,
  TrailFilter,
} from "../store.ts";

const FIND_RUN = "select number, body from run where id = ? and +number > 0";
const READ_RUNS = `select number, body from run
  where id in (select value from json_each(?)) and +number > 0`;
const READ_ORIGINS = `select id, agent, body ->> '$.repo' as repo, body ->> '$.sources' as sources from run
  where id in (select value from json_each(?)) and +number > 0`;
const READ_CONTENTS = "select hash, body from content where hash in (select value from json_each(?))";
const FIND_QUESTION = "select body from question where id = ?";
const FIND_BY_KEY = "select body from question where run_id = ? and key = ?";
const FIND_CONTENT = "select body from content where hash = ?";
const FIND_ENTRY = "select kind, id, parent, version, body from entry where kind = ? and id = ?";
const COUNT = "select count(*) as count from question where status = ? and status <> 'answered'";
// Questions are never deleted, so their last row says how many there are: most are answered, and not in the index.
const COUNT_ANSWERED = `select coalesce(max("row"), 0)
  - (select count(*) from question where status <> 'answered') as count from question`;
const FEED = "select n, hash, body, cast(seq as text) as cursor from event where seq > ? order by seq limit ?";
const CHAIN = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select n, hash, body, cast(seq as text) as cursor from event where seq in chain order by seq`;
const BACK = "select n, hash, body, cast(seq as text) as cursor from event where seq < ? order by seq desc limit ?";
// The chain of a run is followed from its end; what was shown already is passed by.
const CHAIN_BACK = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select n, hash, body, cast(event.seq as text) as cursor
  from chain cross join event on event.seq = chain.seq where chain.seq < ? limit ?`;
const HEAD = "select chain_n as n, chain_hash as hash from run where id = ?";
const SEALS = "select n, hash, body from seal where n > ? order by n limit ?";

/** How long a quick look for damage counts: on a server many may ask. */
const LOOK_AGAIN_MS = 10_000;

interface Body {
  body: string;
}

interface Count {
  count: number;
}

type EventRow = Omit<KeptEvent, "event">;

export interface SqliteOptions {
  /** The time by which jobs fall due and leases end; this machine's if nothing else is said. */
  now?: () => Instant;
}

/** Opens the store in that file, which is made if it is not there. */
export async function openSqliteStore(path: string, { now = machineTime }: SqliteOptions = {}): Promise<Store> {
  const files = prepareFiles(resolve(path));
  await createStore(files.database);
  const connection = await Connection.open(files.database, { check: files.hasLog });
  try {
    await migrate(connection);
    await connection.markAsOwn();
    closeToOthers(files);
  } catch (error) {
    connection.close();
    throw error;
  }
  return new SqliteStore(connection, files.wake, now);
}

/** What can be read of the store in that file as it is; nothing about it changes. */
export function readSqliteStore(connection: Connection): Store {
  return new SqliteStore(connection, "", machineTime);
}

/** Keeps everything in one SQLite file that several processes may have open. */
class SqliteStore implements Store {
  readonly #connection: Connection;
  readonly #writer: SqliteWriter;
  readonly #listeners = new Listeners();
  readonly #rows = new RowReader();
  readonly #entries = new EntryReader();
  readonly #watch: SqliteWatch;
  readonly #batcher: Batcher;

  readonly #now: () => Instant;
  /** What the last quick look for damage found, for all who want to know within a few seconds. */
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
        this.#listeners.tell(change);
      },
    });
  }

  commit(changes: Changes): Promise<Committed> {
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes): Promise<Committed> {
    const commit = prepareAdopted(changes);
    const committed = await this.#connection.transact(() => {
      const [result] = this.#writer.write([commit], this.#now());
      if (result?.ok) restoreRows(this.#connection, changes);
      return result ?? { ok: false as const, why: "newer_schema" as const };
    });
    // The writer is not told that this went through: what it remembers of these rows is no longer so.
    this.#watch.touch();
    this.#listeners.tell({ questions: new Set(), dueAt: undefined, all: true });
    return committed;
  }

  async findRun(id: RunId): Promise<Run | undefined> {
    const row = await this.#get<Body & { number: number }>(FIND_RUN, id);
    return row && parseRun(row.body, row.number);
  }

  async readOrigins(ids: readonly RunId[]): Promise<Origin[]> {
    type Row = { id: RunId; agent: string; repo: string | null; sources: string | null };
    const rows = await this.#all<Row>(READ_ORIGINS, JSON.stringify(ids));
    return rows.map(({ repo, sources, ...row }) => ({
      ...row,
      ...(repo !== null && { repo }),
      ...(sources !== null && { sources: parseSources(sources) }),
    }));
  }

  async readRuns(ids: readonly RunId[]): Promise<Run[]> {
    const rows = await this.#all<Body & { number: number }>(READ_RUNS, JSON.stringify(ids));
    return rows.map(({ body, number }) => parseRun(body, number));
  }

  async readContents(hashes: readonly string[]): Promise<Map<string, Content>> {
    const rows = await this.#all<Body & { hash: string }>(READ_CONTENTS, JSON.stringify(hashes));
    return new Map(rows.map(({ hash, body }) => [hash, parseContent(body)]));
  }

  async readQuestions(ids: readonly QuestionId[]): Promise<Question[]> {
    return (await this.#all<Body>(READ_QUESTIONS, JSON.stringify(ids))).map(({ body }) => parseQuestion(body));
  }

  async findQuestion(id: QuestionId): Promise<Question | undefined> {
    const row = await this.#get<Body>(FIND_QUESTION, id);
    return row && parseQuestion(row.body);
  }

  async findQuestionByKey(runId: RunId, key: string): Promise<Question | undefined> {
    const row = await this.#get<Body>(FIND_BY_KEY, runId, key);
    return row && parseQuestion(row.body);
  }

  async findContent(hash: string): Promise<Content | undefined> {
    const row = await this.#get<Body>(FIND_CONTENT, hash);
    return row && parseContent(row.body);
  }

  async findEntry(kind: Entry["kind"], id: string): Promise<Entry | undefined> {
    const row = await this.#get<EntryRow>(FIND_ENTRY, kind, id);
    return row && toEntry(row);
  }

  async readEntries(kind: Entry["kind"], ids: readonly string[]): Promise<Entry[]> {
    return (await this.#all<EntryRow>(READ_ENTRIES, kind, JSON.stringify(ids))).map(toEntry);
  }

  listEntries(kind: Entry["kind"], parent?: string, page?: EntryPage): Promise<Entry[]> {
    return this.#connection.read(() => listEntries(this.#connection, { kind, parent, page }, this.#entries));
  }

  listRuns(filter: RunFilter): Promise<Run[]> {
    return this.#connection.read(() => listRuns(this.#connection, filter));
  }

  listQuestions(filter: QuestionFilter): Promise<Question[]> {
    return this.#connection.read(() => listQuestions(this.#connection, filter, this.#rows));
  }

  findAnswered(words: readonly string[], limit: number): Promise<QuestionId[][]> {
    return this.#connection.read(() => findAnswered(this.#connection, words, limit));
  }

  indexWords(limit: number): Promise<number> {
    return indexWords(this.#connection, limit);
  }

  async countQuestions(status: Question["status"]): Promise<number> {
    const counted = status === "answered" ? this.#get<Count>(COUNT_ANSWERED) : this.#get<Count>(COUNT, status);
    return (await counted)?.count ?? 0;
  }

  lookUp(ref: Ref, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    return this.#connection.read(() => lookUp(this.#connection, ref, limit));
  }

  async readFeed(after: string, limit: number): Promise<KeptEvent[]> {
    return (await this.#all<EventRow>(FEED, Number(after), limit)).map(parseEvent);
  }

  async findFeedEnd(): Promise<string> {
    const [row] = await this.#all<{ seq: number }>("select coalesce(max(seq), 0) as seq from event");
    return String(row?.seq ?? 0);
  }

  async readBack({ before, runId, limit }: TrailFilter): Promise<KeptEvent[]> {
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

  listSeals(afterN: number, limit: number): Promise<Seal[]> {
    return this.#all<Seal>(SEALS, afterN, limit);
  }

  readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result> {
    return readSqliteSnapshot(this.#connection.path, read);
  }

  claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
    return claimJobs(this.#connection, filter, this.#now);
  }

  nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Promise<Instant | undefined> {
    return this.#connection.read(() => nextJobAt(this.#connection, filter));
  }

  listJobs(limit: number): Promise<KeptJob[]> {
    return this.#connection.read(() => listJobs(this.#connection, limit));
  }

  listFailing(limit: number): Promise<KeptJob[]> {
    return this.#connection.read(() => listFailing(this.#connection, limit));
  }

  async findDamage(depth: "quick" | "whole"): Promise<string[]> {
    if (depth === "whole") return findDamage(this.#connection, "integrity_check");
    const nowMs = performance.now();
    if (this.#looked === undefined || nowMs - this.#looked.atMs > LOOK_AGAIN_MS) {
      this.#looked = { atMs: nowMs, found: findQuickDamage(this.#connection) };
    }
    return this.#looked.found;
  }

  async now(): Promise<Instant> {
    return this.#now();
  }

  onChange(listener: (change: Change) => void): () => void {
    const remove = this.#listeners.add(listener);
    this.#watch.update();
    return () => {
      remove();
      this.#watch.update();
    };
  }

  async close(): Promise<void> {
    await this.#batcher.idle();
    this.#watch.stop();
    this.#connection.close();
  }

  #get<Row>(sql: string, ...values: Array<string | number>): Promise<Row | undefined> {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).get(...values));
  }

  #all<Row>(sql: string, ...values: Array<string | number>): Promise<Row[]> {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

function machineTime(): Instant {
  return instant(Date.now());
}
