import { MARKER_CLOSE, MARKER_OPEN } from "../../core/run/how-to-ask.ts";
import type { Json } from "../json.ts";
import { EscapeFilter } from "./escape-sequence.ts";
import { readMarkerBody } from "./marker-body.ts";

/** The longest marker: a question and its context at their limits, with room for escapes. */
const MAX_CHARS = 128 * 1024;
/** An agent that writes broken markers all day fills no log. */
const MAX_WARNINGS = 20;
/** How often a body is read at a closing marker that may stand inside of a string. */
const MAX_TRIES = 4;

/** The markers that are known, each with the words of its sample, which is never a question. */
const KINDS = [
  { open: MARKER_OPEN, close: MARKER_CLOSE, sample: "Your question" },
  { open: "<<GZA_QUESTION>>", close: "<</GZA_QUESTION>>", sample: "Your question here" },
] as const;
type Kind = (typeof KINDS)[number];

interface Token {
  kind: Kind;
  text: string;
  opens: boolean;
}
const TOKENS: readonly Token[] = KINDS.flatMap((kind) => [
  { kind, text: kind.open, opens: true },
  { kind, text: kind.close, opens: false },
]);
const LESS = "<".charCodeAt(0);
/** Characters that can follow `<<` in a token; all others are skipped at once. */
const THIRD = new Set(TOKENS.map(({ text }) => text.charCodeAt(2)));

const MARKED = new RegExp(KINDS.map(({ open, close }) => `${open}[^]*?${close}`).join("|"), "g");

/** The words of an agent without the questions that they mark: those are shown as questions. */
export function withoutMarkers(words: string): string {
  return words.replace(MARKED, "");
}

/** A find: the question as the agent wrote it, or why the words of a marker are none. */
export type MarkerQuestion = { kind: "question"; input: Json } | { kind: "warning"; text: string; words: string };

/**
 * Finds the first question that an agent marks in its own words, or the first few, however they are cut into pieces.
 * Every character is looked at a fixed number of times, and at most two markers' lengths are kept.
 */
export class MarkerScanner {
  /** The end of the words, when it may be the beginning of a token. */
  #tail = "";
  readonly #escapes = new EscapeFilter();
  /** The marker that is open, and the latest that was opened inside: the first may never have been meant. */
  #opened: Body[] = [];
  #isDone = false;
  #warnings = 0;
  #left: number;

  constructor({ most = 1 }: { most?: number } = {}) {
    this.#left = most;
  }

  /** Looks at the agent's next words. Nothing is said after the last question that is wanted. */
  push(words: string): MarkerQuestion[] {
    if (this.#isDone || words === "") return [];
    const found: MarkerQuestion[] = [];
    const text = this.#tail + this.#escapes.push(words);
    let from = 0;
    let at = findToken(text, from);
    for (; at >= 0; at = findToken(text, from)) {
      const token = readToken(text, at);
      if (token === "more") break;
      from = token ? at + token.text.length : at + 2;
      if (token?.opens) this.#opened.splice(1, 1, new Body(token.kind, from));
      if (token && !token.opens) found.push(...this.#close(token.kind, text, at));
      if (this.#isDone) return found;
    }
    const end = at < 0 ? text.length : at;
    this.#tail = text.slice(end);
    for (const body of this.#opened) body.keep(text, end);
    found.push(...this.#dropLong());
    return found;
  }

  /** The agent's words are over: a marker that is still open was none. */
  end(): MarkerQuestion[] {
    const [open] = this.#isDone ? [] : this.#opened;
    this.#isDone = true;
    return open ? this.#warn(`${open.kind.open} is not closed`, open.read("", 0)) : [];
  }

  #close(kind: Kind, text: string, at: number): MarkerQuestion[] {
    const bodies = this.#opened.filter((body) => body.kind === kind);
    if (bodies.length === 0) return [];
    const isEnd = bodies.some((body) => body.lastChar(text, at) === "}");
    const mayGoOn = !isEnd && bodies.some((body) => body.isObject(text, at));
    const read = bodies.filter((body) => !mayGoOn || body.mayTry()).map((body) => body.read(text, at));
    const inputs = read.map(readMarkerBody);
    const input = inputs.find((parsed) => parsed !== undefined);
    // A closing marker inside of a string closes nothing; the JSON goes on.
    if (!input && mayGoOn) return [];
    this.#opened = this.#opened.filter((body) => body.kind !== kind);
    const words = read.join("\n");
    if (!input) return this.#warn(`${kind.open} holds no valid JSON`, words);
    const { question } = input;
    if (typeof question !== "string" || question.trim() === "") {
      return this.#warn(`${kind.open} holds no "question"`, words);
    }
    if (question === kind.sample) return []; // it repeats how to ask
    this.#left -= 1;
    this.#isDone = this.#left <= 0;
    this.#opened = [];
    const [outer] = inputs[0] === undefined && bodies[0]?.isObject(text, at) ? read : [];
    const unclosed = outer?.slice(0, outer.lastIndexOf(kind.open));
    const warning = unclosed === undefined ? [] : this.#warn(`${kind.open} is not closed`, unclosed);
    return [...warning, { kind: "question", input }];
  }

  #dropLong(): MarkerQuestion[] {
    const long = this.#opened.filter((body) => body.chars > MAX_CHARS);
    if (long.length > 0) this.#opened = this.#opened.filter((body) => body.chars <= MAX_CHARS);
    return long.flatMap((body) =>
      this.#warn(`${body.kind.open} is not closed within ${MAX_CHARS} characters`, body.read("", 0)),
    );
  }

  #warn(what: string, words: string): MarkerQuestion[] {
    this.#warnings += 1;
    if (this.#warnings > MAX_WARNINGS) return [];
    return [{ kind: "warning", text: `${what}; no question was asked`, words }];
  }
}

/** The words behind an opening marker, kept as the pieces that they came in. */
class Body {
  readonly kind: Kind;
  chars = 0;
  readonly #pieces: string[] = [];
  /** Where they begin in the text that is being looked at. */
  #from: number;
  #firstChar = "";
  #lastChar = "";
  #tries = 0;

  constructor(kind: Kind, from: number) {
    this.kind = kind;
    this.#from = from;
  }

  keep(text: string, end: number): void {
    this.#firstChar = this.firstChar(text, end);
    this.#lastChar = this.lastChar(text, end);
    const piece = text.slice(this.#from, end);
    this.#pieces.push(piece);
    this.chars += piece.length;
    this.#from = 0;
  }

  isObject(text: string, end: number): boolean {
    this.#firstChar = this.firstChar(text, end);
    return this.#firstChar === "{";
  }

  firstChar(text: string, end: number): string {
    let at = this.#from;
    while (this.#firstChar === "" && at < end && isSpace(text.charCodeAt(at))) at += 1;
    return this.#firstChar !== "" || at === end ? this.#firstChar : text.charAt(at);
  }

  lastChar(text: string, end: number): string {
    let at = end;
    while (at > this.#from && isSpace(text.charCodeAt(at - 1))) at -= 1;
    return at > this.#from ? text.charAt(at - 1) : this.#lastChar;
  }

  /** Reading again and again at closing markers inside of a string would take quadratic time. */
  mayTry(): boolean {
    this.#tries += 1;
    return this.#tries <= MAX_TRIES;
  }

  read(text: string, end: number): string {
    return this.#pieces.join("") + text.slice(this.#from, end);
  }
}

/** Where the next token may begin, also one whose end is not there yet. */
function findToken(text: string, from: number): number {
  for (let at = text.indexOf("<<", from); at >= 0; at = text.indexOf("<<", at + 2)) {
    while (text.charCodeAt(at + 2) === LESS) at += 1;
    if (at + 2 === text.length || THIRD.has(text.charCodeAt(at + 2))) return at;
  }
  return text.length > from && text.charCodeAt(text.length - 1) === LESS ? text.length - 1 : -1;
}

function readToken(text: string, at: number): Token | "more" | undefined {
  const whole = TOKENS.find((token) => text.startsWith(token.text, at));
  if (whole) return whole;
  const rest = text.length - at;
  const isBegun = TOKENS.some((token) => rest < token.text.length && token.text.startsWith(text.slice(at)));
  return isBegun ? "more" : undefined;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
