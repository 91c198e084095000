import type { PoolClient } from "pg";
import type { Changes } from "../../core/changes.ts";
import type { CommitResult } from "../store.ts";

const SEQUENCE = "pg_get_serial_sequence('run', 'number')";
// Numbers of imported runs must not be assigned again.
const ADVANCE = `select setval(${SEQUENCE}, greatest((select max(number) from run), nextval(${SEQUENCE})))`;

/** Imports rows with their versions and numbers, in one transaction. */
export async function adoptRows(
  client: PoolClient,
  { runs = [], questions = [] }: Changes,
  write: () => Promise<CommitResult | undefined>,
): Promise<CommitResult | undefined> {
  await client.query("begin");
  try {
    const committed = await write();
    if (committed?.ok) {
      for (const { id, version, number } of runs) {
        await client.query("update run set version = $2 where id = $1", [id, version]);
        const free = "update run set number = $2 where id = $1 and not exists (select from run where number = $2)";
        if (number > 0) await client.query(free, [id, number]);
      }
      const put = "update question set version = new.version from unnest($1::text[], $2::int[]) as new (id, version)";
      await client.query(`${put} where question.id = new.id`, [
        questions.map(({ id }) => id),
        questions.map(({ version }) => version),
      ]);
      if (runs.length > 0) await client.query(ADVANCE);
    }
    await client.query("commit");
    return committed;
  } catch (error) {
    await client.query("rollback").catch(() => undefined); // the connection may be what is lost
    throw error;
  }
}
