import { type StatsRow, statsRowOf } from "../../core/stats/stats-row.ts";
import { type QuestionId, firstQuestionId } from "../../core/id.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import type { Store } from "../../store/store.ts";
import { nextTurn } from "../../store/next-turn.ts";

const PAGE = 250;
const EVENTS = 500;
/** Memory grows with the number of questions, so it is limited. */
const MOST_KEPT = 500_000;
/** Nobody counts every minute for ever: what was not needed for so long is forgotten, and read again when it is. */
const FORGOTTEN_MS = 10 * MINUTE_MS;
/** Ids carry the time of the machine that made them, which may differ a little from the store's. */
export const SKEW_MS = 5 * MINUTE_MS;

interface Kept {
  /** The first moment of which all is here. */
  fromMs: number;
  closed: StatsRow[];
  ids: Set<QuestionId>;
  /** The last event that is in here. */
  cursor: string;
}

/**
 * Keeps the rows to count from one count to the next: closed questions are read once, waiting ones every time, and
 * the feed names those closed since then.
 */
export class StatsCache {
  readonly #store: Store;
  #kept: Kept | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Everything asked since then and some of what was asked before, or nothing where that is too much. */
  read(sinceMs: number): Promise<readonly StatsRow[] | undefined> {
    // One after the other, so that what one reads is there for the next.
    const mine = this.#reading.then(() => this.#read(sinceMs));
    this.#reading = mine.catch(() => undefined); // whoever asked hears of it
    return mine;
  }

  async #read(sinceMs: number): Promise<readonly StatsRow[] | undefined> {
    const known = this.#kept;
    // Until all is read nothing is known: if reading fails, all of it is read again.
    this.#kept = undefined;
    const kept = known ?? { fromMs: Infinity, closed: [], ids: new Set(), cursor: await this.#store.findFeedEnd() };
    if (sinceMs < kept.fromMs && !(await this.#readBack(kept, sinceMs))) return undefined;
    // Pending questions are read first: one that is closed meanwhile is then met twice and not missed.
    const pending = await this.#readPending(sinceMs);
    if (!(await this.#catchUp(kept))) return undefined;
    this.#kept = kept;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#kept = undefined), FORGOTTEN_MS).unref();
    const waiting = pending.filter(({ id }) => !kept.ids.has(id)).map(({ fact }) => fact);
    return [...kept.closed, ...waiting];
  }

  /** False where there is more than may be kept. */
  async #readBack(kept: Kept, sinceMs: number) {
    const end = kept.fromMs === Infinity ? undefined : firstQuestionId(kept.fromMs + SKEW_MS);
    for await (const page of pagesSince(this.#store, sinceMs)) {
      await this.#add(kept, page);
      if (kept.closed.length > MOST_KEPT) return false;
      const last = page.at(-1);
      if (end !== undefined && last && last.id > end) break;
    }
    kept.fromMs = sinceMs;
    return true;
  }

  async #readPending(sinceMs: number) {
    const pending: Array<{ id: QuestionId; fact: StatsRow }> = [];
    for await (const page of pagesSince(this.#store, sinceMs, "pending")) {
      const facts = await readFacts(this.#store, page);
      pending.push(...facts.flatMap((fact, index) => (page[index] ? [{ id: page[index].id, fact }] : [])));
    }
    return pending;
  }

  /** Takes in what was closed since the last time; false where that is more than may be kept. */
  async #catchUp(kept: Kept) {
    for (;;) {
      const events = await this.#store.readFeed(kept.cursor, EVENTS);
      const ids = new Set(events.flatMap(({ event }) => event.questionId ?? []));
      const unknown = [...ids].filter((id) => !kept.ids.has(id));
      if (unknown.length > 0) await this.#add(kept, await this.#store.readQuestions(unknown));
      kept.cursor = events.at(-1)?.cursor ?? kept.cursor;
      if (kept.closed.length > MOST_KEPT) return false;
      if (events.length < EVENTS) return true;
      await nextTurn();
    }
  }

  async #add(kept: Kept, questions: readonly Question[]) {
    const closed = questions.filter(({ id, status }) => status !== "pending" && !kept.ids.has(id));
    kept.closed.push(...(await readFacts(this.#store, closed)));
    for (const { id } of closed) kept.ids.add(id);
  }
}

/** In the order of their ids, which begin with the time: everything asked since then, and a little more. */
export async function* pagesSince(
  store: Store,
  sinceMs: number,
  status?: Question["status"],
): AsyncGenerator<Question[]> {
  let after: QuestionId = firstQuestionId(Math.max(0, sinceMs - SKEW_MS));
  for (;;) {
    const page = await store.listQuestions({ order: "oldest", after, limit: PAGE, ...(status && { status }) });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
    await nextTurn();
  }
}

/** The counted fields of these questions, in the same order. */
export async function readFacts(store: Store, questions: readonly Question[]): Promise<StatsRow[]> {
  if (questions.length === 0) return [];
  const runs = await store.readOrigins([...new Set(questions.map(({ runId }) => runId))]);
  const byId = new Map(runs.map((run) => [run.id, run]));
  return questions.map((question) => statsRowOf(question, byId.get(question.runId)));
}
