import { unreachable } from "../../unreachable.ts";
import { ExpressionProblem, type Token, tokenize } from "./expression-token.ts";

const MOST_CHARS = 2_000;
const MOST_DEPTH = 32;

/** Names that reach from a value to its prototype; no expression may contain them. */
export const FORBIDDEN_NAMES: readonly string[] = ["__proto__", "constructor", "prototype"];

const COMPARISONS = ["==", "!=", "<", "<=", ">", ">="] as const;
type Comparison = (typeof COMPARISONS)[number];

/** The functions of the language and how many arguments each takes. */
export const EXPRESSION_FUNCTIONS = { length: 1, contains: 2, lower: 1, default: 2, json: 1 } as const;
export type ExpressionFunction = keyof typeof EXPRESSION_FUNCTIONS;

/** A value by its name: `analysis.files[0].path`. */
export interface Path {
  is: "path";
  root: string;
  keys: ReadonlyArray<string | number>;
  /** Where it begins in the text, in characters. */
  at: number;
}

/** A parsed expression. It names values and compares them; it calls nothing but the five functions. */
export type Expression =
  | Path
  | { is: "literal"; value: string | number | boolean | null }
  | { is: "not"; of: Expression }
  | { is: "and" | "or"; of: readonly Expression[] }
  | { is: "compare"; by: Comparison; left: Expression; right: Expression }
  | { is: "call"; name: ExpressionFunction; of: readonly Expression[] };

/** Parses an expression such as `analysis.confidence < 80`. Throws an ExpressionProblem that says where it is wrong. */
export function parseExpression(text: string): Expression {
  if (text.length > MOST_CHARS) {
    throw new ExpressionProblem(
      `an expression has at most ${MOST_CHARS} characters, and this one has ${text.length}`,
      0,
    );
  }
  const parser = new Parser(tokenize(text));
  const expression = parser.parseOr(0);
  parser.requireEnd();
  return expression;
}

/** The values that an expression names. */
export function pathsIn(expression: Expression): Path[] {
  switch (expression.is) {
    case "path":
      return [expression];
    case "literal":
      return [];
    case "not":
      return pathsIn(expression.of);
    case "and":
    case "or":
    case "call":
      return expression.of.flatMap(pathsIn);
    case "compare":
      return [...pathsIn(expression.left), ...pathsIn(expression.right)];
    default:
      return unreachable(expression);
  }
}

/** Formats a path as it is written. */
export function formatPath({ root, keys }: Pick<Path, "root" | "keys">): string {
  return root + keys.map((key) => (isPlainName(key) ? `.${key}` : `[${JSON.stringify(key)}]`)).join("");
}

function isPlainName(key: string | number) {
  return typeof key === "string" && /^[A-Za-z_][\w-]*$/.test(key);
}

/** A recursive descent parser: one method per level of precedence, the loosest first. */
class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parseOr(depth: number): Expression {
    if (depth > MOST_DEPTH) throw this.#problem(`an expression is nested at most ${MOST_DEPTH} deep`);
    const of = [this.#parseAnd(depth)];
    while (this.#take("||")) of.push(this.#parseAnd(depth));
    return single(of) ?? { is: "or", of };
  }

  requireEnd(): void {
    if (this.#next.is !== "end") throw this.#problem(`expected an operator or the end, found ${show(this.#next)}`);
  }

  #parseAnd(depth: number): Expression {
    const of = [this.#parseComparison(depth)];
    while (this.#take("&&")) of.push(this.#parseComparison(depth));
    return single(of) ?? { is: "and", of };
  }

  #parseComparison(depth: number): Expression {
    const left = this.#parseUnary(depth);
    const by = COMPARISONS.find((operator) => this.#take(operator));
    if (by === undefined) return left;
    const right = this.#parseUnary(depth);
    if (COMPARISONS.some((operator) => this.#isAt(operator))) {
      throw this.#problem("comparisons cannot be chained; join two with &&");
    }
    return { is: "compare", by, left, right };
  }

  #parseUnary(depth: number): Expression {
    if (depth > MOST_DEPTH) throw this.#problem(`an expression is nested at most ${MOST_DEPTH} deep`);
    if (this.#take("!")) return { is: "not", of: this.#parseUnary(depth + 1) };
    if (this.#take("(")) {
      const inner = this.parseOr(depth + 1);
      this.#require(")");
      return inner;
    }
    const token = this.#next;
    if (token.is === "value") {
      this.#index += 1;
      return { is: "literal", value: token.value };
    }
    if (token.is !== "name") throw this.#problem(`expected a value, found ${show(token)}`);
    this.#index += 1;
    if (this.#take("(")) return this.#parseCall(token.text, token.at, depth);
    return { is: "path", root: safeName(token.text, token.at), keys: this.#parseKeys(), at: token.at };
  }

  #parseCall(name: string, at: number, depth: number): Expression {
    if (!isFunction(name)) {
      const known = Object.keys(EXPRESSION_FUNCTIONS).join(", ");
      throw new ExpressionProblem(`there is no function ${name}; there are ${known}`, at);
    }
    const of: Expression[] = [];
    if (!this.#take(")")) {
      do of.push(this.parseOr(depth + 1));
      while (this.#take(","));
      this.#require(")");
    }
    const count = EXPRESSION_FUNCTIONS[name];
    if (of.length !== count) {
      const values = count === 1 ? "one value" : `${count} values`;
      throw new ExpressionProblem(`${name} takes ${values}, not ${of.length}`, at);
    }
    return { is: "call", name, of };
  }

  #parseKeys(): Array<string | number> {
    const keys: Array<string | number> = [];
    for (;;) {
      if (this.#take(".")) keys.push(this.#parseName());
      else if (this.#take("[")) keys.push(this.#parseIndex());
      else return keys;
    }
  }

  #parseName(): string {
    const token = this.#next;
    // A field may be called `true` or `null`.
    const text = token.is === "name" || (token.is === "value" && token.isWord) ? token.text : undefined;
    if (text === undefined) throw this.#problem(`expected a name after the dot, found ${show(token)}`);
    this.#index += 1;
    return safeName(text, token.at);
  }

  #parseIndex(): string | number {
    const token = this.#next;
    const value = token.is === "value" ? token.value : undefined;
    const isIndex = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    if (typeof value !== "string" && !isIndex) {
      throw this.#problem(`expected a number or a text in quotes between [ and ], found ${show(token)}`);
    }
    this.#index += 1;
    this.#require("]");
    return typeof value === "string" ? safeName(value, token.at) : value;
  }

  get #next(): Token {
    // The last token is the end, and nothing goes past it.
    return this.#tokens[Math.min(this.#index, this.#tokens.length - 1)] as Token;
  }

  #isAt(operator: string): boolean {
    return this.#next.is === "operator" && this.#next.text === operator;
  }

  #take(operator: string): boolean {
    if (!this.#isAt(operator)) return false;
    this.#index += 1;
    return true;
  }

  #require(operator: string): void {
    if (!this.#take(operator)) throw this.#problem(`expected ${operator}, found ${show(this.#next)}`);
  }

  #problem(message: string): ExpressionProblem {
    return new ExpressionProblem(message, this.#next.at);
  }
}

function single(of: readonly Expression[]): Expression | undefined {
  return of.length === 1 ? of[0] : undefined;
}

function isFunction(name: string): name is ExpressionFunction {
  return Object.hasOwn(EXPRESSION_FUNCTIONS, name);
}

function safeName(name: string, at: number) {
  if (FORBIDDEN_NAMES.includes(name)) throw new ExpressionProblem(`the name ${name} is not allowed`, at);
  return name;
}

function show(token: Token) {
  return token.is === "end" ? "the end" : token.text;
}
