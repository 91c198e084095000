import type { Content } from "../core/question/content.ts";
import type { Answer } from "../core/question/question.ts";
import { makeVisible } from "../core/text/visible.ts";
import { chosenWords } from "./words/answer-words.ts";
import { type Reader, tell } from "./parts/reader.ts";

/** What was answered, in one line. */
export function answerWords(reader: Pick<Reader, "language">, content: Content, answer: Answer): string {
  if (answer.outcome === "decide") return tell(reader, "decide");
  if (answer.outcome === "clarify") return `${tell(reader, "back")}: ${makeVisible(answer.note ?? "")}`;
  return chosenWords(reader, content, answer.items);
}
