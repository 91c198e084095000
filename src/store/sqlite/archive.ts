import type { SqlValue } from "../../sqlite.ts";
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
import { type Connection, insertInto } from "./connection.ts";
import { QUESTION_COLUMNS, RUN_COLUMNS } from "./write.ts";

const PAGE = "select body from archive where last = ?";
const PAGE_WITH = "select last from archive where last >= ? order by last limit 1";
const PAGE_BEFORE = "select last from archive where last < ? order by last desc limit 1";
// The last event stays, because the next one is numbered after it; words are indexed from events that are not archived.
const DUE =
  "from event where seq <= min(?, (select seq from word_mark), (select max(seq) from event) - 1) order by seq";
const LAST_DUE = `select body ${DUE} limit 1 offset ?`;
const LINES_DUE = `select run_id as runId, n, hash, body, 0 as xid, seq, before ${DUE} limit ?`;
// The line before the first one that is not archived.
const LAST_ARCHIVED = `with recursive chain (seq) as (
    select chain_seq from run where id = ?
    union all select event.before from chain join event on event.seq = chain.seq
  ) select min(seq) as seq from chain`;
const RUNS_OF_QUESTIONS = "select distinct run_id from question where id > ? and id < ?";

const READ_RUNS = `select ${RUN_COLUMNS.join(", ")} from run where id in (select value from json_each(?))`;
const READ_QUESTIONS = `select ${QUESTION_COLUMNS.join(", ")} from question
  where run_id in (select value from json_each(?)) and status <> 'pending'`;
const READ_CONTENTS = "select hash as id, body from content where hash in (select value from json_each(?))";
const NEW_RUNS = insertInto("run", RUN_COLUMNS);
const NEW_QUESTIONS = insertInto("question", QUESTION_COLUMNS);

type RunRow = ArchivableRow & { status: string; chain_n: number } & Record<string, SqlValue>;
type QuestionRow = ArchivableRow & { run_id: string } & Record<string, SqlValue>;

/** Reads the archive of a SQLite store. */
export class SqliteArchive {
  readonly #connection: Connection;
  readonly #pages: PageCache;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#pages = new PageCache(connection.unreadable);
  }

  /** The damaged pages that were met. */
  get damaged(): readonly StoredPage[] {
    return this.#pages.damaged;
  }

  /** The rows with their own texts in place of pointers. */
  fill<Row extends ArchivableRow>(rows: readonly Row[]): Row[] {
    return rows.map((row) => this.fillRow(row));
  }

  fillRow<Row extends ArchivableRow>(row: Row): Row {
    const page = findPointer(row.body);
    return page === undefined ? row : withText(row, this.#find(page));
  }

  /** The texts of these contents, as far as they are archived; an empty one if its page may be a damaged one. */
  findContents(names: readonly string[]): Map<string, string> {
    const found = new Map<string, string>();
    for (const name of names) {
      const text = this.#findContent(name);
      if (text !== undefined) found.set(name, text);
    }
    return found;
  }

  /** Archived lines after one place and up to another, in feed order. */
  linesAfter(seq: number, { upTo, limit }: { upTo: number; limit: number }): StoredLine[] {
    const lines: StoredLine[] = [];
    for (let place = seq; place < upTo && lines.length < limit;) {
      const last = this.#last(PAGE_WITH, place + 1);
      if (last === undefined) break;
      const page = this.#find(last)?.lines ?? [];
      lines.push(...page.filter((line) => line.seq > seq && line.seq <= upTo));
      place = last;
    }
    return lines.slice(0, limit);
  }

  /** Archived lines before that place, of everything or of one run, newest first. */
  linesBefore(seq: number, limit: number, runId?: string): StoredLine[] {
    const lines: StoredLine[] = [];
    if (runId !== undefined) {
      for (const line of this.chainBack(runId)) {
        if (lines.length === limit) break;
        if (line.seq < seq) lines.push(line);
      }
      return lines;
    }
    let last = this.#last(PAGE_WITH, seq) ?? this.#last(PAGE_BEFORE, seq);
    while (last !== undefined && lines.length < limit) {
      const older = this.#find(last)?.lines.filter((line) => line.seq < seq) ?? [];
      lines.push(...older.reverse());
      last = this.#last(PAGE_BEFORE, last);
    }
    return lines.slice(0, limit);
  }

  /** The archived lines of a run, newest first. */
  *chainBack(runId: string): Generator<StoredLine> {
    for (const page of this.#pagesOf(runId)) {
      yield* page.lines.filter((line) => line.runId === runId).reverse();
    }
  }

  /** The line at that place, if it is archived. */
  findLine(seq: number): StoredLine | undefined {
    const last = this.#last(PAGE_WITH, seq);
    const lines = (last === undefined ? undefined : this.#find(last)?.lines) ?? [];
    // Numbers have no gaps, so the line is where it is expected.
    const expected = lines[seq - (lines[0]?.seq ?? 0)];
    return expected?.seq === seq ? expected : lines.find((line) => line.seq === seq);
  }

  #findContent(name: string) {
    const runs = this.#connection.prepare<{ run_id: string }>(RUNS_OF_QUESTIONS).all(...questionsWith(name));
    let mayBeDamaged = false;
    for (const { run_id: runId } of runs) {
      for (const { texts, isDamaged } of this.#pagesOf(runId)) {
        const text = texts.get(name);
        if (text !== undefined) return text;
        mayBeDamaged ||= isDamaged;
      }
    }
    return mayBeDamaged ? "" : undefined;
  }

  /** The pages with lines of a run, newest first: each line names the one before it. */
  *#pagesOf(runId: string): Generator<ArchivePage> {
    let seq = this.#connection.prepare<{ seq: number | null }>(LAST_ARCHIVED).get(runId)?.seq ?? 0;
    while (seq > 0) {
      const last = this.#last(PAGE_WITH, seq);
      const page = last === undefined ? undefined : this.#find(last);
      if (page === undefined) return;
      yield page;
      const before = page.lines.find((line) => line.runId === runId)?.before ?? 0;
      seq = before < seq ? before : 0;
    }
  }

  #last(sql: string, seq: number) {
    return this.#connection.prepare<{ last: number }>(sql).get(seq)?.last;
  }

  #find(last: number): ArchivePage | undefined {
    const known = this.#pages.get(last);
    if (known) return known;
    const row = this.#connection.prepare<{ body: Uint8Array }>(PAGE).get(last);
    return row && this.#pages.put({ page: last, xid: 0, seq: last, body: row.body });
  }
}

/** Moves one page of lines into the archive, with the texts of the runs that end with them; returns how many lines. */
export async function archiveLines(connection: Connection, limit: ArchiveLimit): Promise<number> {
  const upTo = Number(limit.upTo);
  const last = await connection.read(() => connection.prepare<{ body: string }>(LAST_DUE).get(upTo, limit.lines - 1));
  if (!last || !isOldEnough(last, limit)) return 0;
  return connection.transact(() => {
    // Another process may have archived them meanwhile: read again.
    const lines = connection.prepare<StoredLine>(LINES_DUE).all(upTo, limit.lines);
    if (!isPageDue(lines, limit)) return 0;
    writePage(connection, lines);
    return lines.length;
  });
}

function writePage(connection: Connection, lines: readonly StoredLine[]) {
  const last = lines.at(-1)?.seq ?? 0;
  const ids = JSON.stringify([...new Set(lines.map(({ runId }) => runId))]);
  const ended = endedRuns(connection.prepare<RunRow>(READ_RUNS).all(ids), lines);
  const runs = unarchived(ended);
  const questions = unarchived(connection.prepare<QuestionRow>(READ_QUESTIONS).all(listIds(ended)));
  const contents = contentsOf(questions);
  const names = JSON.stringify([...contents.keys()]);
  const texts = connection.prepare<ArchivableRow>(READ_CONTENTS).all(names);
  const owned = texts.map((text) => ({ ...text, run_id: contents.get(text.id) ?? "" }));
  const body = encodePage(lines, textsByRun(runs, questions, owned));
  connection.prepare("insert into archive (last, body) values (?, ?)").run(last, body);
  connection.prepare("delete from event where seq <= ?").run(last);
  connection.prepare("delete from content where hash in (select value from json_each(?))").run(names);
  // Rows that shrink where they are leave their pages nearly empty. Deleted and inserted anew they share pages.
  connection.database.exec("pragma defer_foreign_keys = on");
  const remove = "where id in (select value from json_each(?))";
  connection.prepare(`delete from question ${remove}`).run(listIds(questions));
  connection.prepare(`delete from run ${remove}`).run(listIds(runs));
  connection.insert(
    NEW_RUNS,
    runs.map((run) => cellsOf(run, RUN_COLUMNS, last)),
  );
  connection.insert(
    NEW_QUESTIONS,
    questions.map((question) => cellsOf(question, QUESTION_COLUMNS, last)),
  );
}

function listIds(rows: ReadonlyArray<{ id: string }>) {
  return JSON.stringify(rows.map(({ id }) => id));
}

function cellsOf(row: Record<string, SqlValue>, columns: readonly string[], page: number): SqlValue[] {
  return columns.map((column) => (column === "body" ? pointerTo(page) : (row[column.replaceAll('"', "")] ?? null)));
}
