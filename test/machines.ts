import { IDS } from "./builders.ts";
import { type Instant, later } from "../src/core/instant.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import type { Store } from "../src/store/store.ts";

/** A worker of that machine beats, now or at some other time. */
export async function beat(store: Store, host: string, beatAt?: Instant): Promise<void> {
  const body = { host, process: { pid: 1, born: "1", boot: "1" }, beatAt: beatAt ?? (await store.now()) };
  await store.commit({ entries: [{ kind: "worker", id: IDS.worker(), version: 0, body }] });
}

/** All workers of a store were last heard of so long ago. */
export async function makeSilent(file: string, agoMs: number): Promise<void> {
  const store = await openSqliteStore(file);
  const beatAt = later(await store.now(), -agoMs);
  const workers = await store.listEntries("worker");
  await store.commit({ entries: workers.map((entry) => ({ ...entry, body: { ...entry.body, beatAt } })) });
  await store.close();
}
