import pg from "pg";
import { instant } from "../../core/instant.ts";
import { type Look, compareSchema } from "../inspection.ts";
import { connectionTo, explain } from "./connect.ts";
import { DURABLE, findMeta } from "./migrate.ts";
import { SCHEMA } from "./schema.ts";
import { openPostgres } from "./postgres.ts";

/** What the pool of somebody who only looks needs. */
const POOL_SIZE = 2;

/** The oldest transaction that has written something and not ended; the feed shows nothing that came after it. */
const HOLDER = `select pid, extract(epoch from clock_timestamp() - xact_start) * 1000 as ms from pg_stat_activity
  where backend_xid is not null and xact_start < clock_timestamp() - interval '1 minute' order by xact_start limit 1`;

interface Said {
  version: string;
  commits: string;
  ms: string;
}

/** Looks at the store in a database. */
export async function lookAtPostgres(url: string): Promise<Look> {
  const client = new pg.Client(connectionTo(url));
  client.on("error", () => undefined); // whoever waits for a reply hears of it
  try {
    await client.connect();
    const { rows } = await client.query<Said>(
      `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits,
        extract(epoch from clock_timestamp()) * 1000 as ms`,
    );
    const { version = "", commits = "", ms = "0" } = rows[0] ?? {};
    const holder = (await client.query<{ pid: number; ms: string }>(HOLDER)).rows[0];
    const meta = await findMeta(client);
    const schema = compareSchema(meta && { schema: meta.schema, writable: meta.writable_by }, SCHEMA);
    const store =
      schema === "current" && DURABLE.has(commits) ? await openPostgres({ url, poolSize: POOL_SIZE }) : undefined;
    return {
      keeper: `postgres ${version.split(" ")[0]}`,
      durability: `synchronous_commit ${commits}`,
      isDurable: DURABLE.has(commits),
      schema,
      now: instant(Math.round(Number(ms))),
      ...(holder && { heldBy: { pid: holder.pid, ms: Math.round(Number(holder.ms)) } }),
      store,
      close: async () => store?.close(),
    };
  } catch (error) {
    throw explain(url, error);
  } finally {
    await client.end().catch(() => undefined); // it may be what is lost
  }
}
