import type { Question } from "../question/question.ts";
import type { Run } from "../run/run.ts";

const LONGEST_WORD = 64;
const MOST_WORDS = 400;
/** Shorter prefixes match too many words. */
const SHORTEST_START = 2;

/** A word to search for, whole or as a prefix. */
export interface SearchWord {
  word: string;
  isStart: boolean;
}

/** Splits texts into words, lower-case and without accents, as the index stores them. */
export function normalizeWords(texts: readonly string[]): string[] {
  const plain = texts
    .join(" ")
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
  return plain.match(/[\p{Letter}\p{Number}]+/gu) ?? [];
}

/** The words a question is indexed under: those of its title and of the names of its run. */
export function searchWordsOf({ title }: Pick<Question, "title">, run: SearchedRun | undefined): string[] {
  const names = run ? [run.name, String(run.number), run.externalId ?? "", run.repo ?? ""] : [];
  return unique(normalizeWords([title, ...names]));
}
export type SearchedRun = Pick<Run, "name" | "number" | "externalId" | "repo">;

/** Parses search text: every word must match, whole or as a prefix. */
export function parseSearch(typed: string): SearchWord[] {
  return unique(normalizeWords([typed])).map((word) => ({ word, isStart: word.length >= SHORTEST_START }));
}

function unique(words: readonly string[]) {
  return [...new Set(words.map((word) => word.slice(0, LONGEST_WORD)))].slice(0, MOST_WORDS);
}
