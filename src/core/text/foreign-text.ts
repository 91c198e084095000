import { Refusal } from "../refusal.ts";
import { INVISIBLE_CHARACTERS, makeVisible, showCharacter } from "./visible.ts";

/** The maximum length of a quoted name or title. */
const LINE_CHARS = 200;
/** The maximum length of a quoted note or reason. */
export const WORDS_CHARS: number = 64 * 1024;
/** A one-word name needs no quotes: it cannot be read as a sentence. */
const ONE_WORD = /^[A-Za-z0-9][\w.@+-]{0,63}$/;
/** How many random bytes a delimiter is made from. */
export const DELIMITER_BYTES = 8;
/** The suffix that lengthens a delimiter. */
const LONGER = "-x";
/** Characters that start a new line for some reader. */
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

/** Creates the delimiter of one message from fresh random bytes. */
export function delimiterFrom(random: Uint8Array): string {
  return `answer-${Buffer.from(random).toString("hex")}`;
}

/**
 * Quotes foreign text verbatim, on lines of its own. The delimiter is fresh for each message, and longer if the text
 * contains it, so no text can end its own quotation.
 */
export function quoteBlock(text: string, delimiter: string): string {
  const unused = unusedIn(text, delimiter);
  return `<${unused}>\n${text}\n</${unused}>`;
}

/** Quotes foreign text inside a sentence: one line, cut to a length, all characters visible. */
export function quoteLine(text: string, maxChars: number = LINE_CHARS): string {
  const whole = Array.from(text.slice(0, 2 * maxChars)); // a character has at most two units
  const isCut = whole.length > maxChars || text.length > 2 * maxChars;
  const kept = whole.slice(0, isCut ? maxChars - 1 : maxChars).join("");
  const shown = kept
    .replace(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t")
    // An agent that repeats the sentence must not open a marker with it.
    .replaceAll("<<", "<\\x3c")
    .replace(INVISIBLE_CHARACTERS, showCharacter);
  return `"${shown}${isCut ? "…" : ""}"`;
}

/** Formats a foreign name inside a sentence: one plain word as it is, anything else quoted. */
export function quoteName(name: string): string {
  return ONE_WORD.test(name) ? name : quoteLine(name);
}

/**
 * Foreign text for a field of an agent's own format: unchanged if it is one visible line without the characters that
 * end the field, otherwise between delimiters on lines of its own.
 */
export function quoteWords(text: string, delimiter: string, ends: RegExp): string {
  return isVisibleLine(text, LINE_CHARS) && !ends.test(text) ? text : `\n${quoteBlock(text, delimiter)}\n`;
}

/** Makes a sentence with foreign text in it, such as a refusal, one visible line. */
export function oneVisibleLine(sentence: string): string {
  return makeVisible(sentence.slice(0, WORDS_CHARS).replace(/[\r\n\t]+/g, " "));
}

/** JSON in one line, with all characters visible. */
export function jsonLine(value: unknown): string {
  return escapeInvisible(JSON.stringify(value));
}

/** Escapes invisible characters in JSON text, where they occur only inside strings. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE_CHARACTERS, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Says whether text is one line of visible characters within the length. */
export function isVisibleLine(text: string, maxChars: number): boolean {
  return text.length <= maxChars && !LINE_BREAK.test(text) && !text.includes("\t") && makeVisible(text) === text;
}

/** Refuses a name, label or id from outside that is not one line of visible characters. */
export function requireVisibleLine(text: string, what: string, maxChars: number = LINE_CHARS): void {
  if (text.trim() !== "" && isVisibleLine(text, maxChars)) return;
  throw new Refusal("bad_input", `${quoteLine(text, 40)} cannot be ${what}`, {
    hint: `Use one line of 1 to ${maxChars} visible characters`,
  });
}

/** Lengthens the delimiter until the text does not contain it, in one pass. */
function unusedIn(text: string, delimiter: string) {
  let most = -1;
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) {
    let count = 0;
    while (text.startsWith(LONGER, at + delimiter.length + count * LONGER.length)) count += 1;
    most = Math.max(most, count);
  }
  return delimiter + LONGER.repeat(most + 1);
}
