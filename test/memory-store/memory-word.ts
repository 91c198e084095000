import type { QuestionId } from "../../src/core/id.ts";
import { parseSearch } from "../../src/core/answer/search-word.ts";
import { MOST_FOUND, type WordChanges } from "../../src/store/word-index.ts";

/** The word index of the memory store, searched by a scan. */
export class MemoryWords {
  readonly #asked = new Map<QuestionId, readonly string[]>();
  readonly #answered = new Map<QuestionId, ReadonlySet<string>>();
  /** How many events are indexed. */
  mark = 0;

  add({ asked, answered }: WordChanges, events: number): void {
    for (const { id, words } of asked) this.#asked.set(id, words);
    for (const { id, words } of answered) this.#answered.set(id, new Set(words));
    this.mark += events;
  }

  /** The newest questions with all words of the typed text. */
  find(typed: string): ReadonlySet<string> {
    const sought = parseSearch(typed);
    const has = (words: readonly string[]): boolean =>
      sought.every(({ word, isStart }) => words.some((each) => (isStart ? each.startsWith(word) : each === word)));
    const found = [...this.#asked].filter(([, words]) => sought.length > 0 && has(words)).map(([id]) => id);
    return new Set(found.sort().toReversed().slice(0, MOST_FOUND));
  }

  findAnswered(word: string, limit: number): QuestionId[] {
    const found = [...this.#answered].filter(([, words]) => words.has(word)).map(([id]) => id);
    return found.sort().toReversed().slice(0, limit);
  }
}
