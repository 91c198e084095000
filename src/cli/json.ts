import { Refusal } from "../core/refusal.ts";
import { sanitiseJson } from "./sanitise.ts";

/** What `--json` was given: everything, a list of fields, or the wish to see their names. */
export type JsonChoice = { show: "all" } | { show: "fields"; fields: string[] } | { show: "names" };

// Keys in these objects are names that people or agents chose: item ids, schema fields. They stay as they are.
const RECORDS: ReadonlySet<string> = new Set(["items", "answers"]);
const VERBATIM: ReadonlySet<string> = new Set(["schema"]);
// Fields of a source document, which keeps its own case.
const OF_DOCUMENTS: ReadonlySet<string> = new Set(["questionContext", "humanResponse", "humanRespondedAt"]);

export function parseJsonChoice(value: string): JsonChoice {
  if (value === "") return { show: "all" };
  if (value === "?") return { show: "names" };
  return { show: "fields", fields: value.split(",").map((field) => field.trim()) };
}

/** Writes one of our objects, or a list of them, the way `--json` was asked for. */
export function renderJson(
  value: object | readonly object[],
  choice: JsonChoice,
  options: { fields: readonly string[]; indent?: number },
): string {
  if (choice.show === "names") return `${options.fields.join("\n")}\n`;
  const wire = toWire(value);
  const chosen = choice.show === "all" ? wire : selectFields(wire, choice.fields, options.fields);
  return `${sanitiseJson(JSON.stringify(chosen, undefined, options.indent))}\n`;
}

/** Our objects as they appear outside: snake_case names, except where a name is somebody's own. */
export function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (VERBATIM.has(name)) return [name, inner];
      if (RECORDS.has(name) && isObject(inner) && !Array.isArray(inner)) return [name, wireRecord(inner)];
      return [OF_DOCUMENTS.has(name) ? name : snakeCase(name), toWire(inner)];
    }),
  );
}

function wireRecord(record: object): object {
  return Object.fromEntries(Object.entries(record).map(([name, inner]) => [name, toWire(inner)]));
}

function selectFields(wire: unknown, fields: readonly string[], known: readonly string[]): unknown {
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length > 0) {
    throw new Refusal("bad_input", `There is no field ${unknown.join(", ")}`, {
      hint: `Choose from: ${known.join(",")}`,
    });
  }
  const pick = (object: unknown): object => {
    const values = new Map(isObject(object) ? Object.entries(object) : []);
    return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? null]));
  };
  return Array.isArray(wire) ? wire.map(pick) : pick(wire);
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
