import type { Entry } from "../../core/changes.ts";
import { type RunId, STORE_CHAIN } from "../../core/id.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { CHAIN_START, type KeptEvent } from "../../core/trail/event.ts";
import type { SqlValue } from "../../sqlite.ts";
import type { ArchivableRow } from "../archive.ts";
import { type EntryRow, type RunText, entryName, eventName, parseEntry, parseEvent, runName, toRun } from "../row.ts";
import type { StoredLine } from "../snapshot.ts";
import { type RowVersion, type QuestionCache, readQuestions } from "../question-cache.ts";
import type { SqliteArchive } from "./archive.ts";
import type { Connection } from "./connection.ts";
import { FOUND, searchExpression } from "./word-search.ts";
import type { EntryCache } from "../entry-cache.ts";
import type { EntryPage, QuestionFilter, NameReference, RunFilter, TrailFilter } from "../store.ts";

const RUN = "select id, number, body from run";
const QUESTION = "select id, body from question";
const ENTRY = "select kind, id, parent, version, body from entry";
const ENTRY_NAME = "select id, version from entry";
export const READ_ENTRIES = `${ENTRY} where kind = ? and id in (select value from json_each(?)) order by id`;
export const READ_QUESTIONS = "select id, body from question where id in (select value from json_each(?))";

type RunRow = ArchivableRow & RunText;

/** Conditions and their values. */
type Where = Array<[condition: string, value: SqlValue]>;

interface Page {
  order: "oldest" | "newest";
  after?: string;
  limit: number;
}

export function listRuns(connection: Connection, filter: RunFilter, archive: SqliteArchive): Run[] {
  const { statuses, parentId, endedSince } = filter;
  const where: Where = [["id > ?", STORE_CHAIN]];
  if (parentId !== undefined) where.push(["parent_id = ?", parentId]);
  if (endedSince !== undefined) where.push(["ended_at >= ?", endedSince]);
  // One query per status: each reads its own index in order and stops at the limit.
  const rows =
    statuses === undefined
      ? select<RunRow>(connection, RUN, where, filter)
      : statuses.flatMap((status) =>
          select<RunRow>(connection, RUN, [...where, ...isStatus(status, "completed")], filter),
        );
  const page = rows.sort(byId(filter.order)).slice(0, filter.limit);
  return connection.unreadable.read(archive.fill(page), runName, toRun);
}

export function listQuestions(
  connection: Connection,
  filter: QuestionFilter,
  { reader, archive }: { reader: QuestionCache; archive: SqliteArchive },
): Question[] {
  const { status, isClosed, runId, find } = filter;
  const match = find === undefined ? undefined : searchExpression(find);
  if (find !== undefined && match === undefined) return [];
  const found = match === undefined ? [] : [match];
  const from = (columns: string) => `select ${columns} from ${match === undefined ? "question" : FOUND}`;
  const where: Where = [];
  if (runId !== undefined) where.push(["run_id = ?", runId]);
  // A run has few questions, so its index is the better one.
  if (status !== undefined && runId !== undefined) where.push(["+status = ?", status]);
  if (status !== undefined && runId === undefined) where.push(...isStatus(status, "answered"));
  if (isClosed) where.push(["+status <> ?", "pending"]);
  // A list of all states reads everything once: caching it is pointless.
  if (status === undefined) {
    const rows = select<ArchivableRow>(connection, from("id, body"), where, filter, found);
    return readQuestions(connection.unreadable, archive.fill(rows));
  }
  const names = select<RowVersion>(connection, from("id, version"), where, filter, found);
  const missing = reader.missing(names);
  const fetched =
    missing.length === 0 ? [] : connection.prepare<ArchivableRow>(READ_QUESTIONS).all(JSON.stringify(missing));
  return reader.take(names, archive.fill(fetched)).filter((question) => question.status === status);
}

export function listEntries(
  connection: Connection,
  { kind, parent, page }: { kind: Entry["kind"]; parent: string | undefined; page: EntryPage | undefined },
  reader: EntryCache,
): Entry[] {
  const where: Where = [["kind = ?", kind]];
  if (parent !== undefined) where.push(["parent = ?", parent]);
  const whole = { order: "oldest", limit: -1, ...page } as const; // SQLite's own way to say "all"
  const { unreadable } = connection;
  if (!reader.isFor(kind))
    return unreadable.read(select<EntryRow>(connection, ENTRY, where, whole), entryName, parseEntry);
  const names = select<RowVersion>(connection, ENTRY_NAME, where, whole);
  const missing = reader.missing(kind, names);
  const fetched =
    missing.length === 0 ? [] : connection.prepare<EntryRow>(READ_ENTRIES).all(kind, JSON.stringify(missing));
  return reader.take(kind, names, unreadable.read(fetched, entryName, parseEntry));
}

/** The index by status omits the usual one; it is used if the query's text does too. */
function isStatus(status: string, usual: string): Where {
  if (status === usual) return [["+status = ?", status]];
  return [[`status <> '${usual}' and status = ?`, status]];
}

/** Finds runs and questions by name, newest first. */
export function lookUp(
  connection: Connection,
  ref: NameReference,
  { limit, archive }: { limit: number; archive: SqliteArchive },
): { runs: Run[]; questions: Question[] } {
  const newest: Page = { order: "newest", limit };
  if (ref.by === "short") {
    const range: Where = [
      ["substr(id, 13) >= ?", ref.text],
      ["substr(id, 13) < ?", `${ref.text}~`], // after every character an id can have
      ["id <> ?", STORE_CHAIN],
    ];
    const runs = selectNamed<RunRow>(connection, { from: RUN, table: "run" }, range, newest);
    const questions = selectNamed<ArchivableRow>(connection, { from: QUESTION, table: "question" }, range, newest);
    return {
      runs: connection.unreadable.read(archive.fill(runs), runName, toRun),
      questions: readQuestions(connection.unreadable, archive.fill(questions)),
    };
  }
  const name: Where = [
    ref.by === "number" ? ["number = ?", ref.number] : [`${NAME_COLUMN[ref.by]} = ?`, ref.text],
    ["id <> ?", STORE_CHAIN],
  ];
  const runs = archive.fill(select<RunRow>(connection, RUN, name, newest));
  return { runs: connection.unreadable.read(runs, runName, toRun), questions: [] };
}

const NAME_COLUMN = { name: "name", external: "external_id", session: "session" } as const;

function select<Row>(connection: Connection, from: string, where: Where, page: Page, before: readonly SqlValue[] = []) {
  const all: Where = [...where];
  if (page.after !== undefined) all.push([page.order === "oldest" ? "id > ?" : "id < ?", page.after]);
  const conditions = all.length > 0 ? `where ${all.map(([condition]) => condition).join(" and ")}` : "";
  const sql = `${from} ${conditions} order by id ${page.order === "oldest" ? "asc" : "desc"} limit ?`;
  return connection.prepare<Row>(sql).all(...before, ...all.map(([, value]) => value), page.limit);
}

/** The ids are selected from their index alone, without reading rows. */
function selectNamed<Row>(
  connection: Connection,
  { from, table }: { from: string; table: string },
  where: Where,
  { limit }: Pick<Page, "limit">,
) {
  const conditions = where.map(([condition]) => condition).join(" and ");
  const ids = `select id from ${table} where ${conditions} order by id desc limit ?`;
  const sql = `${from} where id in (${ids}) order by id desc`;
  return connection.prepare<Row>(sql).all(...where.map(([, value]) => value), limit);
}

function byId(order: "oldest" | "newest"): (one: RunRow, other: RunRow) => number {
  const sign = order === "oldest" ? 1 : -1;
  return (one, other) => (one.id < other.id ? -sign : sign);
}

// The last event is never archived: without an event after the cursor there is nothing in the archive either.
const FEED = `select n, hash, body, cast(seq as text) as cursor, (select max(last) from archive) as archived
  from event where seq > ? order by seq limit ?`;
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

type EventRow = Omit<KeptEvent, "event">;

/** Reads the lines of the trail, those of the archive included. */
export class SqliteTrail {
  readonly #connection: Connection;
  readonly #archive: SqliteArchive;

  constructor(connection: Connection, archive: SqliteArchive) {
    this.#connection = connection;
    this.#archive = archive;
  }

  readFeed(after: string, limit: number): Promise<KeptEvent[]> {
    return this.#unreadable.fillPage(limit, (count) => this.#listFeed(Number(after), count));
  }

  async #listFeed(from: number, limit: number) {
    const read = await this.#all<EventRow & { archived: number | null }>(FEED, from, limit);
    const rows = read.map(({ archived: _archived, ...row }) => row);
    const boundary = read[0]?.archived ?? 0;
    if (boundary <= from) return this.#readEvents(rows);
    const lines = await this.#connection.read(() => this.#archive.linesAfter(from, { upTo: boundary, limit }));
    return this.#readEvents([...lines.map(toEventRow), ...rows].slice(0, limit));
  }

  async findEnd(): Promise<string> {
    const [row] = await this.#all<{ seq: number }>("select coalesce(max(seq), 0) as seq from event");
    return String(row?.seq ?? 0);
  }

  readPage({ before, runId, limit }: TrailFilter): Promise<KeptEvent[]> {
    const end = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
    return this.#unreadable.fillPage(limit, (count) => this.#listBack(end, runId, count));
  }

  async #listBack(end: number, runId: RunId | undefined, limit: number) {
    const rows =
      runId === undefined
        ? await this.#all<EventRow>(BACK, end, limit)
        : await this.#all<EventRow>(CHAIN_BACK, runId, end, limit);
    if (rows.length === limit) return this.#readEvents(rows);
    // Everything before the oldest of these rows is in the archive by now, and stays there.
    const oldest = Number(rows.at(-1)?.cursor ?? end);
    const older = await this.#connection.read(() => this.#archive.linesBefore(oldest, limit - rows.length, runId));
    return this.#readEvents([...rows, ...older.map(toEventRow)]);
  }

  readChain(runId: RunId): Promise<{ events: KeptEvent[]; head: { n: number; hash: string } }> {
    return this.#connection.snapshot(() => ({
      events: this.#readEvents([
        ...[...this.#archive.chainBack(runId)].reverse().map(toEventRow),
        ...this.#connection.prepare<EventRow>(CHAIN).all(runId),
      ]),
      head: this.#connection.prepare<{ n: number; hash: string }>(HEAD).get(runId) ?? { n: 0, hash: CHAIN_START },
    }));
  }

  #readEvents(rows: readonly EventRow[]) {
    return this.#unreadable.read(rows, eventName, parseEvent);
  }

  get #unreadable() {
    return this.#connection.unreadable;
  }

  #all<Row>(sql: string, ...values: Array<string | number>) {
    return this.#connection.read(() => this.#connection.prepare<Row>(sql).all(...values));
  }
}

function toEventRow({ n, hash, body, seq }: StoredLine): EventRow {
  return { n, hash, body, cursor: String(seq) };
}
