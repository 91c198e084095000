/** The composition of a value. */
interface Composition {
  lower: number;
  upper: number;
  digits: number;
  symbols: number;
  /** How often one kind of character follows another. */
  changes: number;
  distinct: number;
  /** Small letters in rows of four or more, as in words. */
  spelled: number;
}

const LONGEST_LOOK = 400;
const PLACEHOLDER =
  /^(?:.*\$\{.*|[*x•.#_-]+|<[^<>]*>|\$[\w.:>-]+|\$[({].*|%\w+%|#\{.*|\{\{.*|\{[\w. -]*\}|@\w+@|\[[\w .-]*\]|\/\/.*|process\.env\S*|os\.(?:environ|getenv)\S*|env\.\S*|import\.meta\S*|(?:this|self|config|options|args|req|request|props|params|input|settings|secrets|vars|data|var|local|module)\.\S*|(?:my|your|the|some|any|new|old|a|an)[_-]?(?:own)?[_-]?(?:super[_-]?)?(?:secret|token|key|api|password|pass|value|username|user|access)\S*|change[_-]?(?:me|it)|.*(?:example|placeholder|redacted|changeme|dummy|foobar|replace[_-]?(?:me|with)|insert[_-]|todo|xxxx|\.\.\.).*|true|false|null|nil|none|undefined|string|number|boolean|object|function|symbol|bigint|required|optional|enabled|disabled|hidden|default|unknown|empty|test|pass(?:word)?|passw(?:or)?d\d?|passphrase|pwd|secret|token|username|admin|root|user|inherit|public|private|\d{1,6})$/i;
// The words of a name in a program: first.second, someName, SOME_NAME, some-name.
const PROGRAM_NAME = /^[_.$-]{0,3}[A-Za-z$]+(?:\d{0,2}(?:[?!]?\.|[_:/\\-]{1,3})[A-Za-z$]+)*\d{0,2}[_.:/\\?-]{0,3}$/;

/** Says whether a value is a placeholder. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value.length > LONGEST_LOOK ? value.slice(0, LONGEST_LOOK) : value);
}

/** Says whether a value could be the name of something in a program, or a word. */
export function isProgramName(value: string): boolean {
  return PROGRAM_NAME.test(value);
}

export function hasOnlyDigits(value: string): boolean {
  return /^[\d\s.:/-]+$/.test(value);
}

/** Says whether a value looks generated rather than typed: varied, with frequent changes of character class. */
export function looksGenerated(value: string): boolean {
  const length = Math.min(value.length, LONGEST_LOOK);
  if (length < 8) return false;
  const { lower, upper, digits, symbols, changes, distinct } = makeupOf(value);
  if (lower + upper === 0 || distinct < Math.min(8, length * 0.5)) return false;
  if (digits === 0 && symbols === 0) return length >= 20 && lower > 0 && changes / length >= 0.42;
  if (digits + symbols < 2 && length < 12) return false;
  // Small letters and digits at random change kind in two of five places; a single digit in a row of letters can be all.
  const isDense = changes / length >= 0.2 || (length >= 12 && (changes >= 2 || digits > 2) && isHardToSay(value));
  return isDense && bitsPerChar(value) >= 2.6;
}

/** A stricter `looksGenerated`, for values without a hint of what they are. */
export function isSurelyGenerated(value: string): boolean {
  const length = Math.min(value.length, LONGEST_LOOK);
  const { lower, upper, digits, changes, distinct, spelled } = makeupOf(value);
  if (lower < 3 || upper < 3 || digits < 2) return false;
  if (changes / length < 0.42 || distinct < Math.min(16, length * 0.5) || spelled / length > 0.35) return false;
  return bitsPerChar(value) >= 3.8;
}

/** Letters that no language puts in a row: four consonants, or pairs such as `qz` and `xj`. */
function isHardToSay(value: string) {
  return /[bcdfghjklmnpqrstvwxz]{4}|[jqvxz][bcdfghjklmnpqrstvwxz]|[bcdfghjkmpqtvwxz][jqxz]/i.test(value);
}

/** Words have little variety per character; keys have much. */
export function bitsPerChar(value: string): number {
  const length = Math.min(value.length, LONGEST_LOOK);
  const counts = new Map<number, number>();
  for (let at = 0; at < length; at += 1) {
    const code = value.charCodeAt(at);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) bits -= (count / length) * Math.log2(count / length);
  return bits;
}

function makeupOf(value: string): Composition {
  const length = Math.min(value.length, LONGEST_LOOK);
  const makeup = { lower: 0, upper: 0, digits: 0, symbols: 0, changes: 0, distinct: 0, spelled: 0 };
  const seen = new Set<number>();
  let before = "";
  let row = 0;
  for (let at = 0; at < length; at += 1) {
    const code = value.charCodeAt(at);
    seen.add(code);
    const kind = kindOf(code);
    makeup[kind] += 1;
    if (at > 0 && kind !== before) makeup.changes += 1;
    before = kind;
    row = kind === "lower" ? row + 1 : 0;
    if (row === 4) makeup.spelled += 4;
    if (row > 4) makeup.spelled += 1;
  }
  makeup.distinct = seen.size;
  return makeup;
}

function kindOf(code: number): "lower" | "upper" | "digits" | "symbols" {
  if (code >= 97 && code <= 122) return "lower";
  if (code >= 65 && code <= 90) return "upper";
  return code >= 48 && code <= 57 ? "digits" : "symbols";
}
