/**
 * PostgreSQL keeps neither NUL nor half a surrogate pair. They are kept as this character, which no text should have,
 * and four hexadecimal digits; so is the character itself.
 */
const MARK = "\uFFFE";
const UNKEEPABLE_JSON = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|[^])|\uFFFE/g;
const MARKED = /\uFFFE([0-9a-f]{4})/g;

/** JSON text that jsonb takes, whatever strings are in it. */
export function toKept(json: string): string {
  if (!json.includes("\\u") && !json.includes(MARK)) return json;
  return json.replace(UNKEEPABLE_JSON, (found, code: string | undefined) => {
    if (code !== undefined) return MARK + code;
    return found === MARK ? `${MARK}fffe` : found;
  });
}

/** The JSON text that was given to be kept. */
export function fromKept(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, "\\u$1") : json;
}

/** The same for a name that stands in a column or a parameter of its own. */
export function toKeptName(name: string): string {
  const json = JSON.stringify(name);
  const kept = toKept(json);
  return kept === json ? name : String(JSON.parse(kept));
}

export function fromKeptName(name: string): string {
  return name.replace(MARKED, (_found, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
