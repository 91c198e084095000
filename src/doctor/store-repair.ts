import type { Job } from "../core/run/job.ts";
import { releaseJobs } from "../engine/jobs/release-jobs.ts";
import type { Store } from "../store/store.ts";
import type { StoreAt } from "./doctor-context.ts";

/** Makes jobs due now that nobody does any more. */
export async function release(at: StoreAt, jobs: readonly Job[]): Promise<void> {
  const store = await openStore(at);
  try {
    await releaseJobs(store, jobs);
  } finally {
    await store.close();
  }
}

/** Only the library of the store that is used gets loaded. */
async function openStore(at: StoreAt): Promise<Store> {
  if (at.kind === "sqlite") return (await import("../store/sqlite/sqlite.ts")).openSqliteStore(at.file);
  if (at.kind === "postgres") return (await import("../store/postgres/postgres.ts")).openPostgres({ url: at.url });
  throw new Error("the store is behind a server; do it there");
}
