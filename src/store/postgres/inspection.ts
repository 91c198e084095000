import type pg from "pg";
import { instant } from "../../core/instant.ts";
import type { StoreInspection } from "../inspection.ts";
import { compareVersion } from "../schema.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { connectClient, explainPostgresError, placeOf, splitAddress } from "./connect.ts";
import { DURABLE, TABLES, findMeta, requireMakeable } from "./migrate.ts";
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

/** Another program's lock on one of our tables that keeps everybody out, for longer than any change takes. */
const LOCK_HOLDER = `select a.pid, coalesce(nullif(a.application_name, ''), a.usename) as program, c.relname as table,
    extract(epoch from clock_timestamp() - a.xact_start) * 1000 as ms
  from pg_locks l join pg_stat_activity a on a.pid = l.pid join pg_class c on c.oid = l.relation
  where l.granted and l.mode = 'AccessExclusiveLock' and a.pid <> pg_backend_pid() and c.relname = any($1)
    and c.relnamespace = current_schema()::regnamespace and a.xact_start < clock_timestamp() - interval '2 seconds'
  order by a.xact_start limit 1`;

/** Refuses a store that another program has locked: every statement would wait for it. */
async function requireNoLock(client: pg.Client, url: string) {
  const { rows } = await client.query<{ pid: number; program: string; table: string; ms: string }>(LOCK_HOLDER, [
    TABLES,
  ]);
  const [holder] = rows;
  if (!holder) return;
  const { pid, program, table, ms } = holder;
  const place = `PostgreSQL at ${placeOf(url)}`;
  const time = formatDuration(Math.round(Number(ms)));
  throw new Refusal(
    "store_unreachable",
    `${place}: ${program} (process ${pid}) has had the table ${table} locked for ${time}.`,
    {
      hint: `Let it end, or end it: select pg_terminate_backend(${pid})`,
    },
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
    await requireNoLock(client, url);
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
