import {
  type ArchivableRow,
  type ArchiveLimit,
  type ArchivePage,
  PageCache,
  type StoredPage,
  contentsOf,
  encodePage,
  endedRuns,
  findPointer,
  isOldEnough,
  isPageDue,
  pointerTo,
  questionsWith,
  textsByRun,
  unarchived,
  withText,
} from "../archive.ts";
import type { StoredLine } from "../snapshot.ts";
import { type PostgresPool, type Queryable, inTransaction } from "./pool.ts";
import { unreadableIn } from "./row.ts";

/** One node at a time: a node that finds it locked leaves the work to the other. */
const LOCK = "select pg_try_advisory_xact_lock($1) as is_mine";
const LOCK_NUMBER = 0x61726368; // "arch"
// The last event that the feed shows stays, and words are indexed from events that are not archived.
const DUE = `from event where (xid, seq) <= ($1::text::xid8, $2::bigint)
    and (xid, seq) <= (select xid, seq from word_mark)
    and (xid, seq) < (select xid, seq from event where xid < pg_snapshot_xmin(pg_current_snapshot())
      order by xid desc, seq desc limit 1)
  order by event.xid, event.seq`;
const LAST_DUE = `select body ${DUE} limit 1 offset $3`;
const LINES_DUE = `select run_id as "runId", n, hash, body, xid::text::bigint as xid, seq ${DUE} limit $3`;
// Commits lock their runs first, in the same order: none of these runs changes until this transaction ends.
const LOCK_RUNS = "select id, number, body, status, chain_n from run where id = any($1) order by id for update";
const CLOSED = "select id, run_id, body from question where run_id = any($1) and status <> 'pending'";
const CONTENTS = "select hash as id, body from content where hash = any($1)";
const NEW_PAGE = `insert into archive (last_xid, last_seq, runs, body) values ($1::text::xid8, $2, $3, $4)
  returning page`;

const PAGES = `select page, last_xid::text::bigint as xid, last_seq as seq, body from archive where page = any($1)`;
const PAGES_AFTER = `select page, last_xid::text::bigint as xid, last_seq as seq from archive where (last_xid, last_seq) > ($1::text::xid8, $2::bigint)
  order by last_xid, last_seq limit 1`;
const PAGES_BEFORE = `select page, last_xid::text::bigint as xid, last_seq as seq from archive where (last_xid, last_seq) < ($1::text::xid8, $2::bigint)
  order by last_xid desc, last_seq desc limit 1`;
const PAGES_OF = `select page from archive where runs && $1::bigint[] order by page`;
const NUMBERS_OF_CONTENT = `select distinct run.number from question join run on run.id = question.run_id
  where question.id > $1 and question.id < $2`;

/** A place in the feed. */
export interface FeedPlace {
  xid: number;
  seq: number;
}

const START: FeedPlace = { xid: 0, seq: 0 };

/** Reads rows whose texts may be in the archive, and the archive itself. */
export class PostgresArchive {
  readonly queryable: Queryable;
  readonly #pages: PageCache;

  constructor(queryable: Queryable) {
    this.queryable = queryable;
    this.#pages = new PageCache(unreadableIn(queryable));
  }

  /** The damaged pages that were met. */
  get damaged(): readonly StoredPage[] {
    return this.#pages.damaged;
  }

  /** The rows that a statement selects, with their own texts in place of pointers. */
  async select<Row extends ArchivableRow>(sql: string, params: unknown[]): Promise<Row[]> {
    const { rows } = await this.queryable.query<Row>(sql, params);
    const pages = await this.#read(new Set(rows.flatMap(({ body }) => findPointer(body) ?? [])));
    return pages.size === 0 ? rows : rows.map((row) => withText(row, pages.get(findPointer(row.body) ?? -1)));
  }

  /** The texts of these contents, as far as they are archived; an empty one if its page may be a damaged one. */
  async findContents(names: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const name of names) {
      if (found.has(name)) continue;
      const params = [...questionsWith(name)];
      const { rows } = await this.queryable.query<{ number: number }>(NUMBERS_OF_CONTENT, params);
      const pages = await this.#pagesOf(rows.map(({ number }) => number));
      for (const wanted of names) {
        const text = pages.findLast(({ texts }) => texts.has(wanted))?.texts.get(wanted);
        if (text !== undefined) found.set(wanted, text);
        else if (wanted === name && pages.some(({ isDamaged }) => isDamaged)) found.set(wanted, "");
      }
    }
    return found;
  }

  /** Archived lines after one place and up to another, in feed order. */
  async linesAfter(place: FeedPlace, { upTo, limit }: { upTo: FeedPlace; limit: number }): Promise<StoredLine[]> {
    const lines: StoredLine[] = [];
    for (let last = place; lines.length < limit && isAfter(upTo, last);) {
      const page = await this.#find(PAGES_AFTER, last);
      if (!page) break;
      lines.push(...page.lines.filter((line) => isAfter(line, place) && !isAfter(line, upTo)));
      last = page.end;
    }
    return lines.slice(0, limit);
  }

  /** Archived lines before that place, newest first. */
  async linesBefore(place: FeedPlace, limit: number): Promise<StoredLine[]> {
    const lines: StoredLine[] = [];
    const isOlder = (line: StoredLine) => isAfter(place, line);
    // The page that ends at or after that place may begin before it.
    const around = await this.#find(PAGES_AFTER, { xid: place.xid, seq: place.seq - 1 });
    lines.push(...(around?.lines.filter(isOlder) ?? []).reverse());
    for (let last = place; lines.length < limit;) {
      const page = await this.#find(PAGES_BEFORE, last);
      if (!page) break;
      lines.push(...page.lines.filter(isOlder).reverse());
      last = page.end;
    }
    return lines.slice(0, limit);
  }

  /** The archived lines of these runs, in the order of their numbers. */
  async chainsOf(runs: ReadonlyArray<{ id: string; number: number }>): Promise<StoredLine[]> {
    const ids = new Set(runs.map(({ id }) => id));
    const pages = await this.#pagesOf(runs.map(({ number }) => number));
    return pages.flatMap(({ lines }) => lines.filter(({ runId }) => ids.has(runId)));
  }

  async #pagesOf(numbers: readonly number[]) {
    if (numbers.length === 0) return [];
    const { rows } = await this.queryable.query<{ page: number }>(PAGES_OF, [numbers]);
    const pages = await this.#read(new Set(rows.map(({ page }) => page)));
    return [...pages.values()];
  }

  async #find(sql: string, { xid, seq }: FeedPlace) {
    const { rows } = await this.queryable.query<FeedPlace & { page: number }>(sql, [String(xid), seq]);
    const [found] = rows;
    const page = found && (await this.#read(new Set([found.page]))).get(found.page);
    return page && { lines: page.lines, end: { xid: found.xid, seq: found.seq } };
  }

  /** These pages, in the same order. */
  async #read(numbers: ReadonlySet<number>): Promise<Map<number, ArchivePage>> {
    const pages = new Map<number, ArchivePage>();
    const missing = [...numbers].filter((page) => this.#pages.get(page) === undefined);
    const fetched = missing.length === 0 ? [] : await this.#fetch(missing);
    for (const page of numbers) {
      const stored = fetched.find((row) => row.page === page);
      const decoded = stored ? this.#pages.put(stored) : this.#pages.get(page);
      if (decoded) pages.set(page, decoded);
    }
    return pages;
  }

  async #fetch(pages: readonly number[]) {
    return (await this.queryable.query<StoredPage & Record<string, unknown>>(PAGES, [pages])).rows;
  }
}

/** Parses a cursor of the feed; the empty one is before everything. */
export function parseCursor(cursor: string): FeedPlace {
  const [xid = 0, seq = 0] = cursor.split("-").map(Number);
  return { xid, seq };
}

/** Says whether one place comes after another in the feed. */
export function isAfter(one: FeedPlace, other: FeedPlace): boolean {
  return one.xid === other.xid ? one.seq > other.seq : one.xid > other.xid;
}

/** Moves one page of lines into the archive, with the texts of the runs that end with them; returns how many lines. */
export async function archiveLines(pool: PostgresPool, limit: ArchiveLimit): Promise<number> {
  const { xid, seq } = parseCursor(limit.upTo);
  const upTo = [String(xid), seq];
  const last = (await pool.query<{ body: string }>(LAST_DUE, [...upTo, limit.lines - 1])).rows;
  if (!last[0] || !isOldEnough(last[0], limit)) return 0;
  return pool.use((client) =>
    inTransaction(client, async () => {
      const { rows: lock } = await client.query<{ is_mine: boolean }>(LOCK, [LOCK_NUMBER]);
      if (!lock[0]?.is_mine) return 0;
      const { rows } = await client.query<Omit<StoredLine, "before">>(LINES_DUE, [...upTo, limit.lines]);
      if (!isPageDue(rows, limit)) return 0;
      await writePage(
        client,
        rows.map((line) => ({ ...line, before: undefined })),
      );
      return rows.length;
    }),
  );
}

async function writePage(client: Queryable, lines: readonly StoredLine[]) {
  const all = async <Row extends object>(sql: string, ...params: unknown[]) =>
    (await client.query<Row>(sql, params)).rows;
  type RunRow = ArchivableRow & { number: number; status: string; chain_n: number };
  const found = await all<RunRow>(LOCK_RUNS, [...new Set(lines.map(({ runId }) => runId))]);
  const ended = endedRuns(found, lines);
  const runs = unarchived(ended);
  const questions = unarchived(await all<ArchivableRow & { run_id: string }>(CLOSED, idsOf(ended)));
  const contents = contentsOf(questions);
  const names = [...contents.keys()];
  const texts = await all<ArchivableRow>(CONTENTS, names);
  const owned = texts.map((text) => ({ ...text, run_id: contents.get(text.id) ?? "" }));
  const body = encodePage(lines, textsByRun(runs, questions, owned));
  const { xid, seq } = lines.at(-1) ?? START;
  const numbers = found.map(({ number }) => number);
  const [made] = await all<{ page: number }>(NEW_PAGE, String(xid), seq, numbers, body);
  const pointer = pointerTo(made?.page ?? 0);
  await client.query("delete from event where (xid, seq) <= ($1::text::xid8, $2::bigint)", [String(xid), seq]);
  await client.query("delete from content where hash = any($1)", [names]);
  await client.query("update run set body = $2 where id = any($1)", [idsOf(runs), pointer]);
  await client.query("update question set body = $2 where id = any($1)", [idsOf(questions), pointer]);
}

function idsOf(rows: ReadonlyArray<{ id: string }>) {
  return rows.map(({ id }) => id);
}
