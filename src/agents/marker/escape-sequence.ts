/** Longer escape sequences are text. */
const MAX_CHARS = 256;
/** Colours and other escape sequences of terminals. */
// oxlint-disable-next-line no-control-regex -- these are control characters
const SEQUENCE = /\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/g;
/** The beginning of one at the end of a piece of text. */
// oxlint-disable-next-line no-control-regex -- these are control characters
const BEGUN = /\x1b(?:\[[0-9:;<=>?]*[ -/]*|\][^\x07\x1b]*\x1b?)?$/;

/** The text without the escape sequences of terminals. */
export function withoutEscapes(text: string): string {
  return text.includes("\x1b") ? text.replace(SEQUENCE, "") : text;
}

/** Removes escape sequences from a text that comes in pieces. */
export class EscapeFilter {
  #begun = "";

  push(piece: string): string {
    if (this.#begun === "" && !piece.includes("\x1b")) return piece;
    const text = withoutEscapes(this.#begun + piece);
    const at = text.search(BEGUN);
    const isBegun = at >= 0 && text.length - at <= MAX_CHARS;
    this.#begun = isBegun ? text.slice(at) : "";
    return isBegun ? text.slice(0, at) : text;
  }
}
