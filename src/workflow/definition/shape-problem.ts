import { z } from "zod";
import { findNearest } from "../../core/text/nearest.ts";
import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import type { DefinitionProblem, ValuePath } from "../../core/workflow/definition/definition-problem.ts";

type Issue = z.core.$ZodIssue;

/** Turns what the schema says about a value into problems that name the place and what to write there. */
export function shapeProblems(value: unknown, issues: readonly Issue[]): DefinitionProblem[] {
  return issues.flatMap((issue) => problemsOf(issue, { value, schema: WorkflowDefinition, path: [] }));
}

/** A copy of the value with each unknown key under the name that was probably meant, or without it. */
export function withKnownKeys(value: unknown, problems: readonly DefinitionProblem[]): unknown {
  const copy = structuredClone(value);
  for (const { path, unknown } of problems) {
    const outer = valueAt(copy, path.slice(0, -1));
    const key = path.at(-1);
    if (!unknown || key === undefined || typeof outer !== "object" || outer === null) continue;
    const { meant } = unknown;
    if (meant !== undefined && !Object.hasOwn(outer, meant)) Object.assign(outer, { [meant]: valueAt(outer, [key]) });
    Reflect.deleteProperty(outer, key);
  }
  return copy;
}

/** The value and schema that the path of an issue counts from. */
interface IssueRoot {
  value: unknown;
  schema: z.core.$ZodType;
  path: ValuePath;
}

function problemsOf(issue: Issue, around: IssueRoot): DefinitionProblem[] {
  const own = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const path = [...around.path, ...own];
  if (issue.code === "unrecognized_keys") {
    const known = keysOf(schemaAt(around, own), valueAt(around.value, own));
    return issue.keys.map((key) => unknownKey(key, path, known));
  }
  if (issue.code === "invalid_key") {
    return [
      { level: "error", path, isKey: true, message: sayExpected(path, issue.issues[0]?.message ?? issue.message) },
    ];
  }
  const value = valueAt(around.value, own);
  if (issue.code === "invalid_union" && issue.errors.length > 0) return unionProblems(issue, value, around, own);
  const name = path.at(-1);
  if (value === undefined && typeof name === "string") {
    const message = `${name} is missing; ${issue.message}`;
    return [{ level: "error", path: path.slice(0, -1), message }];
  }
  return [{ level: "error", path, message: sayExpected(path, issue.message) }];
}

/** Of several shapes, the one that was probably meant: it lacks the fewest keys, then has the fewest unknown ones. */
function unionProblems(
  issue: Extract<Issue, { code: "invalid_union" }>,
  value: unknown,
  around: IssueRoot,
  own: ValuePath,
): DefinitionProblem[] {
  const path = [...around.path, ...own];
  const options = optionsOf(schemaAt(around, own));
  const [meant, next] = issue.errors
    .map((issues, index) => ({ issues, schema: options[index], ...countMistakes(issues, value) }))
    .filter(({ isOtherType }) => !isOtherType)
    .sort((one, other) => one.missing - other.missing || one.unknown - other.unknown);
  if (!meant?.schema) return [{ level: "error", path, message: sayExpected(path, issue.message) }];
  const { schema } = meant;
  // It has none of the keys that tell the shapes apart.
  if (meant.missing > 0 && meant.missing === next?.missing) return kindProblems(issue.errors, options, value, path);
  return meant.issues.flatMap((inner) => problemsOf(inner, { value, schema, path }));
}

/** A step or trigger that is of no kind: keys that no kind has, or else the keys of which one is needed. */
function kindProblems(
  errors: ReadonlyArray<readonly Issue[]>,
  options: readonly z.core.$ZodType[],
  value: unknown,
  path: ValuePath,
): DefinitionProblem[] {
  const known = [...new Set(options.flatMap((option) => keysOf(option)))];
  const unknown = unknownIn(errors[0] ?? []).filter((key) => !known.includes(key));
  if (unknown.length > 0) return unknown.map((key) => unknownKey(key, path, known));
  const kinds = [...new Set(errors.flatMap((issues) => missingIn(issues, value)))];
  return [{ level: "error", path, message: `This needs ${joinOr(kinds)}` }];
}

function countMistakes(issues: readonly Issue[], value: unknown) {
  return {
    isOtherType: issues.some(({ code, path }) => path.length === 0 && code === "invalid_type"),
    missing: missingIn(issues, value).length,
    unknown: unknownIn(issues).length,
  };
}

function missingIn(issues: readonly Issue[], value: unknown): string[] {
  return issues
    .filter(({ path }) => path.length === 1 && valueAt(value, path.map(String)) === undefined)
    .map(({ path }) => String(path[0]));
}

function unknownIn(issues: readonly Issue[]): string[] {
  return issues.flatMap((issue) => (issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : []));
}

function unknownKey(key: string, path: ValuePath, known: readonly string[]): DefinitionProblem {
  const meant = findNearest(key.replaceAll("-", "_"), known);
  return {
    level: "error",
    path: [...path, key],
    isKey: true,
    unknown: { meant },
    message: `There is no key ${key} here`,
    hint: meant === undefined ? `There are: ${known.join(", ")}` : `Did you mean ${meant}?`,
  };
}

function sayExpected(path: ValuePath, message: string): string {
  const name = path.findLast((key) => typeof key === "string");
  return name === undefined ? upperFirst(message) : `${name}: ${message}`;
}

function upperFirst(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function joinOr(names: readonly string[]) {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}

function valueAt(value: unknown, path: ReadonlyArray<string | number>): unknown {
  return path.reduce<unknown>((outer, key) => {
    if (typeof outer !== "object" || outer === null || !Object.hasOwn(outer, key)) return undefined;
    return (outer as Record<string | number, unknown>)[key];
  }, value);
}

/** The schema of a value inside another; undefined where there is none. */
function schemaAt({ schema, value }: IssueRoot, path: ValuePath): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const [index, key] of path.entries()) {
    const outer = unwrap(at, valueAt(value, path.slice(0, index)));
    if (outer instanceof z.ZodObject) at = (outer.shape as Record<string, z.core.$ZodType>)[key];
    else if (outer instanceof z.ZodArray) at = outer.element;
    else at = outer instanceof z.ZodRecord ? outer.valueType : undefined;
  }
  return at;
}

/** A schema without what is around it; of several, the one that knows most keys of the value. */
function unwrap(schema: z.core.$ZodType | undefined, value: unknown): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodLazy) return unwrap(schema.unwrap(), value);
  if (!(schema instanceof z.ZodUnion) || value === undefined) return schema;
  const given = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const counted = optionsOf(schema).map((option) => ({
    option,
    count: keysOf(option).filter((key) => given.includes(key)).length,
  }));
  return unwrap(counted.toSorted((one, other) => other.count - one.count)[0]?.option, undefined);
}

function keysOf(schema: z.core.$ZodType | undefined, value?: unknown): string[] {
  const inner = unwrap(schema, value);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function optionsOf(schema: z.core.$ZodType | undefined): readonly z.core.$ZodType[] {
  const inner = unwrap(schema, undefined);
  return inner instanceof z.ZodUnion ? inner.options : [];
}
