import { type Table, isTable } from "./table.ts";

/** Where a value stands: names of members, and numbers of places in lists. */
export type Path = ReadonlyArray<string | number>;

/** One change of a document: a value that is set, one that is added to a list, or one that is taken out. */
export type Change =
  | { do: "set"; path: Path; value: unknown }
  | { do: "append"; path: Path; value: unknown }
  | { do: "remove"; path: Path };

/** The file cannot be read, or its shape cannot be changed in place. */
export class Unfit extends Error {}

/** Finds the value at a path of names and places. */
export function valueAtPath(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return typeof step === "number" ? (inner[step] as unknown) : undefined;
    return isTable(inner) ? inner[step] : undefined;
  }, value);
}

/** The content of a document after a change; an edited text is checked against it. */
export function applyToValue(document: Table, change: Change): Table {
  const changed = change.do === "remove" ? without(document, change.path) : withChange(document, change);
  return isTable(changed) ? changed : {};
}

function withChange(value: unknown, { do: how, path, value: wanted }: Exclude<Change, { do: "remove" }>): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return how === "set" ? wanted : [...listOf(value), wanted];
  const inner = withChange(valueAtPath(value, [step]), { do: how, path: rest, value: wanted });
  if (typeof step === "number") return listOf(value).map((one, index) => (index === step ? inner : one));
  return { ...(isTable(value) && value), [step]: inner };
}

function without(value: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined || valueAtPath(value, [step]) === undefined) return value;
  if (rest.length > 0) {
    const inner = without(valueAtPath(value, [step]), rest);
    if (typeof step === "number") return listOf(value).map((one, index) => (index === step ? inner : one));
    return { ...(isTable(value) && value), [step]: inner };
  }
  if (typeof step === "number") return listOf(value).filter((_, index) => index !== step);
  return Object.fromEntries(Object.entries(isTable(value) ? value : {}).filter(([name]) => name !== step));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
