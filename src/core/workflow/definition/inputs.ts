import { findNearest } from "../../text/nearest.ts";
import { Refusal } from "../../refusal.ts";
import type { WorkflowDefinition, WorkflowInput } from "./definition.ts";

/**
 * The inputs of a run: given ones, checked, and the defaults of the others. Texts become numbers, booleans or lists where
 * the definition says so, as the command line and webhooks have nothing but text.
 */
export function readInputs(
  definition: WorkflowDefinition,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const declared = definition.inputs ?? {};
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) {
    const meant = findNearest(unknown, Object.keys(declared));
    const hint = meant === undefined ? sayInputs(Object.keys(declared)) : `Did you mean ${meant}?`;
    throw new Refusal("bad_input", `The workflow ${definition.name} has no input "${unknown}"`, { hint });
  }
  return Object.fromEntries(
    Object.entries(declared).flatMap(([name, input]) => {
      const value = Object.hasOwn(given, name) ? (given[name] ?? input.default) : input.default;
      if (value !== undefined) return [[name, convert(name, value, input)]];
      if (!input.required) return [];
      throw new Refusal("bad_input", `The workflow ${definition.name} needs the input ${name}`, {
        hint: `Add --input ${name}=<value>`,
      });
    }),
  );
}

/** Says whether a value has the type that an input declares. */
export function fitsInput(value: unknown, { type = "string", options }: WorkflowInput): boolean {
  if (type === "list") return Array.isArray(value);
  if (typeof value !== type) return false;
  return typeof value !== "string" || options === undefined || options.includes(value);
}

function convert(name: string, given: unknown, input: WorkflowInput): unknown {
  const { type = "string", options } = input;
  const value = typeof given === "string" && type !== "string" ? parseText(given) : given;
  if (fitsInput(value, input)) return value;
  const expected = options ? `one of: ${options.join(", ")}` : `a ${type}`;
  throw new Refusal("bad_input", `The input ${name} must be ${expected}`);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // reported as the wrong type
  }
}

function sayInputs(names: readonly string[]) {
  return names.length === 0 ? "It takes no inputs" : `It has: ${names.join(", ")}`;
}
