import type { PoolClient } from "pg";
import type { QuestionId } from "../../core/id.ts";
import { type SearchWord, parseSearch } from "../../core/answer/search-word.ts";
import { type PostgresPool, type Queryable, inTransaction } from "./pool.ts";
import { PostgresArchive } from "./archive.ts";
import { READ_QUESTIONS, readQuestions, readRuns } from "./row.ts";
import { MOST_FOUND, type WordRow, questionsInEvents, wordChanges } from "../word-index.ts";

/** One node at a time: a node that finds the mark locked leaves the work to the other. */
const MARK = "select xid::text as xid, seq from word_mark for update skip locked";
// Only relevant events are sent whole; false matches in other text are filtered by the reader.
export const EVENTS = `select xid::text as xid, seq,
    case when strpos(body, '"question.asked"') > 0 or strpos(body, '"question.answered"') > 0 then body end as body
  from event where (xid, seq) > ($1::text::xid8, $2::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())
  order by event.xid, event.seq limit $3`; // named with the table: by itself it would be the text above
export const IS_MORE = `select 1 from event
  where (xid, seq) > ((select xid from word_mark), (select seq from word_mark))
    and xid < pg_snapshot_xmin(pg_current_snapshot())
  order by xid, seq limit 1`;
const RUNS = "select id, body, number from run where id = any($1)";
const MOVE = "update word_mark set xid = $1::text::xid8, seq = $2";

/** Selects the newest questions that contain the words. */
export const FOUND = `id in (select id from question_word where words @@ ?::text::tsquery order by id desc limit ${MOST_FOUND})`;

/** The search expression for typed text; undefined if it has no words. */
export function searchExpression(typed: string): string | undefined {
  const sought = parseSearch(typed);
  return sought.length === 0 ? undefined : sought.map(quote).join(" & ");
}

/** One subquery per word, so that each is planned by the word's frequency. */
export function findAnsweredText(words: readonly string[]): string {
  const parts = words.map(
    (_, index) => `(select ${index} as place, id from answered_word where words @@ $${index + 2}::tsquery
      order by id desc limit $1)`,
  );
  return parts.join(" union all ");
}

export async function findAnswered(pool: Queryable, words: readonly string[], limit: number): Promise<QuestionId[][]> {
  const lists: QuestionId[][] = words.map(() => []);
  if (words.length === 0) return lists;
  const sought = words.map((word) => quote({ word, isStart: false }));
  const { rows } = await pool.query<{ place: number; id: QuestionId }>(findAnsweredText(words), [limit, ...sought]);
  for (const { place, id } of rows) lists[place]?.push(id);
  return lists;
}

/** Indexes up to `limit` more events; returns how many there were. */
export async function indexWords(pool: PostgresPool, limit: number): Promise<number> {
  if ((await pool.query(IS_MORE)).rows.length === 0) return 0;
  return pool.use((client) => inTransaction(client, () => indexEvents(client, limit)));
}

async function indexEvents(client: PoolClient, limit: number) {
  const mark = (await client.query<{ xid: string; seq: number }>(MARK)).rows[0];
  if (!mark) return 0;
  const read = await client.query<{ xid: string; seq: number; body: string | null }>(EVENTS, [
    mark.xid,
    mark.seq,
    limit,
  ]);
  const last = read.rows.at(-1);
  if (!last) return 0;
  const ids = questionsInEvents(read.rows.flatMap(({ body }) => body ?? []));
  const archive = new PostgresArchive(client);
  const kept = await readQuestions(archive, READ_QUESTIONS, [[...new Set([...ids.asked, ...ids.answered])]]);
  const runs = await readRuns(archive, RUNS, [[...new Set(kept.map(({ runId }) => runId))]]);
  const questions = new Map(kept.map((question) => [question.id, question]));
  const changes = wordChanges(ids, questions, new Map(runs.map((run) => [run.id, run])));
  await insert(client, "question_word", changes.asked);
  await insert(client, "answered_word", changes.answered);
  await client.query(MOVE, [last.xid, last.seq]);
  return read.rows.length;
}

async function insert(client: PoolClient, table: string, rows: readonly WordRow[]) {
  const sql = `insert into ${table} (id, words)
    select id, array_to_tsvector(string_to_array(words, ' ')) from unnest($1::text[], $2::text[]) as given (id, words)
    on conflict do nothing`;
  if (rows.length > 0) await client.query(sql, [rows.map(({ id }) => id), rows.map(({ words }) => words.join(" "))]);
}

/** Words consist of letters and digits only, so they contain no operators of the index. */
function quote({ word, isStart }: SearchWord) {
  return `'${word}'${isStart ? ":*" : ""}`;
}
