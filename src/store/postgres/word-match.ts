import { type SearchWord, parseSearch } from "../../core/answer/search-word.ts";
import { MOST_FOUND } from "../word-index.ts";

/** Selects the newest questions that contain the words. */
export const FOUND = `id in (select id from question_word where words @@ ?::text::tsquery order by id desc limit ${MOST_FOUND})`;

/** The search expression for typed text; undefined if it has no words. */
export function searchExpression(typed: string): string | undefined {
  const sought = parseSearch(typed);
  return sought.length === 0 ? undefined : sought.map(quote).join(" & ");
}

/** Words consist of letters and digits only, so they contain no operators of the index. */
export function quote({ word, isStart }: SearchWord): string {
  return `'${word}'${isStart ? ":*" : ""}`;
}
