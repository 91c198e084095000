import { Refusal } from "../core/refusal.ts";

const MOST_DEPTH = 64;
/** An ask with all items and options that are allowed has about 3,000 values. */
const MOST_VALUES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Parses JSON from outside. The text is scanned before it is parsed: an object with very many keys takes seconds to build
 * and to check, and nesting of any depth would be walked.
 */
export function parseJson(text: string): unknown {
  requireSmall(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal("bad_input", "The request is not valid JSON", { cause });
  }
}

/** Counts levels and values outside of strings, in one pass. Text that is not JSON is left to the parser. */
function requireSmall(text: string): void {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COMMA || code === COLON) values += 1;
    else if (OPENS.has(code)) {
      depth += 1;
      values += 1;
    } else if (CLOSES.has(code)) depth -= 1;
    if (depth > MOST_DEPTH) throw new Refusal("too_large", `JSON is nested deeper than ${MOST_DEPTH} levels`);
    if (values > MOST_VALUES) throw new Refusal("too_large", `JSON has more than ${MOST_VALUES} keys and values`);
  }
}

/** The place of the quote that ends the string which begins here; the end of the text where none does. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index += 1;
    else if (code === QUOTE) return index;
  }
  return text.length;
}
