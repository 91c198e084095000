import { findSecretNoun, wordSet } from "./secret-word.ts";

/** One sentence or line of a question, in lower case. */
export interface Sentence {
  /** The parts between commas, colons and dashes. */
  clauses: readonly (readonly string[])[];
  isGerman: boolean;
  isQuestion: boolean;
  /** Ends like the label of a field, or before a list. */
  isLabel: boolean;
  isListed: boolean;
}

const GERMAN = wordSet(
  `bitte der das dem ein eine einen einem mir uns ich du soll sollen und für ist sind vom hier nicht ihn welche welches
  welchen welcher wir kannst kann darf zum zur gib schick wie dein deine deinen ihre ihren sie eingeben passwort
  kennwort zugangsdaten angeben benutzername könntest könnten`,
);
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const FENCED = /^ {0,3}(```|~~~)/u;
const QUOTED_LINE = /^\s*>/u;
const LIST_MARK = /^\s*(?:[-*•]|\d{1,2}[.)]|[a-z][.)])\s+/u;
const QUOTATION = /"[^"]{1,400}"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|`[^`]{1,400}`/gu;
const DASH = /\s[-–—]+\s/gu;
const SENTENCE_END = /(?<=[.?!])\s+/u;
const WORD = /\.?[\p{L}\p{N}_]+(?:['-][\p{L}\p{N}_]+)*|[,;:()/]/gu;
const CLAUSE_END = wordSet(", ; : ( )");

/** Splits a text into sentences. Quotations, quoted lines and code blocks are left out, unless they are all there is. */
export function sentencesOf(text: string, part: "text" | "context" = "text"): Sentence[] {
  return linesOf(text, part).flatMap((line) => {
    const isListed = LIST_MARK.test(line);
    const said = withoutQuotations(line.replace(LIST_MARK, ""));
    return said.split(SENTENCE_END).flatMap((each) => readSentence(each, isListed));
  });
}

/** Says whether a text names a secret, in a quotation too: the output of a quoted command may be one. */
export function namesSecret(text: string): boolean {
  return linesOf(text, "text").some((line) =>
    line.split(SENTENCE_END).some((part) => {
      const words = wordsOf(part.replace(/["“”„«»`]/gu, " "));
      const isGerman = words.some((word) => GERMAN.has(word));
      return words.some((_, place) => findSecretNoun(words, place, isGerman) === "strong");
    }),
  );
}

/** The lines that are said, not shown. A context may consist of what it shows; a question may not. */
function linesOf(text: string, part: "text" | "context") {
  const lines = text.normalize("NFKC").replace(INVISIBLE, "").replace(/[’‘]/gu, "'").toLowerCase().split("\n");
  let isFenced = false;
  const said = lines.filter((line) => {
    const isFence = FENCED.test(line);
    if (isFence) isFenced = !isFenced;
    return !isFence && !isFenced && !QUOTED_LINE.test(line) && line.trim() !== "";
  });
  return said.length > 0 || part === "context" ? said : lines;
}

function withoutQuotations(line: string) {
  const rest = line.replace(QUOTATION, (quotation) => (/\s/u.test(quotation) ? " " : quotation.slice(1, -1)));
  return /\p{L}/u.test(rest) ? rest : line;
}

function readSentence(text: string, isListed: boolean): Sentence[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const clauses: string[][] = [[]];
  for (const word of words) {
    if (CLAUSE_END.has(word)) clauses.push([]);
    else clauses.at(-1)?.push(word);
  }
  const end = text.trimEnd();
  return [
    {
      clauses: clauses.filter((clause) => clause.length > 0),
      isGerman: words.some((word) => GERMAN.has(word)),
      isQuestion: end.endsWith("?"),
      isLabel: end.endsWith(":"),
      isListed,
    },
  ];
}

/** `user/password` is read as both. */
function wordsOf(text: string) {
  return (text.replace(DASH, " ; ").match(WORD) ?? []).map((word) => (word === "/" ? "and" : word));
}
