import { unreachable } from "../../unreachable.ts";
import { type Expression, type ExpressionFunction, type Path, FORBIDDEN_NAMES, formatPath } from "./expression.ts";
import { requireSize } from "./value-size.ts";

/** The values that an expression can name. All of it is JSON. */
export type Scope = Readonly<Record<string, unknown>>;

/** An expression met a value that it cannot work with. The step that needs it fails with this reason. */
export class EvaluationProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EvaluationProblem";
  }
}

/** A secret has no value here: a step without it would do something else. */
export class MissingSecret extends EvaluationProblem {
  constructor(name: string) {
    super(
      `The secret ${name} has no value in this worker; set the variable ${name} where it starts, then repeat the step`,
    );
    this.name = "MissingSecret";
  }
}

/** The value of an expression; undefined if it names something that is not there. It looks at own properties only. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  switch (expression.is) {
    case "literal":
      return expression.value;
    case "path":
      return lookUp(expression, scope);
    case "not":
      return !isTrue(evaluate(expression.of, scope));
    case "and":
      return evaluateUntil(expression.of, scope, (value) => !isTrue(value));
    case "or":
      return evaluateUntil(expression.of, scope, isTrue);
    case "compare":
      return compare(expression, scope);
    case "call":
      return call(expression, scope);
    default:
      return unreachable(expression);
  }
}

/** Says whether a value counts as true: not false, null, missing, 0 or an empty text. */
export function isTrue(value: unknown): boolean {
  return Boolean(value);
}

function lookUp(path: Path, scope: Scope): unknown {
  const value = findValue(path, scope);
  const [name] = path.keys;
  if (path.root === "secrets" && name !== undefined && value === undefined) throw new MissingSecret(String(name));
  return value;
}

function findValue({ root, keys }: Path, scope: Scope): unknown {
  let value: unknown = scope;
  for (const key of [root, ...keys]) {
    if (value === undefined || value === null || FORBIDDEN_NAMES.includes(String(key))) return undefined;
    // Object() gives a text its own properties: its length and characters.
    if (!Object.hasOwn(Object(value) as object, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return typeof value === "function" ? undefined : value;
}

/** The first value that decides, or the last one. */
function evaluateUntil(of: readonly Expression[], scope: Scope, decides: (value: unknown) => boolean): unknown {
  let value: unknown;
  for (const expression of of) {
    value = evaluate(expression, scope);
    if (decides(value)) return value;
  }
  return value;
}

function compare({ by, left, right }: Extract<Expression, { is: "compare" }>, scope: Scope): boolean {
  const [one, other] = [evaluate(left, scope), evaluate(right, scope)];
  if (by === "==") return isSame(one, other);
  if (by === "!=") return !isSame(one, other);
  if (typeof one === "number" && typeof other === "number") return inOrder(by, one - other);
  if (typeof one === "string" && typeof other === "string") return inOrder(by, one < other ? -1 : Number(one > other));
  // Without this, a confidence that is missing would count as high.
  const wrong =
    typeof one === "number" || typeof one === "string" ? { side: right, value: other } : { side: left, value: one };
  throw new EvaluationProblem(
    `${by} compares two numbers or two texts, but ${describe(wrong.side)} is ${nameType(wrong.value)}`,
  );
}

/** A missing value is the same as null; lists and objects are the same as nothing. */
function isSame(one: unknown, other: unknown) {
  return (one ?? null) === (other ?? null);
}

function inOrder(by: "<" | "<=" | ">" | ">=", difference: number) {
  if (by === "<") return difference < 0;
  if (by === "<=") return difference <= 0;
  if (by === ">") return difference > 0;
  return difference >= 0;
}

function call({ name, of }: Extract<Expression, { is: "call" }>, scope: Scope): unknown {
  const values = of.map((expression) => evaluate(expression, scope));
  return FUNCTIONS[name](values, of);
}

type Values = readonly unknown[];
type Operands = readonly Expression[];

const FUNCTIONS: Readonly<Record<ExpressionFunction, (values: Values, given: Operands) => unknown>> = {
  length: ([value], [given]) => {
    if (value === undefined || value === null) return 0;
    if (typeof value === "string" || Array.isArray(value)) return value.length;
    if (typeof value === "object") return Object.keys(value).length;
    throw new EvaluationProblem(`length takes a text, list or object, but ${describe(given)} is ${nameType(value)}`);
  },
  contains: ([whole, part], [given]) => {
    if (whole === undefined || whole === null) return false;
    if (Array.isArray(whole)) return whole.some((member) => isSame(member, part));
    if (typeof part !== "string" && typeof part !== "number" && typeof part !== "boolean") return false;
    if (typeof whole === "string") return whole.includes(String(part));
    if (typeof whole === "object") return Object.hasOwn(whole, String(part));
    throw new EvaluationProblem(`contains takes a text, list or object, but ${describe(given)} is ${nameType(whole)}`);
  },
  lower: ([value], [given]) => {
    if (value === undefined || value === null) return "";
    if (typeof value === "string") return value.toLowerCase();
    throw new EvaluationProblem(`lower takes a text, but ${describe(given)} is ${nameType(value)}`);
  },
  default: ([value, fallback]) => value ?? fallback,
  json: ([value]) => {
    requireSize(value);
    return JSON.stringify(value ?? null);
  },
};

function describe(expression: Expression | undefined) {
  return expression?.is === "path" ? formatPath(expression) : "the value";
}

function nameType(value: unknown) {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
