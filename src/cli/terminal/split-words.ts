import { Refusal } from "../../core/refusal.ts";

/** Splits a command line as a shell does, with quotes and backslashes but no expansion. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [part] of text.matchAll(/\s+|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]+|['"\\]/gs)) {
    if (/^\s/.test(part)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    if (/^['"\\]$/.test(part)) {
      throw new Refusal("bad_input", `A ${part === "\\" ? "backslash" : "quote"} is not closed in: ${text}`);
    }
    word = (word ?? "") + unquoted(part);
  }
  return word === undefined ? words : [...words, word];
}

function unquoted(part: string) {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (part.startsWith('"')) return part.slice(1, -1).replace(/\\(["\\$`])/g, "$1");
  return part.startsWith("\\") ? part.slice(1) : part;
}
