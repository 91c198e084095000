import { neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";

/** The longest text of a section is 3,000 characters; fences that are closed and opened again need room. */
const SECTION_CHARS = 2_900;
const FENCE = "```";

/** Makes foreign text harmless: nobody is mentioned, and everything in it can be seen. */
export function harmless(text: string): string {
  return neutraliseMentions(makeVisible(text));
}

/** Only these three characters have a meaning in Slack's text. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The text that a person typed, as they typed it. */
export function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** The length of a text as Slack counts it: escaped. */
export function countEscaped(text: string): number {
  return escapeText(text).length;
}

/** Escapes a text and splits it into sections; a block of code that is split is a block of code in each of them. */
export function splitSections(text: string): string[] {
  const sections: string[] = [];
  let current: string[] = [];
  let length = 0;
  let isCode = false;
  const flush = () => {
    const whole = [...current, ...(isCode ? [FENCE] : [])].join("\n");
    if (whole.trim() !== "") sections.push(whole);
    current = isCode ? [FENCE] : [];
    length = current.join("\n").length;
  };
  for (const line of text.split("\n").flatMap(splitLine)) {
    if (length + line.length + 1 > SECTION_CHARS) flush();
    const isFence = line.startsWith(FENCE);
    // Slack knows no languages: a name after the fence would be the first line of the code.
    current.push(isFence ? FENCE : line);
    length += line.length + 1;
    if (isFence) isCode = !isCode;
  }
  flush();
  return sections;
}

/** A line in escaped pieces that fit; no character is split. */
function splitLine(line: string): string[] {
  const pieces = [""];
  for (const character of Array.from(line, escapeText)) {
    const last = pieces.length - 1;
    if ((pieces[last] ?? "").length + character.length > SECTION_CHARS - 2 * FENCE.length - 2) pieces.push(character);
    else pieces[last] += character;
  }
  return pieces;
}
