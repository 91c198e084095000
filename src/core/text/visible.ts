/**
 * Characters a terminal would act on or a reader could not see: C0 and C1 controls except newline and tab, bidi
 * controls and marks, zero-width and invisible characters, line separators, tags, lone surrogates. A joiner between two
 * pictures makes one emoji of them and stays.
 */
export const INVISIBLE_CHARACTERS = new RegExp(
  [
    String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f]`,
    String.raw`[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f]`,
    String.raw`[\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]`,
    String.raw`[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`,
    String.raw`(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d`,
    String.raw`\u200d(?!\p{Extended_Pictographic})`,
    String.raw`(?<=\p{M}{8})\p{M}`, // higher than any script piles them up
    String.raw`\p{Surrogate}`,
  ].join("|"),
  "gu",
);

/** Makes invisible characters of foreign text visible, so that it cannot pretend to be something else. */
export function makeVisible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(INVISIBLE_CHARACTERS, showCharacter);
}

/** The escape of an invisible character. */
export function showCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\u{${code.toString(16)}}`;
}
