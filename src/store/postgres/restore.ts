import { existsSync } from "node:fs";
import pg from "pg";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../store.ts";
import { connectionTo, explainPostgresError, getDirectUrl, splitAddress } from "./connect.ts";
import { runClientProgram } from "./client-program.ts";
import { findMeta } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";

/** The database that PostgreSQL always has, from which others can be renamed. */
const MAINTENANCE = "postgres";
/** The end of the name of a database that a dump is restored into. */
const DRAFT = /^_restore_\d{8}t\d{6}(?:_\d+)?$/;
const HINT = "Make the dump with: askd backup <file>";
const IN_USE = "55006";
const NOT_PERMITTED = "42501";

const USERS = `select pid, coalesce(nullif(application_name, ''), usename) as program, coalesce(client_addr::text, 'this machine') as place
  from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() order by pid`;

interface DatabaseUser {
  pid: number;
  program: string;
  place: string;
}

/** The database that is replaced. */
interface Place {
  database: string;
  /** Its address names a pooler, and the server besides. */
  hasPooler: boolean;
}

export interface RestoreInput {
  /** The store's address; behind a pooler with that of the server itself. */
  address: string;
  dump: string;
  /** Prepares what belongs to the store elsewhere, from the copy that is about to take its place; may refuse. */
  prepare?: ((copy: Store) => Promise<void>) | undefined;
}

/**
 * Puts a dump of `pg_dump` in the place of a database that nobody uses, and returns the name under which the old one is
 * kept. The dump is restored into a new database and looked at there; then both are renamed in one transaction.
 */
export async function restorePostgres({ address, dump, prepare }: RestoreInput): Promise<string | undefined> {
  if (!existsSync(dump)) throw new Refusal("not_found", `There is no file ${dump}`);
  const { url, listenUrl } = splitAddress(address);
  const { database = "" } = new pg.Client(listenUrl ?? url);
  const place: Place = { database, hasPooler: listenUrl !== undefined };
  const maintenance = await getDirectUrl(inDatabase(listenUrl ?? url, MAINTENANCE));
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/\W/g, "").toLowerCase();
  // Two restores may begin within a second, one of them after the other was killed.
  const own = `${stamp}_${process.pid}`;
  const draft = `${database}_restore_${own}`;
  const aside = `${database}_before_${own}`;
  // On a slow disk a database takes long to make, and a restore has somebody waiting for it.
  const unlimited = { statement_timeout: 0, query_timeout: 0 };
  const client = new pg.Client({ ...connectionTo(maintenance), ...unlimited });
  client.on("error", () => undefined); // the pending statement reports it
  try {
    await client.connect();
    await requireUnused(client, place);
    await dropDrafts(client, database);
    await createDraft(client, draft);
    try {
      await fill(inDatabase(maintenance, draft), dump);
      if (prepare) await withCopy(inDatabase(maintenance, draft), prepare);
      return await swap(client, place, { draft, aside });
    } catch (error) {
      await client.query(`drop database if exists ${quote(draft)}`);
      throw error;
    }
  } catch (error) {
    throw explainPostgresError(maintenance, error);
  } finally {
    await client.end().catch(() => undefined); // it may be what is lost
  }
}

/** Drops what restores of this database left that were killed. */
async function dropDrafts(client: pg.Client, database: string) {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where starts_with(datname, $1)
      and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)`,
    [`${database}_restore_`],
  );
  const isDraft = (name: string) => DRAFT.test(name.slice(database.length));
  for (const { name } of rows.filter((row) => isDraft(row.name))) {
    await client.query(`drop database if exists ${quote(name)}`);
  }
}

async function createDraft(client: pg.Client, draft: string) {
  try {
    await client.query(`create database ${quote(draft)} template template0 encoding 'UTF8'`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== NOT_PERMITTED) throw error;
    const { user = "" } = client;
    throw new Refusal("not_permitted", `User "${user}" may not create databases; nothing was changed`, {
      hint: `A dump is restored into a new database first. Let the owner of the server run: alter role ${quote(user)} createdb`,
      cause: error,
    });
  }
}

/** Restores the dump into an empty database, and checks that it is a store. */
async function fill(url: string, dump: string) {
  const argv = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"];
  await runClientProgram({
    name: "pg_restore",
    url,
    argv: [...argv, `--dbname=${new pg.Client(url).database}`, dump],
    failure: `${dump} could not be restored; nothing was changed`,
    hint: HINT,
  });
  const client = new pg.Client(connectionTo(url));
  await client.connect();
  try {
    if (await hasStore(client)) return;
  } finally {
    await client.end();
  }
  throw new Refusal("bad_input", `${dump} is not the dump of an askd store; nothing was changed`, {
    hint: HINT,
  });
}

async function hasStore(client: pg.Client): Promise<boolean> {
  try {
    return (await findMeta(client)) !== undefined;
  } catch (error) {
    if (error instanceof Refusal) return false; // the tables are another program's
    throw error;
  }
}

async function withCopy(url: string, prepare: (copy: Store) => Promise<void>) {
  const copy = await openPostgres({ url });
  try {
    await prepare(copy);
  } finally {
    await copy.close();
  }
}

async function swap(client: pg.Client, place: Place, { draft, aside }: { draft: string; aside: string }) {
  const { database } = place;
  const found = await client.query("select from pg_database where datname = $1", [database]);
  const isThere = (found.rowCount ?? 0) > 0;
  await client.query("begin");
  try {
    if (isThere) await client.query(`alter database ${quote(database)} rename to ${quote(aside)}`);
    await client.query(`alter database ${quote(draft)} rename to ${quote(database)}`);
    await client.query("commit");
    return isThere ? aside : undefined;
  } catch (error) {
    await client.query("rollback");
    if (error instanceof pg.DatabaseError && error.code === IN_USE) await requireUnused(client, place);
    throw error;
  }
}

async function requireUnused(client: pg.Client, { database, hasPooler }: Place) {
  const { rows } = await client.query<DatabaseUser>(USERS, [database]);
  if (rows.length === 0) return;
  const named = rows.map(({ pid, program: name, place }) => `${name} on ${place} (database process ${pid})`).join(", ");
  throw new Refusal("store_unusable", `${named} ${rows.length > 1 ? "use" : "uses"} the store; nothing was changed`, {
    hint: `Stop everything that uses the database "${database}": on every machine type: askd service stop${
      hasPooler ? `. A pooler keeps its connections for a while: type in its console: reconnect ${quote(database)}` : ""
    }`,
  });
}

function inDatabase(url: string, database: string) {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

function quote(name: string) {
  return pg.escapeIdentifier(name);
}
