import type { QuestionId, RunId } from "../../core/id.ts";
import { type SearchWord, parseSearch } from "../../core/answer/search-word.ts";
import type { ArchivableRow } from "../archive.ts";
import { readQuestions } from "../question-cache.ts";
import { type RunText, runName, toRun } from "../row.ts";
import type { SqliteArchive } from "./archive.ts";
import type { Connection } from "./connection.ts";
import { MOST_FOUND, type WordRow, questionsInEvents, wordChanges } from "../word-index.ts";

const MARK = "select seq from word_mark";
const EVENTS = "select seq, body from event where seq > ? order by seq limit ?";
const QUESTIONS = `select "row", id, body from question where id in (select value from json_each(?))`;
const RUNS = "select id, number, body from run where id in (select value from json_each(?))";
const ADD_ASKED = "insert into question_word (rowid, words) values (?, ?)";
const ADD_ANSWERED = "insert into answered_word (rowid, words) values (?, ?)";
const MOVE = "update word_mark set seq = ?";

/** Selects the newest questions that contain the words. */
export const FOUND = `(select rowid as found from question_word where question_word match ?
  order by rowid desc limit ${MOST_FOUND}) cross join question on question."row" = found`;
export const FIND_ANSWERED = `select question.id from answered_word
  cross join question on question."row" = answered_word.rowid
  where answered_word match ? order by answered_word.rowid desc limit ?`;

/** The search expression for typed text; undefined if it has no words. */
export function searchExpression(typed: string): string | undefined {
  const sought = parseSearch(typed);
  return sought.length === 0 ? undefined : sought.map(quote).join(" ");
}

export function findAnswered(connection: Connection, words: readonly string[], limit: number): QuestionId[][] {
  const statement = connection.prepare<{ id: QuestionId }>(FIND_ANSWERED);
  return words.map((word) => statement.all(quote({ word, isStart: false }), limit).map(({ id }) => id));
}

/** Indexes up to `limit` more events; returns how many there were. */
export async function indexWords(connection: Connection, limit: number, archive: SqliteArchive): Promise<number> {
  const isMore = await connection.read(() => readEvents(connection, 1).length > 0);
  return isMore ? connection.transact(() => indexEvents(connection, limit, archive)) : 0;
}

function indexEvents(connection: Connection, limit: number, archive: SqliteArchive) {
  const events = readEvents(connection, limit);
  const last = events.at(-1);
  if (!last) return 0;
  const ids = questionsInEvents(events.map(({ body }) => body));
  const wanted = JSON.stringify([...new Set([...ids.asked, ...ids.answered])]);
  const rows = archive.fill(connection.prepare<ArchivableRow & { row: number }>(QUESTIONS).all(wanted));
  const read = readQuestions(connection.unreadable, rows);
  const questions = new Map(read.map((question) => [question.id, question]));
  const runIds = JSON.stringify([...new Set(read.map(({ runId }) => runId))]);
  const runs = archive.fill(connection.prepare<ArchivableRow & RunText>(RUNS).all(runIds));
  const parsed = connection.unreadable.read(runs, runName, toRun);
  const changes = wordChanges(
    ids,
    questions,
    new Map<RunId, (typeof parsed)[number]>(parsed.map((run) => [run.id, run])),
  );
  const places = new Map(rows.map(({ row, id }) => [id, row]));
  insert(connection, ADD_ASKED, places, changes.asked);
  insert(connection, ADD_ANSWERED, places, changes.answered);
  connection.prepare(MOVE).run(last.seq);
  return events.length;
}

/** In row order: the index writes them at once as long as they are in order. */
function insert(connection: Connection, sql: string, places: ReadonlyMap<string, number>, rows: readonly WordRow[]) {
  const statement = connection.prepare(sql);
  const placed = rows.map(({ id, words }) => ({ place: places.get(id) ?? 0, words: words.join(" ") }));
  for (const { place, words } of placed.sort((one, other) => one.place - other.place)) statement.run(place, words);
}

function readEvents(connection: Connection, limit: number) {
  const mark = connection.prepare<{ seq: number }>(MARK).get()?.seq ?? 0;
  return connection.prepare<{ seq: number; body: string }>(EVENTS).all(mark, limit);
}

/** Words consist of letters and digits only, so they contain no operators of the index. */
function quote({ word, isStart }: SearchWord) {
  return `"${word}"${isStart ? "*" : ""}`;
}
