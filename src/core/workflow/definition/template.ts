import { type Expression, parseExpression } from "./expression.ts";
import { ExpressionProblem, endOfExpression } from "./expression-token.ts";
import { type Scope, evaluate, isTrue } from "./evaluate.ts";
import { MOST_VALUE_CHARS, ValueTooLarge, requireSize } from "./value-size.ts";

const MOST_TEMPLATE_DEPTH = 64;
const MOST_EXPRESSIONS = 500;

/** A text with expressions in it, in order. */
export type TemplatePart = string | { expression: Expression; /** Where the expression begins. */ at: number };

/** Parses a text with `{{ }}` in it. Throws an ExpressionProblem whose place counts from the start of the text. */
export function parseTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open > at || open < 0) parts.push(text.slice(at, open < 0 ? undefined : open));
    if (open < 0) return parts.filter((part) => part !== "");
    const start = open + 2;
    const end = endOfExpression(text, start);
    if (end === undefined) throw new ExpressionProblem("{{ is not closed by }}", open);
    parts.push({ expression: parseAt(text.slice(start, end), start), at: start });
    if (parts.length > MOST_EXPRESSIONS * 2) {
      throw new ExpressionProblem(`a text has at most ${MOST_EXPRESSIONS} expressions`, open);
    }
    at = end + 2;
  }
}

/** Parses a condition: an expression, which may stand in `{{ }}`. */
export function parseCondition(text: string): Expression {
  if (!text.trimStart().startsWith("{{")) return parseExpression(text);
  const whole = findWhole(parseTemplate(text));
  if (!whole) throw new ExpressionProblem("a condition is one expression; write it without {{ }}", 0);
  return whole;
}

/** Says whether a condition holds; a step without one is always done. */
export function isMet(condition: string | boolean | undefined, scope: Scope): boolean {
  if (condition === undefined || typeof condition === "boolean") return condition ?? true;
  return isTrue(evaluate(parseCondition(condition), scope));
}

/**
 * Fills every text in a value. A text that is one whole `{{ }}` becomes the value of its expression, with its type; a
 * missing value leaves its key out of an object. Everything else becomes text.
 */
export function fillTemplate(value: unknown, scope: Scope): unknown {
  const filled = fill(value, scope, 0);
  requireSize(filled);
  return filled;
}

function fill(value: unknown, scope: Scope, depth: number): unknown {
  if (depth > MOST_TEMPLATE_DEPTH) throw new ValueTooLarge(`a value is nested at most ${MOST_TEMPLATE_DEPTH} deep`);
  if (typeof value === "string") return fillText(value, scope);
  if (Array.isArray(value)) return value.map((member) => fill(member, scope, depth + 1) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, fill(member, scope, depth + 1)] as const);
  // fromEntries defines own properties, so a key such as __proto__ cannot change the object's prototype.
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

function fillText(text: string, scope: Scope): unknown {
  if (!text.includes("{{")) return text;
  const parts = parseTemplate(text);
  const whole = findWhole(parts);
  if (whole) return evaluate(whole, scope);
  let filled = "";
  for (const part of parts) {
    filled += typeof part === "string" ? part : textOf(evaluate(part.expression, scope));
    if (filled.length > MOST_VALUE_CHARS) throw new ValueTooLarge(`a value has at most ${MOST_VALUE_CHARS} characters`);
  }
  return filled;
}

/** The expression of a text that is nothing else but space, as in a block of YAML, which ends with a new line. */
function findWhole(parts: readonly TemplatePart[]): Expression | undefined {
  const [only, ...rest] = parts.filter((part) => typeof part !== "string" || part.trim() !== "");
  return only === undefined || typeof only === "string" || rest.length > 0 ? undefined : only.expression;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  requireSize(value);
  return JSON.stringify(value);
}

function parseAt(text: string, at: number): Expression {
  try {
    return parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionProblem)) throw error;
    throw new ExpressionProblem(error.message, at + error.at);
  }
}
