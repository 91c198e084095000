import type { StatsRow } from "../../core/stats/stats-row.ts";
import { firstQuestionId } from "../../core/id.ts";
import { DAY_MS, epochMs, later } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import type { Stats, StatsQuery } from "../../core/stats/stats.ts";
import { StatsTally } from "../../core/stats/tally.ts";
import type { Store } from "../../store/store.ts";
import { SKEW_MS, pagesSince, readFacts } from "./stats-facts.ts";
import type { StatsCache } from "./stats-cache.ts";
import { nextTurn } from "../../store/next-turn.ts";

/** Memory of a count grows with the number of questions, so it is limited. */
const MOST_COUNTED = 2_000_000;
const USUAL_MS = 7 * DAY_MS;

interface Period {
  sinceMs: number;
  untilMs: number;
}

/** Counts the questions of a time: with what a cache knows already, or by reading them all. */
export async function countStats(query: StatsQuery, store: Store, rules: Rules, cache?: StatsCache): Promise<Stats> {
  const now = await store.now();
  const until = query.until ?? now;
  const since = query.since ?? later(until, -USUAL_MS);
  if (since >= until) throw new Refusal("bad_input", "The time to count ends before it begins");
  const period: Period = { sinceMs: epochMs(since), untilMs: epochMs(until) };
  const kept = await cache?.read(period.sinceMs);
  const tally = new StatsTally(now, query.aheadMs);
  let counted = 0;
  for await (const slice of kept ?? readSlices(store, period)) {
    const wanted = slice.filter((fact) => isWanted(fact, period) && isOf(fact, query));
    counted += wanted.length;
    for (const fact of wanted.slice(0, Math.max(0, wanted.length - counted + MOST_COUNTED))) tally.add(fact);
    if (counted > MOST_COUNTED) break;
    await nextTurn();
  }
  const waiting = await countPending(store, query);
  const counting = tally.count({ since, until, rules, ...waiting, isPartial: counted > MOST_COUNTED });
  for (;;) {
    const step = counting.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

async function* readSlices(store: Store, { sinceMs, untilMs }: Period): AsyncGenerator<readonly StatsRow[]> {
  const end = firstQuestionId(untilMs + SKEW_MS);
  for await (const page of pagesSince(store, sinceMs)) {
    yield await readFacts(store, page);
    const last = page.at(-1);
    if (last && last.id > end) return;
  }
}

function isWanted({ askedMs }: StatsRow, { sinceMs, untilMs }: Period) {
  return askedMs >= sinceMs && askedMs < untilMs;
}

function isOf(fact: Pick<StatsRow, "agent" | "repo">, { repo, agent }: StatsQuery) {
  return (repo === undefined || fact.repo === repo) && (agent === undefined || fact.agent === agent);
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
  for await (const page of pagesSince(store, 0, "pending")) {
    const facts = await readFacts(store, page);
    const own = page.filter((_, index) => facts[index] && isOf(facts[index], query));
    pending += own.length;
    oldest ??= own[0];
  }
  return { pending, ...(oldest && { oldest: pick(oldest) }) };
}

function pick({ id, title, askedAt }: Question): NonNullable<Stats["oldest"]> {
  return { id, title, askedAt };
}
