import { z } from "zod";

/** A tree of settings as a file has it. */
export type Table = Readonly<Record<string, unknown>>;

/** A key with the names of its tables, as a path. */
export type Path = readonly string[];

/** Tables whose keys mean something only together: they come from one file, or not at all. */
const UNITS: readonly Path[] = [["store"], ["audit"], ["profiles", "*"]];

/** The path of what is taken or left as a whole. */
export function unitOf(path: Path): Path {
  const unit = UNITS.find((names) => names.every((name, index) => name === "*" || path[index] === name));
  return unit ? path.slice(0, unit.length) : path;
}

/** Says whether a value is a table, and not a list, a date or a plain value. */
export function isTable(value: unknown): value is Table {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Says whether a path is another, or leads further from there. */
export function startsWith(path: Path, start: Path): boolean {
  return start.every((name, index) => path[index] === name);
}

export function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && startsWith(one, other);
}

/** Writes a path as it is typed: `agents."my agent".resume`. */
export function sayKey(path: Path): string {
  return path.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join(".");
}

/** Reads a key as it is typed; undefined when it is none. */
export function parseKey(typed: string): string[] | undefined {
  const names = [...typed.matchAll(/(?:^|\.)(?:([\w-]+)|"([^"\\]*)")/gy)];
  if (names.length === 0 || names.map(([whole]) => whole).join("") !== typed) return undefined;
  return names.map(([, bare, quoted]) => bare ?? quoted ?? "");
}

/** Every value of a tree with its path; lists count as one value. */
export function leavesOf(table: Table, above: Path = []): Array<{ path: Path; value: unknown }> {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    return isTable(value) ? leavesOf(value, path) : value === undefined ? [] : [{ path, value }];
  });
}

/** The value at a path, if there is one; only what the tree itself has. */
export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const name of path) {
    if (!isTable(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** The tree with that value, or without it. */
export function withValue(table: Table, path: Path, value: unknown): Table {
  const [name, ...rest] = path;
  if (name === undefined) return table;
  const kept = Object.entries(table).filter(([other]) => other !== name);
  const below = Object.hasOwn(table, name) ? table[name] : undefined;
  const next = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value);
  return Object.fromEntries(next === undefined ? kept : [...kept, [name, next]]);
}

/** The schema of what a path leads to; undefined where nothing is known. */
export function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let found: z.ZodType | undefined = bare(schema);
  for (const name of path) found = found && childOf(found, name);
  return found;
}

/** The names that a table knows; nothing where any name will do. */
export function namesIn(schema: z.ZodType): string[] | undefined {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined;
}

/** Every key that can be set, with `<name>` where any name will do. */
export function keysIn(schema: z.ZodType, above: Path = []): string[] {
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
