import type { QuestionId } from "../../src/core/id.ts";
import { soughtWords } from "../../src/core/answer/search-word.ts";
import { MOST_FOUND, type WordChanges } from "../../src/store/word-index.ts";

/** The words of the memory store, found by looking through all of them. */
export class MemoryWords {
  readonly #asked = new Map<QuestionId, readonly string[]>();
  readonly #answered = new Map<QuestionId, ReadonlySet<string>>();
  /** How many events are in here. */
  mark = 0;

  add({ asked, answered }: WordChanges, events: number): void {
    for (const { id, words } of asked) this.#asked.set(id, words);
    for (const { id, words } of answered) this.#answered.set(id, new Set(words));
    this.mark += events;
  }

  /** The newest that have all words of what somebody typed. */
  find(typed: string): ReadonlySet<string> {
    const sought = soughtWords(typed);
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
