import type { TextRange } from "./text-range.ts";
import { hasOnlyDigits, looksGenerated } from "./secret-value.ts";

/** Letters and digits that have to agree before two texts are compared further. */
const GRAM = 8;
const SHORTEST_SECRET = 8;
/** The shortest part of a generated secret that is masked on its own. */
const SHORTEST_PART = 12;
const SHORTEST_LINE = 16;
const FACTOR = 0x01000193;
const SEEN_BITS = 16;
/** The factor of the oldest of eight letters in the hash. */
const OLDEST = Array.from({ length: GRAM }).reduce<number>((power) => Math.imul(power, FACTOR), 1);

/** One way to write a secret, reduced to its letters and digits. */
interface Spelling {
  codes: Uint8Array;
  /** A shorter part of it is masked too. */
  mayBePart: boolean;
  isBase64: boolean;
}

/** Finds known secret values: verbatim, encoded, escaped, or split over lines and quotes. */
export type OwnSecretFinder = (text: string) => TextRange[];

/**
 * Creates the finder for these values. Text and values are compared by their letters and digits alone, once with
 * escapes decoded and once as they stand: that covers spaces, dashes, quotes, line breaks, JSON and URL escapes, and
 * values whose first letters read like the rest of an escape (`%` before `00…`). A rolling hash of eight of them makes
 * the time independent of the number of values.
 */
export function ownSecretFinder(secrets: readonly string[]): OwnSecretFinder {
  const known = [...new Set(secrets.flatMap((secret) => [secret, ...linesOf(secret)]))].filter(
    (secret) => secret.length >= SHORTEST_SECRET,
  );
  if (known.length === 0) return () => [];
  const index = new GramIndex();
  const exact: string[] = [];
  for (const secret of known) {
    const spellings = spellingsOf(secret);
    for (const spelling of spellings) index.add(spelling);
    // With too few letters and digits, or digits any date could have, only the value itself and its encodings are
    // searched.
    if (squeeze(secret, "decoded").codes.length < GRAM || hasOnlyDigits(secret)) exact.push(...encodingsOf(secret));
  }
  return (text) => [...exact.flatMap((value) => findExact(text, value)), ...index.find(text)];
}

function linesOf(secret: string) {
  return secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.trim().length >= SHORTEST_LINE) : [];
}

/** Every occurrence, also those that overlap. */
function findExact(text: string, value: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) found.push([at, at + value.length]);
  return found;
}

// Half of a character that takes two places cannot be encoded.
const HALF_CHAR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function encodingsOf(secret: string) {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.replace(HALF_CHAR, ""));
  return [...new Set([secret, json, url, url.replaceAll("%20", "+")])];
}

function spellingsOf(secret: string): Spelling[] {
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  const plain = squeeze(secret, "decoded").codes;
  const mayBePart = plain.length >= 20 && looksGenerated(secret);
  const texts = hasOnlyDigits(secret) ? [] : encodingsOf(secret);
  const words = texts
    .flatMap((text) => VIEWS.map((view) => squeeze(text, view).codes))
    .map((codes) => ({ codes, mayBePart, isBase64: false }));
  const hexes = [hex, hex.toUpperCase(), hex.replace(/../g, "0x$&")].map((text) => ({
    codes: squeeze(text, "as it stands").codes,
    mayBePart: false,
    isBase64: false,
  }));
  const encoded = [...[0, 1, 2].map((shift) => base64At(bytes, shift)), base64At(Buffer.from(secret, "utf16le"), 0)];
  const base64 = encoded.map((text) => ({
    codes: squeeze(text, "as it stands").codes,
    mayBePart: false,
    isBase64: true,
  }));
  return [...words, ...hexes, ...base64].filter(({ codes }) => codes.length >= GRAM);
}

/** The characters of a base64 text that depend on these bytes alone, if they begin at that place of a group of three. */
function base64At(bytes: Buffer, shift: number) {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replaceAll("=", "");
  const from = Math.ceil((shift * 8) / 6);
  return text.slice(from, Math.floor(((shift + bytes.length) * 8) / 6));
}

interface Squeezed {
  codes: Uint8Array;
  /** Where each of them stands in the text. */
  places: Uint32Array;
  /** Where eight of them begin whose hash is among those looked for. */
  grams: number[];
}

/** How the escapes of a text are read. */
type View = "decoded" | "as it stands";
const VIEWS: readonly View[] = ["decoded", "as it stands"];

/** The letters and digits of a text. Other alphabets count as letters. */
function squeeze(text: string, view: View, seen?: Uint8Array): Squeezed {
  const { length } = text;
  const codes = new Uint8Array(length);
  const places = new Uint32Array(length);
  const grams: number[] = [];
  let count = 0;
  let hash = 0;
  for (let at = 0; at < length; at += 1) {
    const place = at;
    let code = text.charCodeAt(at);
    let kind = KINDS[code];
    if (kind === OTHER) continue;
    if (kind === ESCAPE) {
      const escaped = view === "decoded" ? readEscape(text, at, code) : undefined;
      if (!escaped) continue;
      code = escaped.code;
      at += escaped.chars - 1;
      kind = KINDS[code];
      if (kind !== LETTER) continue;
    }
    code = code < 128 ? code : 128 | (code & 127);
    codes[count] = code;
    places[count] = place;
    hash = (Math.imul(hash, FACTOR) + code) | 0;
    if (count >= GRAM) hash = (hash - Math.imul(codes[count - GRAM] ?? 0, OLDEST)) | 0;
    count += 1;
    if (count >= GRAM && seen && seen[short(hash)] === 1) grams.push(count - GRAM);
  }
  return { codes: codes.subarray(0, count), places, grams };
}

const OTHER = 0;
const LETTER = 1;
const ESCAPE = 2;
const KINDS = new Uint8Array(0x1_0000);
for (let code = 0xc0; code < 0x1_0000; code += 1) KINDS[code] = code < 0x2000 || code > 0x206f ? LETTER : OTHER;
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") KINDS[char.charCodeAt(0)] = LETTER;
for (const char of "%&\\") KINDS[char.charCodeAt(0)] = ESCAPE;

const PERCENT = 37;
const AMPERSAND = 38;
const BACKSLASH = 92;
const ESCAPES: readonly (readonly [first: number, form: RegExp])[] = [
  [PERCENT, /%([0-9a-fA-F]{2})/y],
  [BACKSLASH, /\\{1,4}u([0-9a-fA-F]{4})/y],
  [BACKSLASH, /\\{1,4}x([0-9a-fA-F]{2})/y],
  [BACKSLASH, /\\{1,4}[nrtbfv]/y],
  [AMPERSAND, /&#x([0-9a-fA-F]{1,4});/y],
  [AMPERSAND, /&(?:amp|lt|gt|quot|apos|#\d{1,5});/y],
];

/** The character that an escape of URLs, JSON or HTML stands for; 0 for one that is no letter or digit. */
function readEscape(text: string, at: number, first: number): { code: number; chars: number } | undefined {
  for (const [start, form] of ESCAPES) {
    if (start !== first) continue;
    form.lastIndex = at;
    const match = form.exec(text);
    if (match) return { code: match[1] === undefined ? 0 : Number.parseInt(match[1], 16), chars: match[0].length };
  }
  return undefined;
}

/** Where an eight-letter part of a spelling stands in it, by the hash of that part. */
class GramIndex {
  readonly #places = new Map<number, { spelling: Spelling; offset: number }[]>();
  /** A bit set that rules out most hashes quickly. */
  readonly #seen = new Uint8Array(1 << SEEN_BITS);
  readonly #keys = new Set<string>();

  add(spelling: Spelling): void {
    const { codes, mayBePart } = spelling;
    const key = `${mayBePart} ${codes.join(" ")}`;
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const last = mayBePart ? codes.length - GRAM : 0;
    for (let offset = 0; offset <= last; offset += 1) {
      const hash = hashAt(codes, offset);
      this.#seen[short(hash)] = 1;
      const there = this.#places.get(hash);
      if (there) there.push({ spelling, offset });
      else this.#places.set(hash, [{ spelling, offset }]);
    }
  }

  find(text: string): TextRange[] {
    const views = /[%&\\]/.test(text) ? VIEWS : VIEWS.slice(0, 1);
    return views.flatMap((view) => this.#findIn(text, view));
  }

  #findIn(text: string, view: View): TextRange[] {
    const { codes, places, grams } = squeeze(text, view, this.#seen);
    const found: TextRange[] = [];
    // Text that was already matched is not searched again.
    let from = 0;
    for (const start of grams) {
      if (start < from) continue;
      const length = this.#longest(hashAt(codes, start), codes, start);
      if (!length) continue;
      found.push(rangeOf(text, places, start, start + length.count - 1, length.isBase64));
      from = start + length.count;
    }
    return found;
  }

  /** The length of the spelling matched there; undefined if too short. */
  #longest(hash: number, codes: Uint8Array, start: number): { count: number; isBase64: boolean } | undefined {
    let longest: { count: number; isBase64: boolean } | undefined;
    for (const { spelling, offset } of this.#places.get(hash) ?? []) {
      const whole = spelling.codes.length - offset;
      let count = 0;
      while (count < whole && codes[start + count] === spelling.codes[offset + count]) count += 1;
      const isEnough = count === spelling.codes.length || (spelling.mayBePart && count >= SHORTEST_PART);
      if (isEnough && count > (longest?.count ?? 0)) longest = { count, isBase64: spelling.isBase64 };
    }
    return longest;
  }
}

/** The hash of the eight letters from there on; a text's own is rolled along instead. */
function hashAt(codes: Uint8Array, start: number) {
  let hash = 0;
  for (let at = start; at < start + GRAM; at += 1) hash = (Math.imul(hash, FACTOR) + (codes[at] ?? 0)) | 0;
  return hash;
}

function short(hash: number) {
  return (hash ^ (hash >>> SEEN_BITS)) & ((1 << SEEN_BITS) - 1);
}

/** From the first to the last character; in base64 including characters that hold the secret only in part. */
function rangeOf(text: string, places: Uint32Array, first: number, last: number, isBase64: boolean): TextRange {
  let start = places[first] ?? 0;
  const at = places[last] ?? 0;
  let end = at + (readEscape(text, at, text.charCodeAt(at))?.chars ?? 1);
  if (!isBase64) return [start, end];
  for (let more = 0; more < 2 && start > 0 && /[\w+/=-]/.test(text[start - 1] ?? ""); more += 1) start -= 1;
  for (let more = 0; more < 4 && /[\w+/=-]/.test(text[end] ?? ""); more += 1) end += 1;
  return [start, end];
}
