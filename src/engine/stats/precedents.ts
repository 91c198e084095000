import type { QuestionId } from "../../core/id.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import {
  type SimilarQuestion,
  WordCounts,
  isPersonsAnswer,
  rankSimilar,
  titleWords,
  weighWords,
} from "../../core/answer/similar.ts";
import type { Store } from "../../store/store.ts";
import type { RowCache } from "../row-cache.ts";
import { nextTurn } from "../../store/next-turn.ts";
import type { WordFollower } from "./word-follower.ts";

/** How many of the newest answered questions say which words are common. */
const SAMPLE = 1_000;
const PAGE = 250;
/** A whole sample is good for a while; one of a store with few questions only until something changes. */
const FRESH_MS = 10 * MINUTE_MS;
/** How many of the newest questions with a word are looked at, and how many of all these are read in full. */
const MOST_PER_WORD = 200;
const MOST_READ = 40;

interface SimilarDeps {
  store: Pick<Store, "listQuestions" | "findAnswered">;
  words: Pick<WordFollower, "catchUp">;
  rows: Pick<RowCache, "read" | "readMany">;
}

/** Past answers, looked up by the most distinctive words. */
export class Precedents {
  readonly #deps: SimilarDeps;
  #sample: { counts: WordCounts; atMs: number } | undefined;

  constructor(deps: SimilarDeps) {
    this.#deps = deps;
  }

  noteChange(): void {
    if (this.#sample && this.#sample.counts.size < SAMPLE) this.#sample = undefined;
  }

  /** Answers to similar questions; only the closest few are read in full. */
  async find(id: QuestionId, limit: number): Promise<SimilarQuestion[]> {
    const { store, words, rows } = this.#deps;
    await words.catchUp();
    const asked = await rows.read(id);
    const { weight, telling } = weighWords(asked, await this.#count());
    const lists = await store.findAnswered(telling, MOST_PER_WORD);
    const scores = new Map<QuestionId, number>();
    for (const [index, word] of telling.entries()) {
      for (const found of lists[index] ?? []) scores.set(found, (scores.get(found) ?? 0) + weight(word) ** 2);
    }
    scores.delete(id);
    const near = [...scores]
      .sort(([one, score], [other, otherScore]) => otherScore - score || (one < other ? 1 : -1))
      .slice(0, MOST_READ)
      .map(([found]) => found);
    return rankSimilar(asked, await rows.readMany(near), { weight, limit });
  }

  async #count() {
    const known = this.#sample;
    if (known && performance.now() - known.atMs < FRESH_MS) return known.counts;
    const titles: Array<ReadonlySet<string>> = [];
    let after: QuestionId | undefined;
    for (let looked = 0; looked < SAMPLE; looked += PAGE) {
      const filter = { status: "answered", order: "newest", limit: PAGE } as const;
      const page = await this.#deps.store.listQuestions({ ...filter, ...(after && { after }) });
      titles.push(...page.filter(isPersonsAnswer).map(({ title }) => titleWords(title)));
      after = page.at(-1)?.id;
      if (page.length < PAGE) break;
      await nextTurn();
    }
    this.#sample = { counts: new WordCounts(titles), atMs: performance.now() };
    return this.#sample.counts;
  }
}
