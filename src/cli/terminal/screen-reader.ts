// Characters that screen readers spell out or skip, and the words to use instead.
const WORDS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(\s*)(?:[│├└─ ]*[│├└─])\s?/gmu, "$1  "],
  [/✓ ?$/gmu, "done"],
  [/✓ /gu, "Done: "],
  [/✗ ?$/gmu, "failed"],
  [/✗ /gu, "Failed: "],
  [/❓ ?/gu, "Question: "],
  [/Question: Question: /g, "Question: "],
  [/^(\s*)! /gm, "$1Warning: "],
  [/^(\s*)[→›] /gmu, "$1- "],
  [/ · /g, ", "],
  [/ {3,}(?=\S)/g, "  "],
];

/** Output as plain text: words for icons, no lines, no columns. */
export function toPlainLines(text: string): string {
  return WORDS.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
}

/** Says whether to write for a screen reader: the flag, or the variable on a terminal. */
export function usesScreenReader(
  flag: boolean,
  isTty: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const chosen = env["ASKD_ACCESSIBLE"];
  return flag || (isTty && chosen !== undefined && chosen !== "" && chosen !== "0");
}
