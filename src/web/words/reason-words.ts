import { cancellationWords } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { LANGUAGES } from "../../core/text/language.ts";
import { type MessageKey, isMessageKey, say } from "./words.ts";

/** Reasons that these pages store in the language of the person who acted. */
const OWN: readonly MessageKey[] = ["stop.reason", "r.cancel.reason", "reason.none"];

/** The words with which somebody cancelled a question, in the reader's language where they are askd's. */
export function cancelWords(
  reader: Pick<PageReader, "language">,
  question: Parameters<typeof cancellationWords>[0],
): string {
  const { reason, note } = question;
  const words = { reason, note: note === undefined ? undefined : makeVisible(note) };
  return cancellationWords(words, (text) => reasonWords(reader, text));
}

/** Why something ended: in the reader's language if askd wrote the reason, else as written. */
export function reasonWords(reader: Pick<PageReader, "language">, reason: string): string {
  const own = OWN.find((key) => LANGUAGES.some((language) => say(language, key) === reason));
  if (own !== undefined) return tell(reader, own);
  const key = `reason.${reason}`;
  return isMessageKey(key) ? tell(reader, key) : makeVisible(reason);
}
