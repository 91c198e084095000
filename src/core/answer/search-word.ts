import type { Question } from "../question/question.ts";
import type { Run } from "../run/run.ts";

const LONGEST_WORD = 64;
const MOST_WORDS = 400;
/** Shorter beginnings of a word fit too many words. */
const SHORTEST_START = 2;

/** A word that is looked for: whole, or as the beginning of one. */
export interface Sought {
  word: string;
  isStart: boolean;
}

/** The words of texts in small letters and without accents, each once, as they are looked for. */
export function plainWords(texts: readonly string[]): string[] {
  const plain = texts
    .join(" ")
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();
  return plain.match(/[\p{Letter}\p{Number}]+/gu) ?? [];
}

/** The words by which people find a question: those of its title and of the names of its run. */
export function searchWords({ title }: Pick<Question, "title">, run: SearchedRun | undefined): string[] {
  const names = run ? [run.name, String(run.number), run.externalId ?? "", run.repo ?? ""] : [];
  return unique(plainWords([title, ...names]));
}
export type SearchedRun = Pick<Run, "name" | "number" | "externalId" | "repo">;

/** What somebody looks for who typed this: every word, or one that begins so. */
export function soughtWords(typed: string): Sought[] {
  return unique(plainWords([typed])).map((word) => ({ word, isStart: word.length >= SHORTEST_START }));
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => word.slice(0, LONGEST_WORD)))].slice(0, MOST_WORDS);
}
