import { z } from "zod";

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

/** What a typed answer must look like: one primitive, or a flat object of primitives. */
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

/** What is wrong with a typed answer, in words, or nothing. */
export function findMismatch(schema: AnswerSchema, text: string): string | undefined {
  if (schema.type !== "object") return fieldMismatch(schema, scalar(schema, text), "the answer");
  const value = parseObject(text);
  if (value === undefined) return `write a JSON object with the fields ${Object.keys(schema.properties).join(", ")}`;
  const missing = (schema.required ?? []).filter((name) => value.get(name) === undefined);
  if (missing.length > 0) return `missing: ${missing.join(", ")}`;
  for (const [name, field] of value) {
    const expected = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (!expected) return `"${name}" is not one of ${Object.keys(schema.properties).join(", ")}`;
    const problem = fieldMismatch(expected, field, `"${name}"`);
    if (problem) return problem;
  }
  return undefined;
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

function scalar(field: AnswerField, text: string): unknown {
  if (field.type === "string") return text;
  if (field.type === "boolean") return /^(true|yes)$/i.test(text) ? true : /^(false|no)$/i.test(text) ? false : text;
  return text.trim() === "" ? text : Number(text);
}

function fieldMismatch(field: AnswerField, value: unknown, name: string): string | undefined {
  if (field.type === "boolean") return typeof value === "boolean" ? undefined : `${name} must be true or false`;
  if (field.type === "string")
    return typeof value === "string" ? stringMismatch(field, value, name) : `${name} must be text`;
  if (typeof value !== "number" || !Number.isFinite(value)) return `${name} must be a number`;
  if (field.type === "integer" && !Number.isInteger(value)) return `${name} must be a whole number`;
  if (field.minimum !== undefined && value < field.minimum) return `${name} must be at least ${field.minimum}`;
  if (field.maximum !== undefined && value > field.maximum) return `${name} must be at most ${field.maximum}`;
  return undefined;
}

function stringMismatch(field: AnswerField, value: string, name: string): string | undefined {
  if (field.enum && !field.enum.includes(value)) return `${name} must be one of ${field.enum.join(", ")}`;
  if (field.minLength !== undefined && value.length < field.minLength)
    return `${name} needs at least ${field.minLength} characters`;
  if (field.maxLength !== undefined && value.length > field.maxLength)
    return `${name} takes at most ${field.maxLength} characters`;
  if (field.format && !FORMATS[field.format](value)) return `${name} must be a valid ${field.format}`;
  return undefined;
}

const FORMATS: Record<NonNullable<AnswerField["format"]>, (value: string) => boolean> = {
  email: (value) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value),
  uri: (value) => URL.canParse(value),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  "date-time": (value) => /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
};
