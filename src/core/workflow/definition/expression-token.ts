/** A mistake in an expression or template, and where it is in the text, in characters. */
export class ExpressionProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = "ExpressionProblem";
    this.at = at;
  }
}

/** One word of an expression. */
export type Token = { text: string; at: number } & (
  | { is: "name" | "operator" | "end" }
  | { is: "value"; value: string | number | boolean | null; isWord: boolean }
);

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
const SPACE = /\s+/y;
const NAME = /[A-Za-z_][\w-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'/suy;
const OPERATOR = /\|\||&&|==|!=|<=|>=|[<>!.,()[\]]/y;
const UNCLOSED_TEXT = "a text in quotes is not closed";
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
const MISTAKEN: Readonly<Record<string, string>> = { "=": "==", "&": "&&", "|": "||" };

/** Splits an expression into tokens; the last one is the end. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += matchAt(SPACE, text, at)?.length ?? 0;
    if (at >= text.length) return [...tokens, { is: "end", text: "", at }];
    const token = tokenAt(text, at);
    tokens.push(token);
    at += token.text.length;
  }
}

/** Where the expression that begins there ends: before the `}}` that closes it, which no quotes contain. */
export function endOfExpression(text: string, start: number): number | undefined {
  let at = start;
  while (at < text.length) {
    if (text.startsWith("}}", at)) return at;
    const quoted = matchAt(TEXT, text, at);
    if (quoted === undefined && isQuote(text.charAt(at))) throw new ExpressionProblem(UNCLOSED_TEXT, at);
    at += quoted?.length ?? 1;
  }
  return undefined;
}

function tokenAt(text: string, at: number): Token {
  const quoted = matchAt(TEXT, text, at);
  if (quoted !== undefined) return { is: "value", text: quoted, at, value: unquote(quoted), isWord: false };
  const number = matchAt(NUMBER, text, at);
  if (number !== undefined) return { is: "value", text: number, at, value: numberOf(number, at), isWord: false };
  const name = matchAt(NAME, text, at);
  if (name !== undefined) {
    const value = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
    return value === undefined ? { is: "name", text: name, at } : { is: "value", text: name, at, value, isWord: true };
  }
  const operator = matchAt(OPERATOR, text, at);
  if (operator !== undefined) return { is: "operator", text: operator, at };
  const character = text.charAt(at);
  if (isQuote(character)) throw new ExpressionProblem(UNCLOSED_TEXT, at);
  const meant = MISTAKEN[character];
  throw new ExpressionProblem(
    `the character ${character} means nothing here${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    at,
  );
}

function isQuote(character: string) {
  return character === '"' || character === "'";
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function numberOf(text: string, at: number) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ExpressionProblem(`the number ${text} is too large`, at);
  return value;
}

function unquote(quoted: string) {
  return quoted.slice(1, -1).replace(/\\(.)/gsu, (_, character: string) => ESCAPES[character] ?? character);
}
