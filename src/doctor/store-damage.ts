import type { Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";

/** Looks through all of the store's files for damage. */
export async function checkDamage(store: Store): Promise<Finding[]> {
  const [first, ...more] = await store.findDamage("whole");
  if (first === undefined) return [];
  const rest = more.length > 0 ? ` (and ${more.length} more: askd audit --verify)` : "";
  return [
    {
      ...{ code: "store_damaged", area: "store", level: "problem" },
      text: `the file of the store is damaged: ${first}${rest}`,
      fix: "restore a backup (docs/backup.md), or save what can be read: sqlite3 FILE .recover",
    },
  ];
}
