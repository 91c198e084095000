import type { Context } from "../context.ts";
import { asTyped } from "../program.ts";

/** How to get a damaged store of this machine back. Loaded on use. */
export async function readRestoreAdvice({
  place: { store },
  program,
}: Pick<Context, "place" | "program">): Promise<string> {
  if (store.kind !== "sqlite") return "Restore a backup (docs/backup.md)";
  const { adviseRestore } = await import("../../store/sqlite/restore-advice.ts");
  return asTyped(adviseRestore(store.file), program);
}
