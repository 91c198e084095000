import { z } from "zod";
import type { RefusalFacts, RequiredForm } from "../refusal-fact.ts";

const MAX_FIELDS = 20;

/** One primitive value, in the subset of JSON Schema that forms and MCP elicitation share. */
export const AnswerField = z
  .object({
    type: z.enum(["string", "number", "integer", "boolean"]),
    title: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.string()).min(1).max(50).optional(),
    minLength: z.int().min(0).optional(),
    maxLength: z.int().min(0).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    format: z.enum(["email", "uri", "date", "date-time"]).optional(),
  })
  .strict();
export type AnswerField = z.infer<typeof AnswerField>;

/** The required shape of a typed answer: one primitive, or a flat object of primitives. */
export const AnswerSchema = z.union([
  AnswerField,
  z
    .object({
      type: z.literal("object"),
      properties: z
        .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), AnswerField)
        .refine((fields) => Object.keys(fields).length <= MAX_FIELDS),
      required: z.array(z.string()).optional(),
    })
    .strict(),
]);
export type AnswerSchema = z.infer<typeof AnswerSchema>;

/** How a typed answer violates its schema: as a whole, or in one field. */
export type SchemaMismatch = RefusalFacts["mismatch"];

/** Finds the first violation of the schema; undefined if the answer fits. */
export function findSchemaMismatch(schema: AnswerSchema, text: string): SchemaMismatch | undefined {
  if (schema.type !== "object") return fieldMismatch(schema, parseScalar(schema, text));
  const value = parseObject(text);
  const names = Object.keys(schema.properties).join(", ");
  if (value === undefined) return { must: "object", wanted: names };
  const missing = (schema.required ?? []).filter((name) => value.get(name) === undefined);
  if (missing.length > 0) return { must: "complete", wanted: missing.join(", ") };
  for (const [field, given] of value) {
    const expected = Object.hasOwn(schema.properties, field) ? schema.properties[field] : undefined;
    if (!expected) return { must: "known", field, wanted: names };
    const mismatch = fieldMismatch(expected, given);
    if (mismatch) return { ...mismatch, field };
  }
  return undefined;
}

const MISMATCHES: Readonly<Record<RequiredForm, (name: string, wanted: string) => string>> = {
  object: (_, fields) => `write a JSON object with the fields ${fields}`,
  complete: (_, fields) => `missing: ${fields}`,
  known: (name, fields) => `${name} is not one of ${fields}`,
  boolean: (name) => `${name} must be true or false`,
  text: (name) => `${name} must be text`,
  number: (name) => `${name} must be a number`,
  integer: (name) => `${name} must be a whole number`,
  least: (name, limit) => `${name} must be at least ${limit}`,
  most: (name, limit) => `${name} must be at most ${limit}`,
  listed: (name, values) => `${name} must be one of ${values}`,
  longer: (name, limit) => `${name} needs at least ${limit} characters`,
  shorter: (name, limit) => `${name} takes at most ${limit} characters`,
  format: (name, format) => `${name} must be a valid ${format}`,
};

/** Describes a schema violation in one sentence. */
export function describeSchemaMismatch({ must, field, wanted }: SchemaMismatch): string {
  return MISMATCHES[must](field === undefined ? "the answer" : `"${field}"`, wanted);
}

function parseObject(text: string): Map<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    return new Map(Object.entries(value));
  } catch {
    return undefined; // not JSON: the caller says what to write instead
  }
}

function parseScalar(field: AnswerField, text: string): unknown {
  if (field.type === "string") return text;
  if (field.type === "boolean") return /^(true|yes)$/i.test(text) ? true : /^(false|no)$/i.test(text) ? false : text;
  return text.trim() === "" ? text : Number(text);
}

function fieldMismatch(field: AnswerField, value: unknown): SchemaMismatch | undefined {
  const must = (what: SchemaMismatch["must"], wanted: string | number = ""): SchemaMismatch => ({
    must: what,
    wanted: String(wanted),
  });
  if (field.type === "boolean") return typeof value === "boolean" ? undefined : must("boolean");
  if (field.type === "string") return typeof value === "string" ? stringMismatch(field, value, must) : must("text");
  if (typeof value !== "number" || !Number.isFinite(value)) return must("number");
  if (field.type === "integer" && !Number.isInteger(value)) return must("integer");
  if (field.minimum !== undefined && value < field.minimum) return must("least", field.minimum);
  if (field.maximum !== undefined && value > field.maximum) return must("most", field.maximum);
  return undefined;
}

function stringMismatch(
  field: AnswerField,
  value: string,
  must: (what: SchemaMismatch["must"], wanted: string | number) => SchemaMismatch,
): SchemaMismatch | undefined {
  if (field.enum && !field.enum.includes(value)) return must("listed", field.enum.join(", "));
  if (field.minLength !== undefined && value.length < field.minLength) return must("longer", field.minLength);
  if (field.maxLength !== undefined && value.length > field.maxLength) return must("shorter", field.maxLength);
  if (field.format && !FORMATS[field.format](value)) return must("format", field.format);
  return undefined;
}

const FORMATS: Record<NonNullable<AnswerField["format"]>, (value: string) => boolean> = {
  email: (value) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value),
  uri: (value) => URL.canParse(value),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  "date-time": (value) => /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
};
