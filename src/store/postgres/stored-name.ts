/**
 * PostgreSQL keeps neither NUL nor half a surrogate pair. In names they stand as this character, which no text should
 * have, and four hexadecimal digits; so does the character itself. Bodies are JSON, where such are escaped anyway.
 */
const MARK = "\uFFFE";
const UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/u;
const EACH_UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/gu;
const MARKED = /\uFFFE([0-9a-f]{4})/g;

/** The form of a name that PostgreSQL takes; different names have different forms. */
export function toKept(name: string): string {
  if (!UNKEEPABLE.test(name)) return name;
  return name.replace(EACH_UNKEEPABLE, (found) => MARK + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** The name that was given to be kept. */
export function fromKept(kept: string): string {
  return kept.replace(MARKED, (_found, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
