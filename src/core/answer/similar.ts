import { z } from "zod";
import { Actor } from "../people/actor.ts";
import type { Read } from "../changes.ts";
import { type Content, titleOf } from "../question/content.ts";
import { findVerifiedRepo } from "../trail/fact-source.ts";
import { QuestionId } from "../id.ts";
import { Instant } from "../instant.ts";
import { answerText } from "./match.ts";
import type { Question } from "../question/question.ts";
import { plainWords } from "./search-word.ts";
import { STOP_WORDS } from "../stop-words.ts";

/** Below this two questions are not about the same thing. */
const LEAST_ALIKE = 0.3;
const LEAST_SHARED_WORDS = 2;
const LONGEST_WORDS = 400;
/** A word that more than this part of all titles has tells little; at least some are looked for all the same. */
const MOST_COMMON = 0.05;
const LEAST_TELLING = 6;
const MOST_TELLING = 24;

/** A past question that is like the one at hand, with what a person answered; secrets are taken out. */
export const Similar = z.object({
  id: QuestionId,
  title: z.string(),
  answer: z.string(),
  note: z.string().optional(),
  by: Actor,
  at: Instant,
  repo: z.string().optional(),
  isSameRepo: z.boolean(),
  /** From 0 to 1. */
  score: z.number(),
});
export type Similar = z.infer<typeof Similar>;

/** What a text says, without order. */
export type Words = ReadonlySet<string>;
/** How much a word says: one that most questions have says little. */
export type Weight = (word: string) => number;

interface RankOptions {
  weight: Weight;
  limit: number;
}

/** Says whether a person closed it with an answer that could serve again. */
export function isPersonsAnswer(question: Question): question is Extract<Question, { status: "answered" }> {
  if (question.status !== "answered" || question.answer.outcome !== "answer") return false;
  return question.answer.policy === undefined && question.answer.by.scope !== "system";
}

/** The words of a title by which it is compared. */
export function titleWords(title: string): Words {
  return wordsOf([title]);
}

/** How often words occur in the titles of a sample. */
export class WordCounts {
  readonly size: number;
  readonly #counts = new Map<string, number>();

  constructor(titles: readonly Words[]) {
    this.size = titles.length;
    for (const words of titles) for (const word of words) this.#counts.set(word, this.of(word) + 1);
  }

  of(word: string): number {
    return this.#counts.get(word) ?? 0;
  }
}

/** What words weigh beside the question at hand, and by which of its words others like it are looked for. */
export function weighWords(asked: Read, counts: WordCounts): { weight: Weight; telling: string[] } {
  const words = wordsOf(textsOf(asked.content));
  const weight: Weight = (word) =>
    Math.log(1 + (counts.size + 1) / Math.max(1, counts.of(word) + Number(words.has(word))));
  const rarest = [...words].sort((one, other) => weight(other) - weight(one));
  const isRare = (word: string): boolean => counts.of(word) <= counts.size * MOST_COMMON;
  return {
    weight,
    telling: rarest.filter((word, place) => place < LEAST_TELLING || isRare(word)).slice(0, MOST_TELLING),
  };
}

/** Those of the past questions that are about the same, of the same repository first, the most alike first. */
export function rankSimilar(asked: Read, past: readonly Read[], { weight, limit }: RankOptions): Similar[] {
  const words = wordsOf(textsOf(asked.content));
  const others = past.map(({ content }) => wordsOf(textsOf(content)));
  const found = past.flatMap((read, index) => {
    const theirs = others[index] ?? new Set<string>();
    const score = alike(words, theirs, weight);
    const least = Math.min(LEAST_SHARED_WORDS, words.size);
    const isAlike = score >= LEAST_ALIKE && countShared(words, theirs) >= least;
    const similar = isAlike && read.question.kind === asked.question.kind ? similarOf(asked, read, score) : undefined;
    return similar ? [similar] : [];
  });
  return found.sort(byUse).slice(0, limit);
}

function similarOf(asked: Read, { question, content, run }: Read, score: number): Similar | undefined {
  if (!isPersonsAnswer(question)) return undefined;
  const { answer } = question;
  return {
    id: question.id,
    title: titleOf(sharedOf(content)),
    answer: answerText(sharedOf(content), answer.items),
    ...(answer.note !== undefined && { note: answer.note }),
    by: answer.by,
    at: answer.at,
    ...(run.repo !== undefined && { repo: run.repo }),
    isSameRepo: isSameRepo(run, asked.run),
    score: Math.round(score * 100) / 100,
  };
}

/** A repository that only the asker names brings no past answer to the front. */
function isSameRepo(one: Read["run"], other: Read["run"]): boolean {
  const repo = findVerifiedRepo(one);
  return repo !== undefined && repo === findVerifiedRepo(other);
}

function byUse(one: Similar, other: Similar): number {
  if (one.isSameRepo !== other.isSameRepo) return one.isSameRepo ? -1 : 1;
  return other.score - one.score || (one.at > other.at ? -1 : 1);
}

/** What was asked without its context: that is long and tells of the work, not of the choice. */
function textsOf(content: Content): string[] {
  return sharedOf(content).items.flatMap((item) => [item.text, ...item.options.map(({ label }) => label)]);
}

function sharedOf(content: Content): Content {
  return content.shared ?? content;
}

/** The words that say something, without accents and endings. */
function wordsOf(texts: readonly string[]): Words {
  const telling = plainWords(texts).filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  return new Set(telling.slice(0, LONGEST_WORDS).map(stem));
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|en|s|e)$/, "") : word;
}

/** The cosine of the angle between two sets of weighted words: 0 for nothing shared, 1 for the same. */
function alike(words: Words, others: Words, weight: Weight): number {
  let shared = 0;
  for (const word of words) if (others.has(word)) shared += weight(word) ** 2;
  return shared === 0 ? 0 : shared / (length(words, weight) * length(others, weight));
}

function length(words: Words, weight: Weight): number {
  let sum = 0;
  for (const word of words) sum += weight(word) ** 2;
  return Math.sqrt(sum);
}

function countShared(words: Words, others: Words): number {
  let count = 0;
  for (const word of words) if (others.has(word)) count += 1;
  return count;
}
