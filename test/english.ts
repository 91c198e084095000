/** What people and agents wrote stands between these in tests, so that it is known for what it is. */
export function foreign(text: string): string {
  return `§${text}§`;
}

/** Words that no German sentence has. */
const ENGLISH =
  /\b(the|is|are|be|been|has|have|of|and|or|to|with|this|that|it|its|for|by|from|you|your|not|no|there|nothing|nobody|answered|question|answer|run|again)\b/i;
const WORDS_ALIKE = 3;
/** What others wrote, places to fill in, and names made of several words. */
const NOT_WORDS = /§[^§]*(?:§|$)|\{+[\w.]+\}+|\w+(?:[-_.]\w+)+/g;

/** English on a German page: what is the same on the English one, and what has an English word in it. */
export function findEnglish(german: string, english: string): string[] {
  const same = new Set(textsOf(english));
  return textsOf(german).filter((text) => {
    const isAlike = same.has(text) && (text.match(/\p{L}{2,}/gu) ?? []).length >= WORDS_ALIKE;
    return isAlike || ENGLISH.test(text);
  });
}

/** Everything that a page says to people, without commands, codes and what others wrote. */
function textsOf(html: string): string[] {
  const page = html
    .replace(/<(pre|code|kbd|textarea)\b[^>]*>[^]*?<\/\1>/g, " ")
    .replace(/<(\w+) class="[^"]*mono[^"]*"[^>]*>[^<]*<\/\1>/g, " ")
    .replace(/<option[^>]* lang="[^"]*"[^>]*>[^<]*<\/option>/g, " "); // a language is called by its own name
  const attributes = [...page.matchAll(/ (?:title|placeholder|aria-label|data-words)="([^"]*)"/g)].map(
    ([, value]) => value ?? "",
  );
  const texts = page.replace(/<!doctype html>/, "").split(/<[^>]*>/);
  return [...texts, ...attributes.flatMap(splitWords)]
    .map((text) => decode(text).replace(NOT_WORDS, "").replace(/\s+/g, " ").trim())
    .filter((text) => text !== "");
}

/** The words for the script are one text each. */
function splitWords(value: string): string[] {
  const text = decode(value);
  if (!text.startsWith("{")) return [text];
  const words: unknown = JSON.parse(text);
  return words !== null && typeof words === "object" ? Object.values(words).map(String) : [];
}

function decode(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
