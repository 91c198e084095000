import type { ClientBase } from "pg";
import { z } from "zod";
import { Refusal } from "../core/refusal.ts";
import { MIGRATIONS, WRITABLE_BY } from "./postgres-schema.ts";

const LOCK = 0x61736b64; // "askd"
const DURABLE = new Set(["on", "remote_apply"]);

const Meta = z.object({ schema: z.int(), writable_by: z.int() });
type Meta = z.infer<typeof Meta>;

/** Brings the store to this program's schema, or refuses it; many programs may do so at once. */
export async function migrate(client: ClientBase): Promise<void> {
  await requireDurable(client);
  const before = await findMeta(client);
  if (before) requireWritable(before);
  if (before && before.schema >= MIGRATIONS.length) return;
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await client.query("create table if not exists meta (schema integer not null, writable_by integer not null)");
    const meta = await findMeta(client);
    if (meta) requireWritable(meta);
    for (const migration of MIGRATIONS.slice(meta?.schema ?? 0)) await client.query(migration);
    if (!meta) await client.query("insert into meta values ($1, $2)", [MIGRATIONS.length, WRITABLE_BY]);
    if (meta && meta.schema < MIGRATIONS.length) {
      await client.query("update meta set schema = $1, writable_by = $2", [MIGRATIONS.length, WRITABLE_BY]);
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

async function requireDurable(client: ClientBase): Promise<void> {
  const sql = "select current_setting('synchronous_commit') as setting, current_database() as database";
  const { rows } = await client.query<{ setting: string; database: string }>(sql);
  const { setting = "", database } = rows[0] ?? {};
  if (DURABLE.has(setting)) return;
  throw new Refusal("store_unusable", `PostgreSQL runs with synchronous_commit = ${setting}: answers could be lost.`, {
    hint: `Turn it on for this database: alter database "${database}" set synchronous_commit = on`,
  });
}

async function findMeta(client: ClientBase): Promise<Meta | undefined> {
  const { rows } = await client.query<{ found: string | null }>("select to_regclass('meta')::text as found");
  if (!rows[0]?.found) return undefined;
  const meta = await client.query("select schema, writable_by from meta");
  return meta.rows[0] === undefined ? undefined : Meta.parse(meta.rows[0]);
}

function requireWritable(meta: Meta): void {
  if (meta.writable_by <= MIGRATIONS.length) return;
  throw new Refusal(
    "newer_schema",
    `The store has schema ${meta.schema}; this program knows ${MIGRATIONS.length} and may not write to it.`,
    { hint: "Update askd on this machine." },
  );
}
