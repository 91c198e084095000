import type { ClientBase } from "pg";
import { STORE_CHAIN } from "../../core/id.ts";
import { type SchemaDifference, compareSchemas, findWritableBy } from "../schema.ts";
import { connectClient, explainPostgresError } from "./connect.ts";
import { LOCK, isMark, mendMarks, readExpectedSchema, readParts } from "./migrate.ts";
import { inTransaction } from "./pool.ts";
import { MIGRATIONS, SCHEMA, WORDS } from "./schema.ts";

const WORD_TABLES = ["question_word", "answered_word", "word_mark"];

/** Rows that migrations write and that are gone. */
export async function findMissingRows(client: ClientBase): Promise<string[]> {
  const isEmpty = async (table: string) => (await client.query(`select from ${table} limit 1`)).rows.length === 0;
  const hasWords = (await client.query("select from pg_class where oid = to_regclass('word_mark')")).rows.length > 0;
  const chain = await client.query("select from run where id = $1", [STORE_CHAIN]);
  return [
    ...((await isEmpty("meta")) ? ["meta"] : []),
    ...(hasWords && (await isEmpty("word_mark")) ? ["word_mark"] : []),
    ...(chain.rows.length === 0 ? ["store chain"] : []),
  ];
}

/** Says whether a part of the schema can be rebuilt without losing anything. */
export function isMendable({ what, how }: SchemaDifference): boolean {
  if (what.startsWith("index ")) return how !== "added" || !what.endsWith("_pkey");
  if (what.startsWith("trigger ") && how === "added") return true;
  if (isMark({ what, how })) return true;
  return WORD_TABLES.some((name) => what === `table ${name}` && how === "missing");
}

/** Rebuilds what our migrations make and a store has lost, in one transaction: rows of its own, indexes, word tables. */
export async function mendPostgresSchema(url: string): Promise<void> {
  try {
    const { client } = await connectClient(url);
    try {
      const expected = await readExpectedSchema(client);
      await inTransaction(client, async () => {
        await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
        await restoreRows(client);
        await mendMarks(client);
        if (expected) await mendParts(client, expected);
      });
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explainPostgresError(url, error);
  }
}

async function restoreRows(client: ClientBase) {
  const missing = await findMissingRows(client);
  if (missing.includes("meta")) {
    const values = [SCHEMA, findWritableBy(MIGRATIONS)];
    await client.query("insert into meta (schema, writable_by) values ($1, $2)", values);
  }
  if (missing.includes("word_mark")) await rebuildWords(client);
  if (!missing.includes("store chain")) return;
  await client.query(
    `insert into run (number, id, version, body, name, host, agent, status, chain_n, chain_hash)
    select 0, $1, 1, '{}', '', '', '', 'store', coalesce(max(n), 0),
      coalesce((select hash from event where run_id = $1 order by n desc limit 1), '') from event where run_id = $1`,
    [STORE_CHAIN],
  );
}

async function mendParts(client: ClientBase, expected: ReadonlyMap<string, string>) {
  const { rows } = await client.query<{ name: string }>("select current_schema() as name");
  const differences = compareSchemas(await readParts(client, rows[0]?.name ?? ""), expected).filter(isMendable);
  if (differences.some(({ what }) => what.startsWith("table "))) await rebuildWords(client);
  for (const { what, how } of differences) {
    const name = what.slice(what.indexOf(" ") + 1);
    if (what.startsWith("trigger ")) {
      const [table = "", trigger = ""] = name.split(".");
      await client.query(`drop trigger ${client.escapeIdentifier(trigger)} on ${client.escapeIdentifier(table)}`);
      continue;
    }
    if (!what.startsWith("index ") || WORD_TABLES.some((table) => name.startsWith(table))) continue;
    if (how !== "missing") await client.query(`drop index ${client.escapeIdentifier(name)}`);
    if (how !== "added") await client.query(expected.get(what) ?? "");
  }
}

/** The words are indexed again from the first event, by an idle process. */
async function rebuildWords(client: ClientBase) {
  for (const name of WORD_TABLES) await client.query(`drop table if exists ${name}`);
  await client.query(WORDS);
}
