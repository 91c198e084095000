import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { z } from "zod";
import { instant } from "../../core/instant.ts";
import type { StoreInspection } from "../inspection.ts";
import { compareVersion } from "../schema.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { connectClient, explainPostgresError, placeOf, splitAddress } from "./connect.ts";
import { DURABLE, OWN_TABLES, findMeta, requireMakeable } from "./migrate.ts";
import { Refusal } from "../../core/refusal.ts";
import { findMissingRows } from "./mend-schema.ts";
import { SCHEMA } from "./schema.ts";
import { openPostgres } from "./postgres.ts";

/** The pool size for an inspection. */
const POOL_SIZE = 2;

/** The oldest open transaction that has written; the feed shows nothing newer than it. */
const HOLDER = `select pid, extract(epoch from clock_timestamp() - xact_start) * 1000 as ms from pg_stat_activity
  where backend_xid is not null and xact_start < clock_timestamp() - interval '1 minute' order by xact_start limit 1`;

interface InspectionRow {
  read_only: string;
  version: string;
  commits: string;
  ms: string;
}

/** No change of ours takes longer; a younger lock is looked at again. */
const LONG_LOCK_MS = 2_000;

/**
 * Somebody's lock on one of our tables that keeps others from writing, or from reading too; or a lock on rows for which
 * somebody waits. Who waits is not to blame.
 */
const LOCK_HOLDER = `with held as (
    select l.pid, c.relname as table, l.mode = 'AccessExclusiveLock' as is_whole
    from pg_locks l join pg_class c on c.oid = l.relation
    where l.granted and l.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
      and l.database = (select oid from pg_database where datname = current_database())
      and c.relname = any($1) and c.relnamespace = current_schema()::regnamespace
    union all
    select blocker, null, false from pg_stat_activity w cross join unnest(pg_blocking_pids(w.pid)) as blocker
    where w.datname = current_database() and w.wait_event_type = 'Lock'
  )
  select a.pid, coalesce(nullif(a.application_name, ''), a.usename) as program, held.table, held.is_whole as "isWhole",
    extract(epoch from clock_timestamp() - a.xact_start) * 1000 as ms
  from held join pg_stat_activity a on a.pid = held.pid
  where a.pid <> pg_backend_pid() and a.wait_event_type is distinct from 'Lock'
  order by held.is_whole desc, a.xact_start limit 1`;

const LockHolder = z.object({
  pid: z.int(),
  program: z.string().nullable(),
  table: z.string().nullable(),
  isWhole: z.boolean(),
  ms: z.coerce.number(),
});

/** The session that has locked the store for longer than any change takes. */
async function findLockHolder(client: pg.Client) {
  const read = async () => LockHolder.optional().parse((await client.query(LOCK_HOLDER, [OWN_TABLES])).rows[0]);
  const found = await read();
  if (found === undefined || found.ms > LONG_LOCK_MS) return found;
  await sleep(LONG_LOCK_MS - found.ms + 1);
  const still = await read();
  return still?.pid === found.pid ? still : undefined;
}

/** Refuses a store that cannot be read because of a lock: every statement would wait for it. */
function lockedRefusal({ pid, program, table, ms }: z.infer<typeof LockHolder>, url: string) {
  const place = `PostgreSQL at ${placeOf(url)}`;
  const time = formatDuration(Math.round(ms));
  return new Refusal(
    "store_unreachable",
    `${place}: ${program ?? "a program"} (process ${pid}) has had the table ${table} locked for ${time}.`,
    { hint: `Let it end, or end it: select pg_terminate_backend(${pid})` },
  );
}

/** Rows of its own that a store has lost; a database without a store has lost none. */
async function findLostRows(client: pg.Client) {
  try {
    await findMeta(client);
    return (await hasTables(client)) ? await findMissingRows(client) : [];
  } catch (error) {
    if (!(error instanceof Refusal) || !(await hasTables(client))) throw error;
    const missing = await findMissingRows(client);
    if (missing.length === 0) throw error;
    return missing;
  }
}

async function hasTables(client: pg.Client) {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int as count from (values (to_regclass('meta')), (to_regclass('run'))) as t (name) where name is not null",
  );
  return rows[0]?.count === 2;
}

/** Inspects the store in a database. */
export async function inspectPostgres(url: string): Promise<StoreInspection> {
  let client: pg.Client | undefined;
  try {
    const connected = await connectClient(url);
    client = connected.client;
    const { rows } = await client.query<InspectionRow>(
      `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits,
        current_setting('transaction_read_only') as read_only,
        extract(epoch from clock_timestamp()) * 1000 as ms`,
    );
    const { version = "", commits = "", ms = "0", read_only: readOnly = "off" } = rows[0] ?? {};
    const holder = (await client.query<{ pid: number; ms: string }>(HOLDER)).rows[0];
    const lock = await findLockHolder(client);
    if (lock?.isWhole) throw lockedRefusal(lock, url);
    const missingRows = await findLostRows(client);
    const schema = missingRows.includes("meta") ? "missing" : compareVersion(await findMeta(client), SCHEMA);
    if (schema === "missing" && missingRows.length === 0 && readOnly !== "on") await requireMakeable(client);
    const store =
      schema === "current" && DURABLE.has(commits) ? await openPostgres({ url, poolSize: POOL_SIZE }) : undefined;
    return {
      keeper: `postgres ${version.split(" ")[0]}`,
      durability: `synchronous_commit ${commits}`,
      isDurable: DURABLE.has(commits),
      isReadOnly: readOnly === "on",
      schema,
      missingRows,
      now: instant(Math.round(Number(ms))),
      pooler: connected.isPooled ? { canListen: splitAddress(url).listenUrl !== undefined } : undefined,
      lockedBy: lock && { ...lock, program: lock.program ?? "a program", table: lock.table ?? undefined },
      heldBy: holder && { pid: holder.pid, ms: Math.round(Number(holder.ms)) },
      store,
      close: async () => store?.close(),
    };
  } catch (error) {
    throw explainPostgresError(url, error);
  } finally {
    await client?.end().catch(() => undefined); // it may be what is lost
  }
}
