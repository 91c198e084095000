import { type StatsRow, statsRowOf } from "../../core/stats/stats-row.ts";
import { type QuestionId, firstQuestionId } from "../../core/id.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import type { Store } from "../../store/store.ts";
import { nextTurn } from "../../store/next-turn.ts";

const PAGE = 250;
/** Ids carry the time of the machine that made them, which may differ a little from the store's. */
export const SKEW_MS = 5 * MINUTE_MS;

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
