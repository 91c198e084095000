import { Refusal } from "../core/refusal.ts";
import { toSnakeCase } from "../core/api/snake-case.ts";
import { escapeInvisible } from "../core/text/foreign-text.ts";

/** The value of `--json`: everything, some fields, or the names of the fields. */
export type JsonChoice = { show: "all" } | { show: "fields"; fields: string[] } | { show: "names" };

export function parseJsonChoice(value: string): JsonChoice {
  if (value === "") return { show: "all" };
  if (value === "?") return { show: "names" };
  return { show: "fields", fields: value.split(",").map((field) => field.trim()) };
}

/** Renders an object or a list as `--json` asks for it. */
export function renderJson(
  value: object | readonly object[],
  choice: JsonChoice,
  options: { fields: readonly string[]; indent?: number | undefined; keepsCase?: true | undefined },
): string {
  if (choice.show === "names") return `${options.fields.join("\n")}\n`;
  const wire = options.keepsCase ? value : toSnakeCase(value);
  requireFields(choice, options.fields);
  const chosen = choice.show === "all" ? wire : selectFields(wire, choice.fields);
  return `${escapeInvisible(JSON.stringify(chosen, undefined, options.indent))}\n`;
}

/** Refuses unknown fields. */
export function requireFields(choice: JsonChoice, known: readonly string[]): void {
  if (choice.show !== "fields") return;
  const unknown = choice.fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  throw new Refusal("bad_input", `There is no field ${unknown.join(", ")}`, {
    hint: `Choose from: ${known.join(",")}`,
  });
}

function selectFields(wire: unknown, fields: readonly string[]) {
  const pick = (object: unknown) => {
    const values = new Map(isObject(object) ? Object.entries(object) : []);
    return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? null]));
  };
  return Array.isArray(wire) ? wire.map(pick) : pick(wire);
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}
