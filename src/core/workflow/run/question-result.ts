import type { QuestionSnapshot } from "../../changes.ts";
import { actorName } from "../../people/actor.ts";
import { type Answer, type Question, findAnswer, findNote } from "../../question/question.ts";
import type { QuestionResult } from "./machine.ts";

/** The outcome of a question as a workflow sees it; undefined while it has none. */
export function questionResult({
  question,
  content,
}: Pick<QuestionSnapshot, "question" | "content">): QuestionResult | undefined {
  if (question.status === "pending") return undefined;
  const answer = findAnswer(question);
  const value = answer && valueOf(answer, question, content);
  const ends = answer ? undefined : findEnd(question);
  return {
    ...(ends && { ends }),
    answer: value,
    question: {
      questionId: question.id,
      status: question.status,
      question: content.items[0]?.text,
      answeredBy: answer && actorName(answer.by),
      answeredAt: answer?.at,
      outcome: answer?.outcome,
      note: findNote(question),
    },
  };
}

/** Silence ends a workflow only if its question says so; a withdrawn question with a note lets it go on. */
function findEnd(question: Question): QuestionResult["ends"] {
  if (question.status === "cancelled") return question.policy && { how: question.policy, reason: question.reason };
  if (question.status !== "timeout") return undefined;
  const { policy } = question;
  return policy === "skip" || policy === "fail" ? { how: policy, reason: "input_timeout" } : undefined;
}

/** One chosen value, several in a list, or the text; of several items an object. A later correction replaces it. */
function valueOf(
  { outcome, items }: Answer,
  { amendments }: Question,
  { items: asked }: QuestionSnapshot["content"],
): unknown {
  const corrected = amendments.at(-1)?.text;
  if (corrected !== undefined) return corrected;
  if (outcome !== "answer") return undefined;
  const values = asked.map(({ id, multiple }) => {
    const given = items[id];
    const value = multiple ? (given?.values ?? []) : (given?.values[0] ?? given?.text);
    return [id, value] as const;
  });
  return values.length === 1 ? values[0]?.[1] : Object.fromEntries(values);
}
