import type { Content } from "../core/content.ts";
import { answerText } from "../core/match.ts";
import type { Answer } from "../core/question.ts";
import { makeVisible } from "../core/visible.ts";
import { type Reader, tell } from "./reader.ts";

/** What was answered, in one line. */
export function answerWords(reader: Pick<Reader, "language">, content: Content, answer: Answer): string {
  if (answer.outcome === "decide") return tell(reader, "decide");
  if (answer.outcome === "clarify") return `${tell(reader, "back")}: ${makeVisible(answer.note ?? "")}`;
  return makeVisible(answerText(content, answer.items));
}
