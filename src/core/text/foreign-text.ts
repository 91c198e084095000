import { Refusal } from "../refusal.ts";
import { UNSEEN, makeVisible, showCharacter } from "./visible.ts";

/** How much of a name or a title fits into a sentence of askd. */
const LINE_CHARS = 200;
/** How much of a person's words fits there: all that a note or a reason can hold. */
export const WORDS_CHARS: number = 64 * 1024;
/** A name that is one word can stand in a sentence as it is: it cannot be read as a sentence of its own. */
const ONE_WORD = /^[A-Za-z0-9][\w.@+-]{0,63}$/;
/** How many random bytes a delimiter is made from. */
export const DELIMITER_BYTES = 8;
/** What a delimiter is lengthened by. */
const LONGER = "-x";
/** What begins a new line for some reader. */
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

/** A delimiter for one message, from random bytes that nobody has seen. */
export function delimiterFrom(random: Uint8Array): string {
  return `answer-${Buffer.from(random).toString("hex")}`;
}

/**
 * Quotes foreign text word for word, on lines of its own. The delimiter is made fresh for each message, and a text
 * that contains it gets a longer one, so no text can end its own quotation.
 */
export function quoteBlock(text: string, delimiter: string): string {
  const unused = unusedIn(text, delimiter);
  return `<${unused}>\n${text}\n</${unused}>`;
}

/** Quotes foreign text inside a sentence of askd: one line, cut at a length, everything in it visible. */
export function quoteLine(text: string, maxChars: number = LINE_CHARS): string {
  const whole = Array.from(text.slice(0, 2 * maxChars)); // a character has at most two units
  const isCut = whole.length > maxChars || text.length > 2 * maxChars;
  const kept = whole.slice(0, isCut ? maxChars - 1 : maxChars).join("");
  const shown = kept
    .replace(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t")
    // Whoever repeats the sentence must not open a marker with it.
    .replaceAll("<<", "<\\x3c")
    .replace(UNSEEN, showCharacter);
  return `"${shown}${isCut ? "…" : ""}"`;
}

/** A foreign name inside a sentence of askd: one plain word as it is, anything else quoted. */
export function quoteName(name: string): string {
  return ONE_WORD.test(name) ? name : quoteLine(name);
}

/**
 * Foreign words for a place of their own in the format of an agent's program: as they are if they are one visible line
 * without the signs by which that program ends the place, otherwise between delimiters on lines of their own.
 */
export function quoteWords(text: string, delimiter: string, ends: RegExp): string {
  return isVisibleLine(text, LINE_CHARS) && !ends.test(text) ? text : `\n${quoteBlock(text, delimiter)}\n`;
}

/** A whole sentence of askd that foreign text may stand in, such as the message of a refusal, in one visible line. */
export function oneVisibleLine(sentence: string): string {
  return makeVisible(sentence.slice(0, WORDS_CHARS).replace(/[\r\n\t]+/g, " "));
}

/** Data as JSON in one line in which a reader sees everything. */
export function jsonLine(value: unknown): string {
  return escapeUnseen(JSON.stringify(value));
}

/** Escapes in JSON text what nobody would see; JSON has such characters only inside strings. */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Says whether text is one line, no longer than that, in which a reader sees everything. */
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

/** Lengthens the delimiter until the text does not contain it; in one pass, however the text was made. */
function unusedIn(text: string, delimiter: string): string {
  let most = -1;
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) {
    let count = 0;
    while (text.startsWith(LONGER, at + delimiter.length + count * LONGER.length)) count += 1;
    most = Math.max(most, count);
  }
  return delimiter + LONGER.repeat(most + 1);
}
