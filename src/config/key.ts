import { z } from "zod";
import { type KeyPath, writeKeyPath } from "../edit/table.ts";

/** Tables whose keys mean something only together: they come from one file, or not at all. */
const UNITS: readonly KeyPath[] = [["store"], ["audit"], ["profiles", "*"]];

/** The path of what is taken or left as a whole. */
export function unitOf(path: KeyPath): KeyPath {
  const unit = UNITS.find((names) => names.every((name, index) => name === "*" || path[index] === name));
  return unit ? path.slice(0, unit.length) : path;
}

/** Writes a key as it is typed: `agents."my agent".resume`. */
export function formatKey(path: KeyPath): string {
  return writeKeyPath(path);
}

/** Parses a typed key; undefined if it is invalid. */
export function parseKey(typed: string): string[] | undefined {
  const names = [...typed.matchAll(/(?:^|\.)(?:([\w-]+)|"([^"\\]*)")/gy)];
  if (names.length === 0 || names.map(([whole]) => whole).join("") !== typed) return undefined;
  return names.map(([, bare, quoted]) => bare ?? quoted ?? "");
}

/** The schema of what a path leads to; undefined where nothing is known. */
export function schemaAt(schema: z.ZodType, path: KeyPath): z.ZodType | undefined {
  let found: z.ZodType | undefined = bare(schema);
  for (const name of path) found = found && childOf(found, name);
  return found;
}

/** The known keys of a table; undefined if any key is allowed. */
export function namesIn(schema: z.ZodType): string[] | undefined {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined;
}

/** Every key that can be set, with `<name>` where any name will do. */
export function keysIn(schema: z.ZodType, above: KeyPath = []): string[] {
  const known = bare(schema);
  if (known instanceof z.ZodObject) {
    return Object.entries<z.ZodType>(known.shape).flatMap(([name, child]) => keysIn(child, [...above, name]));
  }
  if (known instanceof z.ZodRecord) return keysIn(valueOf(known), [...above, "<name>"]);
  return [above.join(".")];
}

function childOf(schema: z.ZodType, name: string): z.ZodType | undefined {
  if (schema instanceof z.ZodRecord) return bare(valueOf(schema));
  if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, name)) return undefined;
  const child: unknown = schema.shape[name];
  return child instanceof z.ZodType ? bare(child) : undefined;
}

function valueOf(record: z.ZodRecord): z.ZodType {
  const { valueType } = record;
  if (valueType instanceof z.ZodType) return valueType;
  throw new Error("a table of the schema has values of an unknown kind");
}

function bare(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodOptional)) return schema;
  const inner: unknown = schema.unwrap();
  return inner instanceof z.ZodType ? bare(inner) : schema;
}

const SECRET_NAME = /(?:^|_)(?:token|secret|passw(?:or)?d|passphrase|credentials?|(?:api|private|access)_?key)s?$/i;

/** Says whether a key of this name would hold a secret itself, rather than name where it is stored. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
