import { type Sought, soughtWords } from "../../core/answer/search-word.ts";
import { MOST_FOUND } from "../word-index.ts";

/** The newest questions that have the words. */
export const FOUND = `id in (select id from question_word where words @@ ?::text::tsquery order by id desc limit ${MOST_FOUND})`;

/** What the index is asked for a text that somebody typed; nothing where it has no words. */
export function matchOf(typed: string): string | undefined {
  const sought = soughtWords(typed);
  return sought.length === 0 ? undefined : sought.map(quote).join(" & ");
}

/** Words have letters and digits only, so that nothing in them means anything to the index. */
export function quote({ word, isStart }: Sought): string {
  return `'${word}'${isStart ? ":*" : ""}`;
}
