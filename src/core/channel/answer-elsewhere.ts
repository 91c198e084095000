import type { QuestionMessage } from "./message.ts";
import { tellIn } from "./message-words.ts";

/** The replies that are left where a message does not show everything that it would allow. */
export function sayOnlyDenied({ items: [item], denials, shortId: id, language, needsPerson }: QuestionMessage): string {
  const keys = (item?.options ?? []).filter(({ value }) => denials.has(value)).map(({ key }) => key.toUpperCase());
  const word = needsPerson ? "how.denied.code" : "how.denied";
  return tellIn(language, word, { keys: keys.join(", "), id });
}

/** How people answer elsewhere, for a channel in which they cannot. A digest and a test message are about no one question. */
export function sayAnswerElsewhere(
  { shortId: id, language, needsPerson, run }: QuestionMessage,
  word: "how.command" | "how.also",
): string | undefined {
  if (run === undefined) return undefined;
  return tellIn(language, needsPerson ? "how.person" : word, { id });
}
