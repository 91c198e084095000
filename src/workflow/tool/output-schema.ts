import { z } from "zod";

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
type TypeName = (typeof TYPES)[number];

/** The part of JSON Schema that is checked; other keywords are for the agent to read. */
const OutputSchema = z.object({
  type: z.union([z.enum(TYPES).transform((type) => [type]), z.array(z.enum(TYPES))]).optional(),
  required: z.array(z.string()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
});

const NAMES: Readonly<Record<TypeName, string>> = {
  object: "an object",
  array: "a list",
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

/** The first place at which a value does not fit a schema, in words; undefined if it fits. */
export function findOutputMismatch(raw: unknown, value: unknown, name = "it"): string | undefined {
  const schema = OutputSchema.safeParse(raw).data;
  if (!schema) return undefined; // not a schema that can be checked
  const types = schema.type ?? (schema.required || schema.properties ? ["object" as const] : undefined);
  if (types && !types.some((type) => isOfType(type, value))) {
    return `${name} must be ${types.map((type) => NAMES[type]).join(" or ")}`;
  }
  if (schema.enum && !schema.enum.some((each) => JSON.stringify(each) === JSON.stringify(value))) {
    return `${name} must be one of ${schema.enum.map((each) => JSON.stringify(each)).join(", ")}`;
  }
  if (Array.isArray(value)) {
    return first(value.map((each, index) => () => findOutputMismatch(schema.items, each, `${name}[${index}]`)));
  }
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const inside = (field: string) => (name === "it" ? field : `${name}.${field}`);
  const missing = schema.required?.find((field) => !fields.has(field));
  if (missing !== undefined) return `${inside(missing)} is missing`;
  const checks = Object.entries(schema.properties ?? {}).filter(([field]) => fields.has(field));
  return first(
    checks.map(
      ([field, each]) =>
        () =>
          findOutputMismatch(each, fields.get(field), inside(field)),
    ),
  );
}

function first(checks: ReadonlyArray<() => string | undefined>): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

function isOfType(type: TypeName, value: unknown): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}
