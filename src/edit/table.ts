/** A tree of settings as a file has it. */
export type Table = Readonly<Record<string, unknown>>;

/** A key with the names of its tables, as a path. */
export type KeyPath = readonly string[];

/** Says whether a value is a table, and not a list, a date or a plain value. */
export function isTable(value: unknown): value is Table {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Says whether a path is another, or leads further from there. */
export function startsWith(path: KeyPath, start: KeyPath): boolean {
  return start.every((name, index) => path[index] === name);
}

export function isSame(one: KeyPath, other: KeyPath): boolean {
  return one.length === other.length && startsWith(one, other);
}

/** A path as TOML writes it: `agents."my agent".resume`. */
export function writeKeyPath(path: KeyPath): string {
  return path.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join(".");
}

/** Every value of a tree with its path; lists count as one value. */
export function leavesOf(table: Table, above: KeyPath = []): Array<{ path: KeyPath; value: unknown }> {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    return isTable(value) ? leavesOf(value, path) : value === undefined ? [] : [{ path, value }];
  });
}

/** The value at a path, if there is one; only what the tree itself has. */
export function valueAt(tree: unknown, path: KeyPath): unknown {
  let value = tree;
  for (const name of path) {
    if (!isTable(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** The tree with that value, or without it. */
export function withValue(table: Table, path: KeyPath, value: unknown): Table {
  const [name, ...rest] = path;
  if (name === undefined) return table;
  const kept = Object.entries(table).filter(([other]) => other !== name);
  const below = Object.hasOwn(table, name) ? table[name] : undefined;
  const next = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value);
  return Object.fromEntries(next === undefined ? kept : [...kept, [name, next]]);
}
