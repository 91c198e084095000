import type { Store } from "./store.ts";

/** The place of a store that this process opens itself. */
export type StoreAddress = { kind: "sqlite"; file: string } | { kind: "postgres"; url: string };

/** Opens the store; only its own driver is loaded. */
export async function openStore(place: StoreAddress & { isReadOnly?: boolean }): Promise<Store> {
  const { isReadOnly = false } = place;
  if (place.kind === "sqlite") {
    return (await import("./sqlite/sqlite.ts")).openSqliteStore(place.file, { isReadOnly });
  }
  return (await import("./postgres/postgres.ts")).openPostgres({ url: place.url, isReadOnly });
}

/** The schema of a store, which stays unchanged, and the one this program knows. */
export async function findSchema(
  place: StoreAddress & { isReadOnly?: boolean },
): Promise<{ schema: number; known: number }> {
  if (place.kind === "sqlite") return (await import("./sqlite/schema.ts")).findSchema(place);
  return (await import("./postgres/migrate.ts")).findSchema(place.url);
}
