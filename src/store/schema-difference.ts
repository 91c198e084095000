/** A part of a store's schema, such as a table, a column or a trigger, that is not as our migrations make it. */
export interface SchemaDifference {
  what: string;
  how: "added" | "changed" | "missing";
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
