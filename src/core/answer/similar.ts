import { z } from "zod";
import { Actor } from "../people/actor.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { type Content, titleOf } from "../question/content.ts";
import { findVerifiedRepo } from "../trail/fact-source.ts";
import { QuestionId } from "../id.ts";
import { Instant } from "../instant.ts";
import { answerText } from "./match.ts";
import type { Question } from "../question/question.ts";
import { normalizeWords } from "./search-word.ts";

/** Questions less similar than this are not listed. */
const LEAST_ALIKE = 0.3;
const LEAST_SHARED_WORDS = 2;
const LONGEST_WORDS = 400;
/** Words that occur in a larger share of all titles are not searched for, beyond a minimum number. */
const MOST_COMMON = 0.05;
const LEAST_TELLING = 6;
const MOST_TELLING = 24;

/** A similar past question with a person's answer, with secrets redacted. */
export const SimilarQuestion = z.object({
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
export type SimilarQuestion = z.infer<typeof SimilarQuestion>;

/** The distinct words of a text. */
export type WordSet = ReadonlySet<string>;
/** The weight of a word; common words weigh little. */
export type WordWeight = (word: string) => number;

interface RankOptions {
  weight: WordWeight;
  limit: number;
}

/** Says whether a person closed the question with an answer that can be suggested again. */
export function isPersonsAnswer(question: Question): question is Extract<Question, { status: "answered" }> {
  if (question.status !== "answered" || question.answer.outcome !== "answer") return false;
  return question.answer.policy === undefined && question.answer.by.scope !== "system";
}

/** The words of a title that count for similarity. */
export function titleWords(title: string): WordSet {
  return wordsOf([title]);
}

/** Counts how often words occur in a sample of titles. */
export class WordCounts {
  readonly size: number;
  readonly #counts = new Map<string, number>();

  constructor(titles: readonly WordSet[]) {
    this.size = titles.length;
    for (const words of titles) for (const word of words) this.#counts.set(word, this.of(word) + 1);
  }

  of(word: string): number {
    return this.#counts.get(word) ?? 0;
  }
}

/** Weighs the words of a question and selects the distinctive ones to search for. */
export function weighWords(asked: QuestionSnapshot, counts: WordCounts): { weight: WordWeight; telling: string[] } {
  const words = wordsOf(textsOf(asked.content));
  const weight: WordWeight = (word) =>
    Math.log(1 + (counts.size + 1) / Math.max(1, counts.of(word) + Number(words.has(word))));
  const rarest = [...words].sort((one, other) => weight(other) - weight(one));
  const isRare = (word: string) => counts.of(word) <= counts.size * MOST_COMMON;
  return {
    weight,
    telling: rarest.filter((word, place) => place < LEAST_TELLING || isRare(word)).slice(0, MOST_TELLING),
  };
}

/** Ranks similar past questions: those of the same repository first, then by similarity. */
export function rankSimilar(
  asked: QuestionSnapshot,
  past: readonly QuestionSnapshot[],
  { weight, limit }: RankOptions,
): SimilarQuestion[] {
  const words = wordsOf(textsOf(asked.content));
  const others = past.map(({ content }) => wordsOf(textsOf(content)));
  const found = past.flatMap((read, index) => {
    const theirs = others[index] ?? new Set<string>();
    const score = cosineSimilarity(words, theirs, weight);
    const least = Math.min(LEAST_SHARED_WORDS, words.size);
    const isAlike = score >= LEAST_ALIKE && countShared(words, theirs) >= least;
    const similar = isAlike && mayCompare(asked, read) ? similarOf(asked, read, score) : undefined;
    return similar ? [similar] : [];
  });
  return found.sort(compareUsefulness).slice(0, limit);
}

/** An approval is compared with approvals of exactly the same tool use only: equal words can allow something else. */
function mayCompare({ question: asked }: QuestionSnapshot, { question: past }: QuestionSnapshot) {
  if (asked.kind !== past.kind) return false;
  return asked.kind === "question" || (asked.fingerprint !== undefined && asked.fingerprint === past.fingerprint);
}

function similarOf(
  asked: QuestionSnapshot,
  { question, content, run }: QuestionSnapshot,
  score: number,
): SimilarQuestion | undefined {
  if (!isPersonsAnswer(question)) return undefined;
  const { answer } = question;
  return {
    id: question.id,
    title: titleOf(sharedOf(content)),
    answer: answerText(sharedOf(content), answer.items),
    note: answer.note,
    by: answer.by,
    at: answer.at,
    repo: run.repo,
    isSameRepo: isSameRepo(run, asked.run),
    score: Math.round(score * 100) / 100,
  };
}

/** A repository that only the asker claims does not rank past answers higher. */
function isSameRepo(one: QuestionSnapshot["run"], other: QuestionSnapshot["run"]) {
  const repo = findVerifiedRepo(one);
  return repo !== undefined && repo === findVerifiedRepo(other);
}

function compareUsefulness(one: SimilarQuestion, other: SimilarQuestion) {
  if (one.isSameRepo !== other.isSameRepo) return one.isSameRepo ? -1 : 1;
  return other.score - one.score || (one.at > other.at ? -1 : 1);
}

/** The texts of a question without its context, which describes the work rather than the choice. */
function textsOf(content: Content) {
  return sharedOf(content).items.flatMap((item) => [item.text, ...item.options.map(({ label }) => label)]);
}

function sharedOf(content: Content): Content {
  return content.shared ?? content;
}

/** The significant words of texts, without accents and endings. */
function wordsOf(texts: readonly string[]): WordSet {
  const telling = normalizeWords(texts).filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  return new Set(telling.slice(0, LONGEST_WORDS).map(stem));
}

function stem(word: string) {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|en|s|e)$/, "") : word;
}

/** The cosine similarity of two weighted word sets: 0 for nothing shared, 1 for equal sets. */
function cosineSimilarity(words: WordSet, others: WordSet, weight: WordWeight) {
  let shared = 0;
  for (const word of words) if (others.has(word)) shared += weight(word) ** 2;
  return shared === 0 ? 0 : shared / (vectorLength(words, weight) * vectorLength(others, weight));
}

function vectorLength(words: WordSet, weight: WordWeight) {
  let sum = 0;
  for (const word of words) sum += weight(word) ** 2;
  return Math.sqrt(sum);
}

function countShared(words: WordSet, others: WordSet) {
  let count = 0;
  for (const word of words) if (others.has(word)) count += 1;
  return count;
}

const ENGLISH =
  "a about after all also an and any are as at be because been before but by can could did do does done else for from " +
  "get go had has have he her here him his how i if in instead into is it its just like make may me more must my need no " +
  "not now of off ok on one only or other our out over please put same shall she should since so some still such take " +
  "than that the their them then there these they this those to too up us use used using very want was we were what when " +
  "where which while who why will with would yes you your add new keep allow deny approve question option";
const GERMAN =
  "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den der des die dies diese " +
  "dieser dieses doch du durch ein eine einem einen einer eines er es fur hat haben hier ich ihr im in ist ja jetzt kann " +
  "kein keine konnen man mehr mein mit muss nach nein nicht noch nur ob oder ohne sein sich sie sind so soll sollen " +
  "sollte uber um und uns unser unter vom von vor war warum was welche welchen welcher welches wenn wer werden wie wir " +
  "wird wo zu zum zur nutzen verwenden statt lieber bitte";

/** Words too common to compare by, in English and German, lower-case and without accents. */
export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${GERMAN}`.split(" "));
