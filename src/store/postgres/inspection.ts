import pg from "pg";
import { instant } from "../../core/instant.ts";
import type { StoreInspection } from "../inspection.ts";
import { compareVersion } from "../schema.ts";
import { connectionTo, explainPostgresError } from "./connect.ts";
import { DURABLE, findMeta } from "./migrate.ts";
import { SCHEMA } from "./schema.ts";
import { openPostgres } from "./postgres.ts";

/** The pool size for an inspection. */
const POOL_SIZE = 2;

/** The oldest open transaction that has written; the feed shows nothing newer than it. */
const HOLDER = `select pid, extract(epoch from clock_timestamp() - xact_start) * 1000 as ms from pg_stat_activity
  where backend_xid is not null and xact_start < clock_timestamp() - interval '1 minute' order by xact_start limit 1`;

interface InspectionRow {
  version: string;
  commits: string;
  ms: string;
}

/** Inspects the store in a database. */
export async function inspectPostgres(url: string): Promise<StoreInspection> {
  const client = new pg.Client(connectionTo(url));
  client.on("error", () => undefined); // the pending statement reports it
  try {
    await client.connect();
    const { rows } = await client.query<InspectionRow>(
      `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits,
        extract(epoch from clock_timestamp()) * 1000 as ms`,
    );
    const { version = "", commits = "", ms = "0" } = rows[0] ?? {};
    const holder = (await client.query<{ pid: number; ms: string }>(HOLDER)).rows[0];
    const schema = compareVersion(await findMeta(client), SCHEMA);
    const store =
      schema === "current" && DURABLE.has(commits) ? await openPostgres({ url, poolSize: POOL_SIZE }) : undefined;
    return {
      keeper: `postgres ${version.split(" ")[0]}`,
      durability: `synchronous_commit ${commits}`,
      isDurable: DURABLE.has(commits),
      schema,
      now: instant(Math.round(Number(ms))),
      heldBy: holder && { pid: holder.pid, ms: Math.round(Number(holder.ms)) },
      store,
      close: async () => store?.close(),
    };
  } catch (error) {
    throw explainPostgresError(url, error);
  } finally {
    await client.end().catch(() => undefined); // it may be what is lost
  }
}
