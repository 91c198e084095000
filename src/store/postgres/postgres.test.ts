import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aQuestion, aRun, anEvent } from "../../../test/builders.ts";
import { createDatabase, startPostgres, type PostgresServer } from "../../../test/postgres.ts";
import type { RunId } from "../../core/id.ts";
import { inspectPostgres } from "./inspection.ts";
import { findSchema } from "./migrate.ts";
import { COUNT_ANSWERED } from "./read.ts";
import { EVENTS, FOUND, IS_MORE, findAnsweredText, searchExpression } from "./word-search.ts";
import { openPostgres } from "./postgres.ts";
import type { Store } from "../store.ts";
import { storeSuite } from "../../../test/store-suite/store.suite.ts";
import { keep, keepRun } from "../../../test/store-suite/opened.ts";

// A server of its own: what tests in other processes do on a shared one would hold up the feed.
let server: PostgresServer;
let databases = 0;
let url: string;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function open(): Promise<Store> {
  const store = await openPostgres({ url });
  stores.push(store);
  return store;
}

async function openEmpty(): Promise<Store> {
  url = await createDatabase(`store_${(databases += 1)}`, server.url);
  return open();
}

async function closeAll(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
}

/** Runs statements as somebody else who uses the database. */
async function elsewhere<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

storeSuite("PostgreSQL", async () => ({
  store: await openEmpty(),
  another: open,
  pass: (ms) => sleep(ms),
  close: closeAll,
}));

describe("on PostgreSQL", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openEmpty();
  });
  afterEach(closeAll);

  test("batches of two nodes that go opposite ways do not lock each other out", async () => {
    const other = await open();
    const runs = await Promise.all(Array.from({ length: 60 }, () => keepRun(store)));
    const report = (at: Store, pair: typeof runs) =>
      keep(at, { events: pair.map((run) => anEvent({ runId: run.id })) });
    const pairs = runs.map((run, index) => [run, runs.at(-1 - index)!]);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        ...pairs.map((pair) => report(store, pair)),
        ...pairs.toReversed().map((pair) => report(other, pair.toReversed())),
      ]);
    }
    const chains = await Promise.all(runs.map((run) => store.readChain(run.id)));
    expect(chains.map(({ head }) => head.n)).toEqual(runs.map(() => 20));
  });

  test("the feed shows nothing that a slow transaction could still come before", async () => {
    const [slow, quick] = [await keepRun(store), await keepRun(store)];
    const read = async () => (await store.readFeed("0", 10)).map(({ event }) => event.runId);
    await elsewhere(async (client) => {
      await client.query("begin");
      const body = JSON.stringify(anEvent({ runId: slow.id }));
      await client.query("insert into event (run_id, n, hash, body) values ($1, 1, '', $2)", [slow.id, body]);
      await keep(store, { events: [anEvent({ runId: quick.id })] });
      expect(await read()).toEqual([]);
      await client.query("commit");
    });
    expect(await read()).toEqual([slow.id, quick.id]);
  });

  test("a listener whose connection is cut still hears of what is committed", async () => {
    const other = await open();
    const run = await keepRun(store);
    const listening = "select pid from pg_stat_activity where query = 'listen askd' and datname = current_database()";
    let told = 0;
    store.onChange(() => (told += 1));
    await elsewhere(async (client) => {
      await expect.poll(async () => (await client.query(listening)).rowCount).toBe(1);
      await expect.poll(() => told).toBe(1);
      await client.query(`select pg_terminate_backend(pid) from (${listening}) listener`);
    });
    await keep(other, { questions: [aQuestion({ runId: run.id })] });
    await expect.poll(() => told).toBeGreaterThan(1);
  });

  test("many programs can open a new store at once", async () => {
    url = await createDatabase("at_once", server.url);
    const opened = await Promise.all(Array.from({ length: 6 }, open));
    await Promise.all(opened.map((one) => keepRun(one)));
    expect(await opened[0]!.listRuns({ order: "oldest", limit: 10 })).toHaveLength(6);
  });

  test("names may hold what PostgreSQL cannot", async () => {
    const name = "nul \0, half \ud800 and \uFFFE0000";
    const run = await keepRun(store, { name, session: name });
    expect(await store.lookUp({ by: "name", text: name }, 5)).toEqual({ runs: [run], questions: [] });
    const entry = { kind: "inbox", id: name, parent: name, version: 0, body: { name } } as const;
    await keep(store, { entries: [entry], questions: [aQuestion({ runId: run.id, key: name, title: name })] });
    expect(await store.findEntry("inbox", name)).toEqual({ ...entry, version: 1 });
    expect(await store.findQuestionByKey(run.id, name)).toMatchObject({ title: name });
  });
});

describe("opening PostgreSQL", () => {
  beforeEach(async () => {
    await (await openEmpty()).close();
    stores.length = 0;
  });
  afterEach(closeAll);

  test("a store that a newer program has taken over is refused, also when it is open", async () => {
    const store = await open();
    await elsewhere((client) => client.query("update meta set schema = 99, writable_by = 1"));
    await keepRun(await open());
    await elsewhere((client) => client.query("update meta set writable_by = 99"));
    expect(await store.commit({ runs: [aRun()] })).toEqual({ ok: false, why: "newer_schema" });
    await expect(open()).rejects.toMatchObject({ name: "Refusal", code: "newer_schema" });
  });

  test("a database that acknowledges before it writes is refused", async () => {
    await elsewhere((client) => client.query(`alter database store_${databases} set synchronous_commit = off`));
    await expect(open()).rejects.toMatchObject({ code: "store_unusable", hint: expect.stringContaining("alter") });
  });

  test.each([
    ["create table run (id serial primary key, distance real)", "has a table named run of another program"],
    ["create table meta (key text, value text); create view job as select 1", "has tables named job, meta of another"],
  ])(
    "a database in which another program has tables of our names is refused and left as it is: %s",
    async (sql, said) => {
      url = await createDatabase("not_ours", server.url);
      await elsewhere((client) => client.query(sql));
      const tables = "select relname from pg_class where relnamespace = 'public'::regnamespace order by relname";
      const before = await elsewhere((client) => client.query(tables));
      for (const way of [open, () => inspectPostgres(url), () => findSchema(url)]) {
        await expect(way()).rejects.toMatchObject({
          code: "store_unusable",
          message: expect.stringContaining(said),
          hint: expect.stringContaining("createdb"),
        });
      }
      expect((await elsewhere((client) => client.query(tables))).rows).toEqual(before.rows);
    },
  );

  test("a store that has lost a table is refused with the way back, and gets no new one", async () => {
    await elsewhere((client) => client.query("drop table seal"));
    await expect(open()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/ has lost seal\.$/),
      hint: expect.stringContaining("docs/backup.md"),
    });
  });

  test("what cannot be reached is said in one line without the password", async () => {
    const nobody = new URL(server.url.replace("postgres@", "mallory:secret@"));
    const nowhere = new URL(server.url);
    nowhere.pathname = "/nowhere";
    const said = new Map<string, string | RegExp>([
      ["postgres://ada:secret@127.0.0.1:1/askd", "No PostgreSQL can be reached at 127.0.0.1:1."],
      [nobody.href, /^PostgreSQL at .+ does not let user "mallory" in\.$/],
      [nowhere.href, /^PostgreSQL at .+ has no database "nowhere"\.$/],
    ]);
    for (const [address, message] of said) {
      const opening = openPostgres({ url: address });
      await expect(opening).rejects.toMatchObject({ code: "store_unreachable", hint: expect.any(String) });
      await expect(opening).rejects.toThrow(message);
    }
  });
});

test(
  "a restart of the server loses nothing that was acknowledged, and the store goes on",
  { timeout: 90_000 },
  async () => {
    const own = await startPostgres(); // with little to recover, so that it is back soon
    const store = await openPostgres({ url: own.url });
    const kept: RunId[] = [];
    let isOver = false;
    const write = async (): Promise<void> => {
      while (!isOver) {
        const run = aRun();
        const committed = await store.commit({ runs: [run], events: [anEvent({ runId: run.id })] }).catch(requireAway);
        if (committed?.ok) kept.push(run.id);
      }
    };
    const writers = Array.from({ length: 8 }, write);
    for (let restart = 1; restart <= 3; restart += 1) {
      const before = kept.length;
      await expect.poll(() => kept.length, { timeout: 20_000 }).toBeGreaterThan(before + 20);
      await own.crash();
      await own.start();
    }
    isOver = true;
    await Promise.all(writers);
    await keepRun(store);
    for (const id of kept) expect((await store.readChain(id)).events).toHaveLength(1);
    await store.close();
    await own.stop();
  },
);

/** While the server is down, a commit may only fail by saying so. */
function requireAway(error: unknown): undefined {
  expect(error).toMatchObject({ name: "Refusal", code: "store_unreachable" });
}

test("no list or search on PostgreSQL goes through all questions", async () => {
  const store = await openEmpty();
  try {
    const run = await keepRun(store);
    await elsewhere(async (client) => {
      // Enough rows that going through all of them is never the cheaper way.
      await client.query(
        `insert into question (id, version, body, run_id, key, status)
        select 'q_' || lpad(n::text, 26, '0'), 1, repeat('x', 900), $1, n::text, case when n % 100 = 0 then 'cancelled' else 'answered' end
        from generate_series(1, 20000) as n`,
        [run.id],
      );
      await client.query(`insert into question_word (id, words)
        select id, array_to_tsvector(array['cache', 'n' || key]) from question`);
      await client.query(`insert into answered_word select id, words from question_word`);
      await client.query("vacuum analyze");
      const plan = async (sql: string, ...values: unknown[]): Promise<string> => {
        const { rows } = await client.query<Record<string, string>>(`explain ${sql}`, values);
        return rows.map((row) => row["QUERY PLAN"]).join("\n");
      };
      const found = `select id from question where ${FOUND.replace("?", "$1")} and status <> 'pending' order by id desc limit 50`;
      const plans = [
        await plan("select id, version from question where status = $1 order by id desc limit 50", "cancelled"),
        await plan("select id, version from question where status = $1 order by id desc limit 50", "answered"),
        await plan("select count(*) from question where status = $1", "pending"),
        await plan(COUNT_ANSWERED),
        await plan(found, searchExpression("cache")),
        await plan(found, searchExpression("n4321")),
        await plan(findAnsweredText(["cache", "n77"]), 200, "'cache'", "'n77'"),
        await plan(EVENTS, "0", 0, 300),
        await plan(IS_MORE),
      ];
      for (const each of plans) expect(each).not.toMatch(/Seq Scan on (question|question_word|answered_word)\b/);
    });
  } finally {
    await closeAll();
  }
});
