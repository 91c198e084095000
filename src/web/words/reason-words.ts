import { makeVisible } from "../../core/text/visible.ts";
import { type Reader, tell } from "../parts/reader.ts";
import { type Key, LANGUAGES, isKey, say } from "./words.ts";

/** What these pages themselves write down as a reason, in the language of whoever did it. */
const OWN: readonly Key[] = ["stop.reason", "r.cancel.reason", "reason.none"];

/** Why something ended: in the reader's words where askd wrote it down, else in those of whoever did. */
export function reasonWords(reader: Pick<Reader, "language">, reason: string): string {
  const own = OWN.find((key) => LANGUAGES.some((language) => say(language, key) === reason));
  if (own !== undefined) return tell(reader, own);
  const key = `reason.${reason}`;
  return isKey(key) ? tell(reader, key) : makeVisible(reason);
}
