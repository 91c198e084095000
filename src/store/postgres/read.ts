import type { Entry } from "../../core/changes.ts";
import { CHAIN_START, type KeptEvent } from "../../core/trail/event.ts";
import { type RunId, STORE_CHAIN } from "../../core/id.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import {
  ENTRY,
  READ_ENTRIES,
  READ_QUESTIONS,
  decodeName,
  encodeName,
  readEntries,
  readQuestions,
  readRuns,
  unreadableIn,
} from "./row.ts";
import type { ArchivableRow } from "../archive.ts";
import type { StoredLine } from "../snapshot.ts";
import { type FeedPlace, type PostgresArchive, isAfter, parseCursor } from "./archive.ts";
import type { RowVersion, QuestionCache } from "../question-cache.ts";
import type { Queryable } from "./pool.ts";
import { eventName, parseEvent } from "../row.ts";
import { FOUND, searchExpression } from "./word-search.ts";
import type { EntryCache } from "../entry-cache.ts";
import type { EntryPage, QuestionFilter, NameReference, RunFilter, TrailFilter } from "../store.ts";

/** A prefix of an id's random part as a range on the index of ids; "{" sorts right after the last letter of an id. */
const SHORT = "substr(id, 13) >= ? and substr(id, 13) < ? || '{'";
const RUN = "select id, body, number from run";
const QUESTION = "select id, body from question";
const QUESTION_NAME = "select id, version from question";
const COUNT = "select count(*) as count from question where status = $1";
// The index by status omits answered questions, which are most.
export const COUNT_ANSWERED = `select (select count(*) from question)
  - (select count(*) from question where status <> 'answered') as count`;
const NAMES = { number: "number", name: "name", external: "external_id", session: "session" } as const;

/** The limit of lists without one. */
const MOST_ROWS = 1_000_000;

/** After every event. */
const END: FeedPlace = { xid: Number.MAX_SAFE_INTEGER, seq: 0 };

type EventRow = Omit<KeptEvent, "event">;

interface Page {
  order: "oldest" | "newest";
  after?: string;
  limit: number;
}

/** The conditions and parameters of a statement, and its page. */
class Conditions {
  readonly params: unknown[] = [];
  readonly #texts: string[] = [];
  readonly #order: string;
  readonly #limit: string;

  constructor({ order, after, limit }: Page) {
    this.#order = `order by id ${order === "oldest" ? "asc" : "desc"}`;
    this.#limit = `limit ${this.param(limit)}`;
    if (after !== undefined) this.add(order === "oldest" ? "id > ?" : "id < ?", after);
  }

  param(value: unknown) {
    this.params.push(value);
    return `$${this.params.length}`;
  }

  /** Every "?" in the condition stands for the value. */
  add(condition: string, value: unknown) {
    this.#texts.push(condition.replaceAll("?", this.param(value)));
    return this;
  }

  /** The statement for one page, in the order of ids. */
  page(select: string) {
    const where = this.#texts.length > 0 ? `where ${this.#texts.join(" and ")}` : "";
    return `${select} ${where} ${this.#order} ${this.#limit}`;
  }

  /** One page for any of the values: each part can use the index on (column, id). */
  pageOfAny(select: string, column: string, values: readonly string[]) {
    const parts = values.map((value) => {
      const own = [...this.#texts, `${column} = ${this.param(value)}`];
      return `(${select} where ${own.join(" and ")} ${this.#order} ${this.#limit})`;
    });
    return parts.length === 1 ? parts.join("") : `${parts.join(" union all ")} ${this.#order} ${this.#limit}`;
  }
}

export async function listRuns(archive: PostgresArchive, filter: RunFilter): Promise<Run[]> {
  const conditions = new Conditions(filter).add("id > ?", STORE_CHAIN);
  if (filter.parentId) conditions.add("parent_id = ?", filter.parentId);
  if (filter.endedSince) conditions.add("ended_at >= ?", filter.endedSince);
  if (filter.statuses?.length === 0) return [];
  const sql = filter.statuses ? conditions.pageOfAny(RUN, "status", filter.statuses) : conditions.page(RUN);
  return readRuns(archive, sql, conditions.params);
}

export async function listQuestions(
  archive: PostgresArchive,
  filter: QuestionFilter,
  reader: QuestionCache,
): Promise<Question[]> {
  const { status, isClosed, runId, find } = filter;
  const conditions = new Conditions(filter);
  const match = find === undefined ? undefined : searchExpression(find);
  if (find !== undefined && match === undefined) return [];
  if (match !== undefined) conditions.add(FOUND, match);
  if (status) conditions.add("status = ?", status);
  if (runId) conditions.add("run_id = ?", runId);
  if (isClosed) conditions.add("status <> ?", "pending");
  // A list of all states reads everything once: caching it is pointless.
  if (!status) return readQuestions(archive, conditions.page(QUESTION), conditions.params);
  const { rows: names } = await archive.queryable.query<RowVersion>(conditions.page(QUESTION_NAME), conditions.params);
  const missing = reader.missing(names);
  const fetched = missing.length === 0 ? [] : await archive.select<ArchivableRow>(READ_QUESTIONS, [missing]);
  // A question closed between the two statements is no longer in this list.
  return reader.take(names, fetched).filter((question) => question.status === status);
}

export async function countQuestions(pool: Queryable, status: Question["status"]): Promise<number> {
  const [sql, params] = status === "answered" ? [COUNT_ANSWERED, []] : [COUNT, [status]];
  const { rows } = await pool.query<{ count: number }>(sql, params);
  return rows[0]?.count ?? 0;
}

export async function lookUp(
  archive: PostgresArchive,
  ref: NameReference,
  limit: number,
): Promise<{ runs: Run[]; questions: Question[] }> {
  const conditions = new Conditions({ order: "newest", limit }).add("id <> ?", STORE_CHAIN);
  if (ref.by !== "short") {
    conditions.add(`${NAMES[ref.by]} = ?`, ref.by === "number" ? ref.number : encodeName(ref.text));
    return { runs: await readRuns(archive, conditions.page(RUN), conditions.params), questions: [] };
  }
  conditions.add(SHORT, encodeName(ref.text));
  const named = (table: string) => `where id in (${conditions.page(`select id from ${table}`)}) order by id desc`;
  const [runs, questions] = await Promise.all([
    readRuns(archive, `${RUN} ${named("run")}`, conditions.params),
    readQuestions(archive, `${QUESTION} ${named("question")}`, conditions.params),
  ]);
  return { runs, questions };
}

export async function listEntries(
  pool: Queryable,
  { kind, parent, page }: { kind: Entry["kind"]; parent: string | undefined; page: EntryPage | undefined },
  reader: EntryCache,
): Promise<Entry[]> {
  const after = page?.after === undefined ? {} : { after: encodeName(page.after) };
  const conditions = new Conditions({ order: "oldest", limit: page?.limit ?? MOST_ROWS, ...after });
  conditions.add("kind = ?", kind);
  if (parent !== undefined) conditions.add("parent = ?", encodeName(parent));
  if (!reader.isFor(kind)) return readEntries(pool, conditions.page(ENTRY), conditions.params);
  const { rows } = await pool.query<RowVersion>(conditions.page("select id, version from entry"), conditions.params);
  const names = rows.map(({ id, version }) => ({ id: decodeName(id), version }));
  const missing = reader.missing(kind, names).map(encodeName);
  const fetched = missing.length === 0 ? [] : await readEntries(pool, READ_ENTRIES, [kind, missing]);
  return reader.take(kind, names, fetched);
}

/**
 * Reads events in the order of their transactions. An open transaction could still add some, so nothing at or after the
 * oldest open one is shown yet.
 */
export async function readFeed(archive: PostgresArchive, after: string, limit: number): Promise<KeptEvent[]> {
  const place = parseCursor(after);
  const { rows: read } = await archive.queryable.query<EventRow & { archived: string | null }>(
    `select n, hash, body, xid || '-' || seq as cursor, (select last_xid || '-' || last_seq from archive
      order by last_xid desc, last_seq desc limit 1) as archived from event
    where (xid, seq) > ($1::text::xid8, $2::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by event.xid, event.seq limit $3`,
    [String(place.xid), place.seq, limit],
  );
  // The last event is never archived: without an event after the cursor there is nothing in the archive either.
  const upTo = parseCursor(read[0]?.archived ?? "");
  const rows = read.map(({ archived: _archived, ...row }) => row);
  const archived = await archive.linesAfter(place, { upTo, limit });
  const all = [...archived.map(toEventRow), ...rows].slice(0, limit);
  return unreadableIn(archive.queryable).read(all, eventName, parseEvent);
}

export async function findFeedEnd(pool: Queryable): Promise<string> {
  const { rows } = await pool.query<{ cursor: string }>(
    `select xid || '-' || seq as cursor from event where xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid desc, seq desc limit 1`,
  );
  return rows[0]?.cursor ?? "0";
}

/** Reads the events the feed shows, newest first; those of one run in chain order, which is the same. */
export async function readTrailPage(
  archive: PostgresArchive,
  { before, runId, limit }: TrailFilter,
): Promise<KeptEvent[]> {
  const [xid, seq = "0"] = (before ?? "").split("-");
  const { rows } = await archive.queryable.query<EventRow>(
    `select n, hash, body, xid || '-' || seq as cursor from event
    where ($1 = '' or (xid, seq) < (nullif($1, '')::xid8, $2::bigint))
      and ($3::text is null or run_id = $3) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid desc, seq desc limit $4`,
    [xid, seq, runId ?? null, limit],
  );
  const { length } = rows;
  if (length === limit) return unreadableIn(archive.queryable).read(rows, eventName, parseEvent);
  // Everything before the oldest of these rows is in the archive by now, and stays there.
  const oldest = rows.at(-1)?.cursor ?? before;
  const place = oldest === undefined ? END : parseCursor(oldest);
  const older =
    runId === undefined
      ? await archive.linesBefore(place, limit - length)
      : (await chainOf(archive, runId)).filter((line) => isAfter(place, line)).reverse();
  const all = [...rows, ...older.map(toEventRow)].slice(0, limit);
  return unreadableIn(archive.queryable).read(all, eventName, parseEvent);
}

export async function readChain(
  archive: PostgresArchive,
  runId: RunId,
): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }> {
  const { rows } = await archive.queryable.query<{
    head_n: number;
    head_hash: string;
    n: number | null;
    hash: string;
    body: string;
    cursor: string;
  }>(
    `select chain_n as head_n, chain_hash as head_hash, n, hash, event.body, xid || '-' || seq as cursor
    from run left join event on event.run_id = run.id where run.id = $1 order by n`,
    [runId],
  );
  const head = rows[0] ? { n: rows[0].head_n, hash: rows[0].head_hash } : { n: 0, hash: CHAIN_START };
  const lines = rows.flatMap(({ n, hash, body, cursor }) => (n === null ? [] : [{ n, hash, body, cursor }]));
  // Lines may have been archived since the statement above: those count once.
  const first = lines[0]?.n ?? head.n + 1;
  const archived = first === 1 ? [] : (await chainOf(archive, runId)).filter(({ n }) => n < first);
  const all = [...archived.map(toEventRow), ...lines];
  return { events: unreadableIn(archive.queryable).read(all, eventName, parseEvent), head };
}

/** The archived lines of a run. */
async function chainOf(archive: PostgresArchive, runId: RunId) {
  const sql = "select id, number from run where id = $1";
  return archive.chainsOf((await archive.queryable.query<{ id: string; number: number }>(sql, [runId])).rows);
}

function toEventRow({ n, hash, body, xid, seq }: StoredLine): EventRow {
  return { n, hash, body, cursor: `${xid}-${seq}` };
}
