import { type QuestionId, type RunId, firstQuestionId } from "../core/id.ts";
import { DAY_MS, type Instant, MINUTE_MS, epochMs, later } from "../core/instant.ts";
import type { Question } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Rules } from "../core/rules.ts";
import type { Stats, StatsQuery } from "../core/stats.ts";
import { Tally } from "../core/tally.ts";
import type { Origin, Store } from "../store/store.ts";
import { nextTurn } from "./turn.ts";

const PAGE = 250;
/** What a count may keep in memory grows with the number of questions, so there is a most. */
const MOST_COUNTED = 500_000;
const USUAL_MS = 7 * DAY_MS;
/** Ids carry the time of the machine that made them, which may differ a little from the store's. */
const SKEW_MS = 5 * MINUTE_MS;

type Known = ReadonlyMap<RunId, Origin>;

/** Reads the questions of a time page by page and counts them. */
export async function countStats(query: StatsQuery, store: Store, rules: Rules): Promise<Stats> {
  const now = await store.now();
  const until = query.until ?? now;
  const since = query.since ?? later(until, -USUAL_MS);
  if (since >= until) throw new Refusal("bad_input", "The time to count ends before it begins");
  const tally = new Tally(now, query.aheadMs);
  let counted = 0;
  for await (const page of pagesOf(store, { since, until })) {
    const runs = await readOrigins(store, page);
    for (const question of page) {
      if (!isWanted(question, { since, until, query, runs })) continue;
      counted += 1;
      if (counted <= MOST_COUNTED) tally.add(question, runs.get(question.runId));
    }
    if (counted > MOST_COUNTED) break;
    await nextTurn();
  }
  const waiting = await countPending(store, query);
  return tally.result({ since, until, rules, ...waiting, isPartial: counted > MOST_COUNTED });
}

/** In the order of their ids, which begin with the time: everything asked then, and a little more at both ends. */
async function* pagesOf(
  store: Store,
  { since, until }: { since: Instant; until: Instant },
): AsyncGenerator<Question[]> {
  let after: QuestionId = firstQuestionId(Math.max(0, epochMs(since) - SKEW_MS));
  const end = firstQuestionId(epochMs(until) + SKEW_MS);
  for (;;) {
    const page = await store.listQuestions({ order: "oldest", after, limit: PAGE });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE || last.id > end) return;
    after = last.id;
  }
}

async function readOrigins(store: Store, questions: readonly Question[]): Promise<Known> {
  const ids = [...new Set(questions.map(({ runId }) => runId))];
  const runs = ids.length === 0 ? [] : await store.readOrigins(ids);
  return new Map(runs.map((run) => [run.id, run]));
}

function isWanted(
  { askedAt, runId }: Question,
  { since, until, query, runs }: { since: Instant; until: Instant; query: StatsQuery; runs: Known },
): boolean {
  if (askedAt < since || askedAt >= until) return false;
  return isOf(runs.get(runId), query);
}

function isOf(run: Origin | undefined, { repo, agent }: StatsQuery): boolean {
  return (repo === undefined || run?.repo === repo) && (agent === undefined || run?.agent === agent);
}

async function countPending(store: Store, query: StatsQuery): Promise<Pick<Stats, "pending" | "oldest">> {
  if (query.repo === undefined && query.agent === undefined) {
    const [pending, [oldest]] = await Promise.all([
      store.countQuestions("pending"),
      store.listQuestions({ status: "pending", order: "oldest", limit: 1 }),
    ]);
    return { pending, ...(oldest && { oldest: pick(oldest) }) };
  }
  let pending = 0;
  let oldest: Question | undefined;
  let after: QuestionId | undefined;
  for (;;) {
    const page = await store.listQuestions({
      status: "pending",
      order: "oldest",
      limit: PAGE,
      ...(after && { after }),
    });
    const runs = await readOrigins(store, page);
    const own = page.filter(({ runId }) => isOf(runs.get(runId), query));
    pending += own.length;
    oldest ??= own[0];
    after = page.at(-1)?.id;
    if (page.length < PAGE) return { pending, ...(oldest && { oldest: pick(oldest) }) };
  }
}

function pick({ id, title, askedAt }: Question): NonNullable<Stats["oldest"]> {
  return { id, title, askedAt };
}
