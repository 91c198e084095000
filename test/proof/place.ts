import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase, startPostgres } from "../postgres.ts";

export const Database = z.enum(["sqlite", "postgres"]);
export type Database = z.infer<typeof Database>;

/** Where a store is kept, in a form that another process can be told. */
export const Place = z.object({ database: Database, address: z.string() });
export type Place = z.infer<typeof Place>;

export function openStore(place: Place, options: { poolSize?: number } = {}): Promise<Store> {
  return place.database === "sqlite"
    ? openSqliteStore(place.address)
    : openPostgres({ url: place.address, ...options });
}

/** Gives the body an empty place for a store and clears it away afterwards. */
export async function withPlace<Result>(database: Database, body: (place: Place) => Promise<Result>): Promise<Result> {
  return database === "sqlite" ? withFile(body) : withDatabase(body);
}

async function withFile<Result>(body: (place: Place) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), "askd-proof-"));
  try {
    return await body({ database: "sqlite", address: join(directory, "askd.db") });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

let databases = 0;

/** On the server that the tests share, or on one of our own. */
async function withDatabase<Result>(body: (place: Place) => Promise<Result>): Promise<Result> {
  const own = process.env["ASKD_TEST_POSTGRES"] ? undefined : await startPostgres();
  try {
    const name = `proof_${process.pid}_${(databases += 1)}`;
    return await body({ database: "postgres", address: await createDatabase(name, own?.url) });
  } finally {
    await own?.stop();
  }
}
