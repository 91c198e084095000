// What a screen reader would spell out or pass over, and what it says instead.
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

/** A page as flat text: words for icons, no lines drawn, no columns. */
export function flatten(text: string): string {
  return WORDS.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
}

/** Says whether pages are read aloud: the flag, or the variable on a terminal. */
export function isReadAloud(flag: boolean, isTty: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  const chosen = env["ASKD_ACCESSIBLE"];
  return flag || (isTty && chosen !== undefined && chosen !== "" && chosen !== "0");
}
