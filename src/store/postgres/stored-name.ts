/**
 * PostgreSQL stores neither NUL nor lone surrogates. In names they are escaped by this noncharacter and four
 * hexadecimal digits; so is the noncharacter itself. Bodies are JSON, which escapes them anyway.
 */
const MARK = "\uFFFE";
const UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/u;
const EACH_UNKEEPABLE = /[\0\uFFFE\p{Surrogate}]/gu;
const MARKED = /\uFFFE([0-9a-f]{4})/g;

/** Encodes a name for PostgreSQL; the encoding is unique. */
export function encodeName(name: string): string {
  if (!UNKEEPABLE.test(name)) return name;
  return name.replace(EACH_UNKEEPABLE, (found) => MARK + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Decodes a stored name. */
export function decodeName(kept: string): string {
  return kept.replace(MARKED, (_found, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
