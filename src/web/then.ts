import type { Content } from "../core/question/content.ts";
import type { Question } from "../core/question/question.ts";
import { makeVisible } from "../core/text/visible.ts";
import { type Reader, tell } from "./parts/reader.ts";

/** What happens when nobody answers, in the reader's words. */
export function thenWords(reader: Reader, question: Pick<Question, "onTimeout">, content: Content): string {
  const given = question.onTimeout.answer;
  const only = content.items.length === 1 ? content.items[0] : undefined;
  const option = only?.options.find(
    ({ key, value, label }) => given !== undefined && [key, value, label].includes(given),
  );
  return tell(reader, `then.${question.onTimeout.do}`, { answer: makeVisible(option?.label ?? given ?? "") });
}
