import type { Read } from "../core/changes.ts";
import type { QuestionId } from "../core/id.ts";
import { type Similar, isPersonsAnswer, nearestTitles, rankSimilar } from "../core/similar.ts";
import type { Store } from "../store/store.ts";

/** How far back is looked: nothing is indexed for this, so that asking and answering stay as fast as they are. */
const MOST_LOOKED_AT = 2_000;
const MOST_READ = 40;

interface SimilarDeps {
  store: Pick<Store, "listQuestions">;
  read: (id: QuestionId) => Promise<Read>;
}

/** What people answered to questions like this one: one page of the newest, and a few of these in full. */
export async function findSimilar(id: QuestionId, limit: number, { store, read }: SimilarDeps): Promise<Similar[]> {
  const asked = await read(id);
  const newest = await store.listQuestions({ status: "answered", order: "newest", limit: MOST_LOOKED_AT });
  const past = newest.filter((question) => question.id !== id && isPersonsAnswer(question));
  const { near, weight } = nearestTitles(asked, past, MOST_READ);
  return rankSimilar(asked, await Promise.all(near.map((question) => read(question.id))), { weight, limit });
}
