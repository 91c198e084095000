import type { Event } from "../core/trail/event.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import type { Question } from "../core/question/question.ts";
import { type SearchedRun, searchWordsOf } from "../core/answer/search-word.ts";
import { isPersonsAnswer, titleWords } from "../core/answer/similar.ts";

/** How many of the newest matches are searched for those a filter wants. */
export const MOST_FOUND = 2_000;

/** The words of one question. */
export interface WordRow {
  id: QuestionId;
  words: string[];
}

/** The index updates of some events. */
export interface WordChanges {
  /** The words people search for. */
  asked: WordRow[];
  /** The words it is compared by. */
  answered: WordRow[];
}

const ASKED = "question.asked";
const ANSWERED = "question.answered";

/** The questions that these stored events report as asked or answered. */
export function questionsInEvents(bodies: readonly string[]): { asked: QuestionId[]; answered: QuestionId[] } {
  const found = { asked: new Set<QuestionId>(), answered: new Set<QuestionId>() };
  for (const body of bodies) {
    if (!body.includes(ASKED) && !body.includes(ANSWERED)) continue; // most are neither, and need not be parsed
    const { type, questionId } = readEvent(body);
    if (questionId !== undefined && type === ASKED) found.asked.add(questionId);
    if (questionId !== undefined && type === ANSWERED) found.answered.add(questionId);
  }
  return { asked: [...found.asked], answered: [...found.answered] };
}

/** The fields of an event for the index; none if its text is damaged. */
function readEvent(body: string): Partial<Pick<Event, "type" | "questionId">> {
  try {
    return JSON.parse(body) as Event; // it was checked when it was written
  } catch {
    return {}; // verification reports it
  }
}

/** The words of these questions. */
export function wordChanges(
  ids: { asked: readonly QuestionId[]; answered: readonly QuestionId[] },
  questions: ReadonlyMap<QuestionId, Question>,
  runs: ReadonlyMap<RunId, SearchedRun>,
): WordChanges {
  const read = (id: QuestionId): Question | [] => questions.get(id) ?? [];
  return {
    asked: ids.asked.flatMap(read).map((question) => ({
      id: question.id,
      words: searchWordsOf(question, runs.get(question.runId)),
    })),
    answered: ids.answered
      .flatMap(read)
      .filter(isPersonsAnswer)
      .map(({ id, title }) => ({ id, words: [...titleWords(title)] })),
  };
}
