import type { RunId } from "../core/id.ts";
import { RunUsage } from "../core/run/usage.ts";
import type { Store } from "../store/store.ts";

/** What these runs have used so far; those of which nothing was counted are left out. */
export async function readUsage(store: Pick<Store, "readEntries">, ids: readonly RunId[]): Promise<RunUsage[]> {
  const entries = ids.length === 0 ? [] : await store.readEntries("usage", ids);
  return entries.flatMap((entry) => {
    const usage = RunUsage.safeParse({ ...entry.body, runId: entry.id });
    return usage.success ? [usage.data] : [];
  });
}
