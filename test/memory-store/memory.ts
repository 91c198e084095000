import type { SchemaDifference } from "../../src/store/schema.ts";
import type { Changes, Entry, Seal } from "../../src/core/changes.ts";
import type { Content } from "../../src/core/question/content.ts";
import { CHAIN_START, type KeptEvent } from "../../src/core/trail/event.ts";
import { randomPart, type QuestionId, type RunId } from "../../src/core/id.ts";
import { later, type Instant } from "../../src/core/instant.ts";
import type { ClaimedJob } from "../../src/core/run/job.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { Run } from "../../src/core/run/run.ts";
import { Batcher } from "../../src/store/batch.ts";
import { ChangeListeners } from "../../src/store/change-listeners.ts";
import { MemorySnapshot } from "./memory-snapshot.ts";
import { MemoryTables, nameOf, type JobRow, type QuestionRow, type RunRow } from "./memory-table.ts";
import { MemoryWords } from "./memory-word.ts";
import { prepareAdopted } from "../../src/store/prepare.ts";
import { parseContent, parseEvent, parseJob, parseQuestion, parseOrigin, parseRun } from "../../src/store/row.ts";
import type { StoreSnapshot } from "../../src/store/snapshot.ts";
import type { SortedTable } from "./sorted-table.ts";
import { questionsInEvents, wordChanges } from "../../src/store/word-index.ts";
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
} from "../../src/store/store.ts";

/** A store in memory, with rows as text. */
export class MemoryStore implements Store {
  readonly #tables = new MemoryTables();
  readonly #words = new MemoryWords();
  readonly #listeners = new ChangeListeners();
  readonly #now: () => Instant;
  readonly #batcher = new Batcher({
    atOnce: 1,
    apply: async (batch) => batch.map((commit) => this.#tables.write(commit, this.#now())),
    tell: (change) => this.#listeners.notify(change),
  });

  constructor(now: () => Instant) {
    this.#now = now;
  }

  commit(changes: Changes): Promise<CommitResult> {
    return this.#batcher.add(changes);
  }

  async adopt(changes: Changes): Promise<CommitResult> {
    const committed = this.#tables.write(prepareAdopted(changes), this.#now());
    if (committed.ok) this.#tables.restore(changes);
    this.#listeners.notify({ questions: new Set(), dueAt: undefined, all: true });
    return committed;
  }

  replaceDamaged(): Promise<CommitResult> {
    return Promise.reject(new Error("memory is never damaged"));
  }

  async findRun(id: RunId): Promise<Run | undefined> {
    const row = this.#tables.run.get(id);
    return row && parseRun(row.body, row.number);
  }

  async readOrigins(ids: readonly RunId[]): Promise<RunOrigin[]> {
    return ids.flatMap((id) => {
      const row = this.#tables.run.get(id);
      return row ? [parseOrigin(row.body, row.number)] : [];
    });
  }

  async readRuns(ids: readonly RunId[]): Promise<Run[]> {
    return (await Promise.all(ids.map((id) => this.findRun(id)))).filter((run) => run !== undefined);
  }

  async readContents(hashes: readonly string[]): Promise<Map<string, Content>> {
    const found = await Promise.all(hashes.map(async (hash) => [hash, await this.findContent(hash)] as const));
    return new Map(found.flatMap(([hash, content]) => (content ? [[hash, content]] : [])));
  }

  async readQuestions(ids: readonly QuestionId[]): Promise<Question[]> {
    return (await Promise.all(ids.map((id) => this.findQuestion(id)))).filter((question) => question !== undefined);
  }

  async findQuestion(id: QuestionId): Promise<Question | undefined> {
    const row = this.#tables.question.get(id);
    return row && parseQuestion(row.body);
  }

  async findQuestionByKey(runId: RunId, key: string): Promise<Question | undefined> {
    const row = this.#tables.question.get(this.#tables.findByKey(runId, key) ?? "");
    return row && parseQuestion(row.body);
  }

  async findContent(hash: string): Promise<Content | undefined> {
    const body = this.#tables.content.get(hash);
    return body === undefined ? undefined : parseContent(body);
  }

  async findEntry(kind: Entry["kind"], id: string): Promise<Entry | undefined> {
    const row = this.#tables.entry.get(nameOf(kind, id));
    return row && { ...row, parent: row.parent ?? undefined, body: JSON.parse(row.body) };
  }

  async readEntries(kind: Entry["kind"], ids: readonly string[]): Promise<Entry[]> {
    const wanted = new Set(ids);
    return (await this.listEntries(kind)).filter(({ id }) => wanted.has(id));
  }

  async listEntries(kind: Entry["kind"], parent?: string, { after, limit }: Partial<EntryPage> = {}): Promise<Entry[]> {
    return [...this.#tables.entry.values()]
      .filter((row) => row.kind === kind && (parent === undefined || row.parent === parent))
      .filter(({ id }) => after === undefined || id > after)
      .sort((one, other) => compare(one.id, other.id))
      .slice(0, limit)
      .map((row) => ({ ...row, parent: row.parent ?? undefined, body: JSON.parse(row.body) }));
  }

  async listRuns(filter: RunFilter): Promise<Run[]> {
    const { statuses, parentId, endedSince } = filter;
    const isWanted = (row: RunRow): boolean =>
      (statuses === undefined || statuses.includes(row.status)) &&
      (parentId === undefined || row.parentId === parentId) &&
      (endedSince === undefined || (row.endedAt !== undefined && row.endedAt >= endedSince));
    return page(this.#tables.run, filter, isWanted).map((row) => parseRun(row.body, row.number));
  }

  async listQuestions(filter: QuestionFilter): Promise<Question[]> {
    const { status, isClosed, runId, find } = filter;
    const found = find === undefined ? undefined : this.#words.find(find);
    const isWanted = (row: QuestionRow, id: string): boolean =>
      (status === undefined || row.status === status) &&
      (isClosed === undefined || row.status !== "pending") &&
      (runId === undefined || row.runId === runId) &&
      (found === undefined || found.has(id));
    return page(this.#tables.question, filter, isWanted).map((row) => parseQuestion(row.body));
  }

  async findAnswered(words: readonly string[], limit: number): Promise<QuestionId[][]> {
    return words.map((word) => this.#words.findAnswered(word, limit));
  }

  async indexWords(limit: number): Promise<number> {
    const events = this.#tables.event.slice(this.#words.mark, this.#words.mark + limit);
    const ids = questionsInEvents(events.map(({ body }) => body));
    const questions = await this.readQuestions([...ids.asked, ...ids.answered]);
    const runs = await this.readRuns(questions.map(({ runId }) => runId));
    const byId = new Map(questions.map((question) => [question.id, question]));
    this.#words.add(wordChanges(ids, byId, new Map(runs.map((run) => [run.id, run]))), events.length);
    return events.length;
  }

  async countQuestions(status: Question["status"]): Promise<number> {
    return page(this.#tables.question, { order: "oldest", limit: Infinity }, (row) => row.status === status).length;
  }

  async lookUp(ref: NameReference, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    const newest = { order: "newest", limit } as const;
    if (ref.by === "short") {
      const isNamed = (_row: unknown, id: string): boolean => randomPart(id).startsWith(ref.text);
      return {
        runs: page(this.#tables.run, newest, isNamed).map((row) => parseRun(row.body, row.number)),
        questions: page(this.#tables.question, newest, isNamed).map((row) => parseQuestion(row.body)),
      };
    }
    const runs = page(this.#tables.run, newest, (row) => goesBy(parseRun(row.body, row.number), ref));
    return { runs: runs.map((row) => parseRun(row.body, row.number)), questions: [] };
  }

  async readFeed(after: string, limit: number): Promise<KeptEvent[]> {
    const start = Number(after);
    return this.#tables.event.slice(start, start + limit).map(parseEvent);
  }

  async findFeedEnd(): Promise<string> {
    return String(this.#tables.event.length);
  }

  async readTrailPage({ before, runId, limit }: TrailFilter): Promise<KeptEvent[]> {
    const earlier = this.#tables.event.slice(0, before === undefined ? undefined : Math.max(0, Number(before) - 1));
    const wanted = runId === undefined ? earlier : earlier.filter((row) => row.runId === runId);
    return limit === 0 ? [] : wanted.slice(-limit).toReversed().map(parseEvent);
  }

  async readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }> {
    const events = this.#tables.event.filter((row) => row.runId === runId).map(parseEvent);
    return { events, head: { ...(this.#tables.findChain(runId) ?? { n: 0, hash: CHAIN_START }) } };
  }

  async listSeals(afterN: number, limit: number): Promise<Seal[]> {
    return [...this.#tables.seal.values()]
      .filter((seal) => seal.n > afterN)
      .sort((one, other) => one.n - other.n)
      .slice(0, limit);
  }

  /** Memory is not worth saving. */
  async archive(): Promise<number> {
    return 0;
  }

  async readSnapshot<Result>(read: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result> {
    return read(new MemorySnapshot(this.#tables));
  }

  async claimJobs(filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
    const now = this.#now();
    const due = this.#jobsFor(filter).filter(([, job]) => readyAt(job) <= now);
    const jobs = due.slice(0, filter.limit).map(([key, row]) => {
      const claimed = { ...row, attempt: this.#tables.nextAttempt(), leaseUntil: later(now, filter.leaseMs) };
      this.#tables.job.set(key, claimed);
      return { ...parseJob(row.body), attempt: claimed.attempt };
    });
    return { now, jobs };
  }

  async nextJobAt(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Promise<Instant | undefined> {
    const first = this.#jobsFor(filter)[0];
    return first && readyAt(first[1]);
  }

  async listJobs(limit: number): Promise<KeptJob[]> {
    return this.#listAllJobs().slice(0, limit);
  }

  async listFailingJobs(limit: number): Promise<KeptJob[]> {
    return this.#listAllJobs()
      .filter(({ failure }) => failure !== undefined)
      .slice(0, limit);
  }

  async findDamage(): Promise<string[]> {
    return [];
  }

  reportLost(): void {
    // memory loses nothing; a test may name what never was
  }

  listUnreadable(): string[] {
    return [];
  }

  async findSchemaDifferences(): Promise<SchemaDifference[]> {
    return [];
  }

  async now(): Promise<Instant> {
    return this.#now();
  }

  onChange(listener: (change: StoreChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    return this.#batcher.idle();
  }

  #listAllJobs(): KeptJob[] {
    return [...this.#tables.job]
      .sort(byReadiness)
      .map(([, { body, attempt, leaseUntil }]) => ({ ...parseJob(body), attempt, leaseUntil }));
  }

  #jobsFor(filter: Pick<ClaimFilter, "kinds" | "host" | "agents">): Array<[string, JobRow]> {
    const kinds = new Set<string>(filter.kinds);
    return [...this.#tables.job]
      .filter(([, job]) => kinds.has(job.kind) && (job.host === undefined || job.host === filter.host))
      .filter(([, job]) => job.agent === undefined || filter.agents.includes(job.agent))
      .sort(byReadiness);
  }
}

interface Page {
  order: "oldest" | "newest";
  after?: string;
  limit: number;
}

function page<Row>(table: SortedTable<Row>, by: Page, isWanted: (row: Row, id: string) => boolean): Row[] {
  const rows: Row[] = [];
  for (const [id, row] of table.scan(by.order, by.after)) {
    if (isWanted(row, id) && rows.push(row) >= by.limit) break;
  }
  return rows;
}

function goesBy(run: Run, ref: Exclude<NameReference, { by: "short" }>): boolean {
  if (ref.by === "number") return run.number === ref.number;
  if (ref.by === "name") return run.name === ref.text;
  return (ref.by === "external" ? run.externalId : run.session) === ref.text;
}

/** A claimed job is ready when its lease ends, any other when it is due. */
function readyAt(job: JobRow): Instant {
  return job.leaseUntil !== undefined && job.leaseUntil > job.dueAt ? job.leaseUntil : job.dueAt;
}

function byReadiness([key, job]: [string, JobRow], [otherKey, other]: [string, JobRow]): number {
  return compare(readyAt(job), readyAt(other)) || compare(key, otherKey);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
