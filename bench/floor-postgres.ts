import pg from "pg";
import type { Subject } from "./loop.ts";

const BODY = JSON.stringify({ question: "Redis or Memcached?", context: "x".repeat(250) });
const CONNECTIONS = 10;
/** Of a prepared statement, in PostgreSQL. */
const LONGEST_NAME = 63;

type Query = (text: string, values: unknown[]) => Promise<number>;

/** Three statements, each its own transaction, on a pool. */
export async function barePostgres(url: string): Promise<Subject> {
  const pool = await openFloor(url, "floor_bare");
  const run: Query = async (text, values) =>
    Number((await pool.query({ name: text.slice(0, LONGEST_NAME), text, values })).rows[0]?.id);
  return floor("floor: bare driver, 3 transactions", "floor_bare", run, () => pool.end());
}

/** The same statements set-wise: everything of one turn shares a round trip and a transaction. */
export async function groupedPostgres(url: string): Promise<Subject> {
  const pool = await openFloor(url, "floor_grouped");
  const inserts = batched(pool, "insert into floor_grouped (body) select unnest($1::text[]) returning id");
  const answers = batched(
    pool,
    "update floor_grouped q set answer = 'Redis' from unnest($1::bigint[]) with ordinality as n (id, at) where q.id = n.id returning q.id",
  );
  const gives = batched(
    pool,
    "update floor_grouped q set given = true from unnest($1::bigint[]) with ordinality as n (id, at) where q.id = n.id returning q.id",
  );
  const run: Query = (text, values) =>
    text.startsWith("insert") ? inserts(values[0]) : text.includes("given") ? gives(values[0]) : answers(values[0]);
  return floor("floor: bare driver, group commit", "floor_grouped", run, () => pool.end());
}

async function openFloor(url: string, table: string): Promise<pg.Pool> {
  // Without it the planner, who knows nothing of a new table, reads all of it for every update.
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, options: "-c enable_seqscan=off" });
  await pool.query(
    `create table ${table} (id bigint generated always as identity primary key, body text not null, answer text, given boolean not null default false)`,
  );
  return pool;
}

function batched(pool: pg.Pool, text: string): (value: unknown) => Promise<number> {
  let waiting: Array<{ value: unknown; resolve: (id: number) => void }> = [];
  const flush = async () => {
    const batch = waiting;
    waiting = [];
    const { rows } = await pool.query({
      name: text.slice(0, LONGEST_NAME),
      text,
      values: [batch.map(({ value }) => value)],
    });
    batch.forEach(({ resolve }, index) => resolve(Number(rows[index]?.id)));
  };
  return (value) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(() => void flush());
      waiting.push({ value, resolve });
    });
}

function floor(name: string, table: string, run: Query, close: () => Promise<void>): Subject {
  return {
    name,
    async cycle() {
      const id = await run(`insert into ${table} (body) values ($1) returning id`, [BODY]);
      const answeredAt = performance.now();
      await run(`update ${table} set answer = 'Redis' where id = $1 returning id`, [id]);
      const wakeMs = performance.now() - answeredAt;
      await run(`update ${table} set given = true where id = $1 returning id`, [id]);
      return { wakeMs };
    },
    close,
  };
}
