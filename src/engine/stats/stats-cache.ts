import { z } from "zod";
import type { Entry } from "../../core/changes.ts";
import { type QuestionId, STORE_CHAIN } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import { type StatsBlock, packStats, unpackStats } from "../../core/stats/stats-block.ts";
import type { StatsRow } from "../../core/stats/stats-row.ts";
import { nextTurn } from "../../store/next-turn.ts";
import type { Store } from "../../store/store.ts";
import { pagesSince, readFacts } from "./stats-facts.ts";

const EVENTS = 500;
/** The events of a block: the questions closed in fewer are read one by one. */
const BLOCK_EVENTS = 4_000;
const BLOCKS_AT_ONCE = 16;
/** More than this is not held in memory, where the blocks cannot be written. */
const MOST_LOOSE = 500_000;
const MARK = { kind: "stats", id: "mark" } as const;

/** How far the blocks reach, and the newest question of each: a count skips those that are too old. */
const Mark = z.object({ cursor: z.string(), newest: z.array(z.number()) });
type Mark = z.infer<typeof Mark>;

/** Closed questions that the feed names after the last block. */
interface RecentRows {
  /** The end of the last block. */
  from: string;
  cursor: string;
  events: number;
  ids: Set<QuestionId>;
  rows: StatsRow[];
}

/**
 * The statistics rows of all closed questions, in blocks that are read instead of the questions: a closed question
 * counts the same for ever. The feed names those that were closed after the last block.
 */
export class StatsCache {
  readonly #store: Store;
  readonly #blockEvents: number;
  #loose: RecentRows | undefined;
  #working: Promise<unknown> = Promise.resolve();

  constructor(store: Store, blockEvents = BLOCK_EVENTS) {
    this.#store = store;
    this.#blockEvents = blockEvents;
  }

  /** Writes a block if enough has happened since the last one; says whether it did. */
  takeIn(): Promise<boolean> {
    return this.#inTurn(async () => {
      const { mark, version } = await this.#readMark();
      const loose = await this.#catchUp(mark, this.#blockEvents);
      if (loose.events < this.#blockEvents) return false;
      const entries = blockEntries(mark, version, loose);
      const event = keptEvent(loose.rows.length, version, await this.#store.now());
      const committed = await this.#store.commit({ entries, events: [event] });
      return committed.ok;
    });
  }

  /** Everything asked since then and some of what was asked before, in slices; undefined where that is too much. */
  async read(sinceMs: number): Promise<AsyncIterable<readonly StatsRow[]> | undefined> {
    // A store that cannot be written can still be counted.
    for (;;) if (!(await this.takeIn().catch(() => false))) break;
    return this.#inTurn(async () => {
      // Pending questions are read first: one that is closed meanwhile is then met twice and not missed.
      const pending = await this.#readPending(sinceMs);
      const { mark } = await this.#readMark();
      const { rows, ids } = await this.#catchUp(mark, Infinity);
      if (rows.length >= MOST_LOOSE) return undefined;
      const open = pending.flatMap(({ id, row }) => (ids.has(id) ? [] : [row]));
      return this.#slices(mark, sinceMs, [[...rows], open]);
    });
  }

  async *#slices(mark: Mark, sinceMs: number, rest: StatsRow[][]): AsyncGenerator<readonly StatsRow[]> {
    const wanted = mark.newest.flatMap((newest, index) => (newest >= sinceMs ? [blockId(index)] : []));
    for (let start = 0; start < wanted.length; start += BLOCKS_AT_ONCE) {
      const entries = await this.#store.readEntries("stats", wanted.slice(start, start + BLOCKS_AT_ONCE));
      // Unchecked, as it was checked when it was written.
      for (const { body } of entries) yield unpackStats(body as unknown as StatsBlock);
    }
    yield* rest;
  }

  async #readMark(): Promise<{ mark: Mark; version: number }> {
    const entry = await this.#store.findEntry(MARK.kind, MARK.id);
    if (!entry) return { mark: { cursor: "", newest: [] }, version: 0 };
    return { mark: Mark.parse(entry.body), version: entry.version };
  }

  /** Reads what was closed after the last block: up to the end of the feed, or so many events. */
  async #catchUp({ cursor: from }: Mark, enough: number): Promise<RecentRows> {
    if (this.#loose?.from !== from) this.#loose = { from, cursor: from, events: 0, ids: new Set(), rows: [] };
    const loose = this.#loose;
    while (loose.events < enough && loose.rows.length < MOST_LOOSE) {
      const events = await this.#store.readFeed(loose.cursor, EVENTS);
      const closed = events.flatMap(({ event }) => (isClosing(event) && event.questionId ? [event.questionId] : []));
      const ids = [...new Set(closed)].filter((id) => !loose.ids.has(id));
      const rows = await readFacts(this.#store, await this.#store.readQuestions(ids));
      for (const id of ids) loose.ids.add(id);
      loose.rows.push(...rows);
      loose.events += events.length;
      loose.cursor = events.at(-1)?.cursor ?? loose.cursor;
      if (events.length < EVENTS) break;
      await nextTurn();
    }
    return loose;
  }

  async #readPending(sinceMs: number) {
    const pending: Array<{ id: QuestionId; row: StatsRow }> = [];
    for await (const page of pagesSince(this.#store, sinceMs, "pending")) {
      const rows = await readFacts(this.#store, page);
      pending.push(...rows.flatMap((row, index) => (page[index] ? [{ id: page[index].id, row }] : [])));
    }
    return pending;
  }

  /** One after the other, so that what one reads is there for the next. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#working.then(work);
    this.#working = mine.catch(() => undefined); // whoever asked hears of it
    return mine;
  }
}

/** The block of these rows, if there are any, and the mark after it. */
function blockEntries({ newest }: Mark, version: number, { rows, cursor }: RecentRows): Entry[] {
  if (rows.length === 0) return [{ ...MARK, version, body: { cursor, newest } satisfies Mark }];
  const block: Entry = { kind: MARK.kind, id: blockId(newest.length), version: 0, body: { ...packStats(rows) } };
  const latest = rows.reduce((most, { askedMs }) => Math.max(most, askedMs), 0);
  return [block, { ...MARK, version, body: { cursor, newest: [...newest, latest] } satisfies Mark }];
}

/** The event that pins a block and the mark after it. */
function keptEvent(questions: number, version: number, at: Instant): Event {
  const detail = { questions };
  return { type: "stats.kept", at, runId: STORE_CHAIN, by: SYSTEM, to: "kept", version: version + 1, detail };
}

function blockId(index: number) {
  return `block ${index}`;
}

function isClosing({ from, to, type }: Event) {
  return type.startsWith("question.") && to !== "pending" && (from === undefined || from === "pending");
}
