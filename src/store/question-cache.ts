import { shortId } from "../core/id.ts";
import type { Question } from "../core/question/question.ts";
import { parseQuestion } from "./row.ts";
import type { UnreadableRows } from "./unreadable.ts";

const MOST_ROWS = 3_000;
const MOST_CHARS = 4_000_000;

/** The text of a question. */
export interface QuestionText {
  id: string;
  body: string;
}

/** Identifies one version of a row. */
export interface RowVersion {
  id: string;
  version: number;
}

/**
 * Caches rows that are listed with every page, such as pending questions: an unchanged row is neither fetched nor
 * parsed again. Rows are never changed in place, so they can be shared.
 */
export class QuestionCache {
  #young = new Map<string, Question>();
  #old = new Map<string, Question>();
  #chars = 0;
  readonly #unreadable: UnreadableRows;

  constructor(unreadable: UnreadableRows) {
    this.#unreadable = unreadable;
  }

  /** The ids whose rows must be fetched. */
  missing(names: readonly RowVersion[]): string[] {
    return names.filter((name) => !this.#find(name)).map(({ id }) => id);
  }

  /** The rows of these versions that can be read; `fetched` are the missing ones. */
  take(names: readonly RowVersion[], fetched: readonly QuestionText[]): Question[] {
    const read = readQuestions(this.#unreadable, fetched);
    const fresh = new Map<string, Question>(read.map((question) => [question.id, question]));
    const taken = names.flatMap((name) => fresh.get(name.id) ?? this.#find(name) ?? []);
    for (const { body } of fetched) this.#chars += body.length;
    for (const question of taken) this.#keep(question);
    return taken;
  }

  #find({ id, version }: RowVersion) {
    const known = this.#young.get(id) ?? this.#old.get(id);
    return known?.version === version ? known : undefined;
  }

  #keep(question: Question) {
    if (this.#young.get(question.id) === question) return;
    if (this.#young.size >= MOST_ROWS || this.#chars >= MOST_CHARS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#chars = 0;
    }
    this.#young.set(question.id, question);
  }
}

/** The questions that can be read. */
export function readQuestions(unreadable: UnreadableRows, rows: readonly QuestionText[]): Question[] {
  return unreadable.read(rows, questionName, toQuestion);
}

/** The question, or a refusal that names it. */
export function getQuestion(unreadable: UnreadableRows, row: QuestionText): Question {
  return unreadable.get(row, questionName, toQuestion);
}

function questionName({ id }: QuestionText) {
  return `question ${shortId(id)}`;
}

function toQuestion({ body }: QuestionText) {
  return parseQuestion(body);
}
