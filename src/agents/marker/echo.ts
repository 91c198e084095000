import type { QuestionSnapshot } from "../../core/changes.ts";
import { findAnswer } from "../../core/question/question.ts";
import type { Json } from "../json.ts";
import { MarkerScanner } from "./marker.ts";
import { readResult } from "./result.ts";

const MOST_MARKS = 20;

/** Says whether what an agent seems to ask stands, as it is, in something that people or earlier questions said. */
export function isGiven(asked: Json, history: readonly QuestionSnapshot[]): boolean {
  const wanted = JSON.stringify(asked);
  return history.flatMap(textsOf).some((text) => askedIn(text).some((input) => JSON.stringify(input) === wanted));
}

/** The question that an agent would ask by repeating exactly this text. */
function askedIn(text: string): Json[] {
  const marked = new MarkerScanner({ most: MOST_MARKS })
    .push(text)
    .flatMap((mark) => (mark.kind === "question" ? [mark.input] : []));
  const reported = readResult({ text })?.ask;
  return reported ? [...marked, reported] : marked;
}

/** Everything of a question and its outcome that an agent is given word for word. */
function textsOf({ question, content }: QuestionSnapshot): string[] {
  const answer = findAnswer(question);
  const given = Object.values(answer?.items ?? {}).flatMap(({ values, text }) => [...values, text]);
  const options = content.items.flatMap((item) => item.options.flatMap(({ value, label }) => [value, label]));
  const withdrawn = question.status === "cancelled" ? [question.reason, question.note] : [];
  return [
    ...given,
    answer?.note,
    ...withdrawn,
    ...question.amendments.map(({ text }) => text),
    ...content.items.map(({ text }) => text),
    content.context,
    ...options,
  ].filter((text) => text !== undefined);
}
