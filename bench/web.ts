import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openPostgres } from "../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { createDatabase, startPostgres } from "../test/postgres.ts";
import { measurePages } from "./web-pages.ts";
import { measureScroll } from "./web-scroll.ts";
import { seed, seedLists } from "./web-seed.ts";

// npm run bench:web -- <closed questions> <pending> <requests> <sqlite, postgres, scroll or all>
const [closed = 100_000, pending = 1_000, requests = 200] = process.argv.slice(2, 5).map(Number);
const what = process.argv[5] ?? "all";
const LISTED = 1_000;
const WORDS_AT_ONCE = 200;

console.log(`${closed} closed and ${pending} pending questions; ${requests} requests of each page`);
sayLoad();
if (what === "all" || what === "sqlite") await measureSqlite();
if (what === "all" || what === "postgres") await measurePostgres();
if (what === "all" || what === "scroll") await measureScroll(pending);
sayLoad();

async function measureSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "askd-bench-web-"));
  const store = await openSqliteStore(join(directory, "askd.db"));
  await fill("SQLite", store);
  await measurePages("SQLite", store, requests);
  rmSync(directory, { recursive: true, force: true });
}

async function measurePostgres(): Promise<void> {
  const server = await startPostgres();
  const url = await createDatabase("bench_web", server.url);
  const client = new pg.Client(url);
  await client.connect();
  // As every server in use has it; that of the tests is told not to.
  await client.query("alter system set autovacuum = on");
  await client.query("select pg_reload_conf()");
  const store = await openPostgres({ url });
  await fill("PostgreSQL", store);
  await client.query("vacuum analyze");
  await client.end();
  await measurePages("PostgreSQL", store, requests);
  await server.stop();
}

async function fill(name: string, store: Store): Promise<void> {
  const startedMs = performance.now();
  await seed(store, { closed, pending });
  await seedLists(store, { each: LISTED });
  console.log(`${name}: filled in ${Math.round((performance.now() - startedMs) / 1000)} s`);
  const indexedMs = performance.now();
  while ((await store.indexWords(WORDS_AT_ONCE)) > 0);
  console.log(`${name}: words indexed in ${Math.round((performance.now() - indexedMs) / 1000)} s`);
}

function sayLoad(): void {
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`);
}
