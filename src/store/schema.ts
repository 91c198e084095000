import { Refusal } from "../core/refusal.ts";
import type { StoreInspection } from "./inspection.ts";

/** One migration. Migrations are only appended, and those that shipped never change. */
export interface Migration {
  sql: string;
  /** The lowest schema a program must know to write after this migration. */
  writableBy: number;
}

/** The schema of a store, and the lowest a program must know to write to it. */
export interface SchemaVersion {
  schema: number;
  writable_by: number;
}

/** A part of a store's schema, such as a table, a column or a trigger, that is not as our migrations make it. */
export interface SchemaDifference {
  what: string;
  /** `unseen`: nothing could be compared, because that takes a schema of its own. */
  how: "added" | "changed" | "missing" | "unseen";
}

/** The migrations a store lacks, and its version after them; refuses one that only a newer program may write. */
export function planMigration(
  found: SchemaVersion | undefined,
  migrations: readonly Migration[],
): { next: readonly Migration[]; schema: number; writableBy: number } {
  const { schema, writable_by: writableBy } = found ?? { schema: 0, writable_by: 0 };
  if (writableBy > migrations.length) throw newerSchemaRefusal();
  const next = migrations.slice(schema);
  return {
    next,
    schema: Math.max(schema, migrations.length),
    writableBy: Math.max(writableBy, ...next.map((migration) => migration.writableBy)),
  };
}

/** The refusal of a store that only a newer program may write. */
export function newerSchemaRefusal(): Refusal {
  return new Refusal("newer_schema", "The store was changed by a newer askd, and this one may not write to it.", {
    hint: "Update this askd: npm install -g askd@latest",
  });
}

/** The refusal of a store that has lost the row with its version. */
export function lostVersion(place: string): Refusal {
  return new Refusal("store_unusable", `The store in ${place} has lost the row that says its version.`, {
    hint: "Rebuild it: askd doctor --fix",
  });
}

/** The lowest schema that a program must know to write after all of these migrations. */
export function findWritableBy(migrations: readonly Migration[]): number {
  return Math.max(...migrations.map(({ writableBy }) => writableBy));
}

/** Compares the schema of a store with the one this program knows. */
export function compareVersion(found: SchemaVersion | undefined, known: number): StoreInspection["schema"] {
  if (!found) return "missing";
  if (found.writable_by > known) return "newer";
  return found.schema < known ? "older" : "current";
}

/** Compares the parts of a schema, each by its name, with those that our migrations make. */
export function compareSchemas(
  found: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): SchemaDifference[] {
  const differences: SchemaDifference[] = [];
  for (const [what, text] of found) {
    const made = expected.get(what);
    if (made === undefined) differences.push({ what, how: "added" });
    else if (made !== text) differences.push({ what, how: "changed" });
  }
  for (const what of expected.keys()) if (!found.has(what)) differences.push({ what, how: "missing" });
  return differences;
}
