import { existsSync } from "node:fs";
import { Refusal } from "../../core/refusal.ts";

/** The file that exists while a backup is put in the place of a store. */
export function restoreMarkOf(database: string): string {
  return `${database}.restoring`;
}

/** Refuses a store that is being restored, or whose restore was interrupted. */
export function requireNoRestore(database: string): void {
  if (!existsSync(restoreMarkOf(database))) return;
  throw new Refusal("store_unusable", `A backup is being restored to ${database}, or that was interrupted.`, {
    hint: "Wait for it; if nothing restores it any more, restore again: askd restore <backup>",
  });
}
