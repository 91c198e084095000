import { makeVisible } from "./visible.ts";

const PLAIN = /^[\w./:@%+=,-]+$/;

/** Quotes a word for a shell. Control characters become escapes that the shell reads. */
export function quoteShellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  const shown = makeVisible(text);
  if (shown === text && !/[\n\t]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = Array.from(text, (character) => {
    if (character === "'" || character === "\\") return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    if (makeVisible(character) === character && code >= 0x20 && !/\p{M}/u.test(character)) return character;
    return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `$'${escaped.join("")}'`;
}
