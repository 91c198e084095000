import pg from "pg";
import { instant } from "../../../src/core/instant.ts";
import { openPostgres } from "../../../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Place } from "../place.ts";

/** Opens a store in a process whose clock is ahead; a database server has a clock of its own. */
export function openClocked({ database, address }: Place, nowMs: () => number): Promise<Store> {
  if (database === "postgres") return openPostgres({ url: address, poolSize: 4 });
  return openSqliteStore(address, { now: () => instant(nowMs()) });
}

/** Puts the clock of a database server ahead; of a file nothing, since processes bring their own clock. */
export async function setClockAhead({ database, address }: Place, aheadMs: number): Promise<void> {
  if (database !== "postgres") return;
  const client = new pg.Client(address);
  await client.connect();
  try {
    // The database tells the time by this function alone.
    const ahead = aheadMs === 0 ? "after_ms" : `(after_ms + ${aheadMs})`;
    await client.query(`create or replace function askd_instant(after_ms integer) returns text language sql volatile as $$
  select to_char((clock_timestamp() + ${ahead} * interval '1 millisecond') at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$`);
  } finally {
    await client.end();
  }
}
