import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { sealTrail } from "../src/engine/jobs/seal-job.ts";
import { StatsCache } from "../src/engine/stats/stats-cache.ts";
import { Archiver } from "../src/engine/trail/archiver.ts";
import { openDatabase } from "../src/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { Database, type Place, openStore, withPlace } from "../test/proof/place.ts";
import { median } from "./loop.ts";
import { seed } from "./web-seed.ts";

// npm run bench:scale -- --closed 1000000 --pending 10000 --store sqlite|postgres|both --rounds 7
const ASKD = join("bin", "askd");
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { closed: text, pending: text, store: text, rounds: text } });
const CLOSED = Number(values.closed ?? 1_000_000);
const PENDING = Number(values.pending ?? 10_000);
const ROUNDS = Number(values.rounds ?? 7);
const databases =
  values.store === undefined || values.store === "both" ? Database.options : [Database.parse(values.store)];
/** All questions are of this week: with the age that is usual, those of the last day would not be in the archive. */
const ARCHIVE_AFTER_MS = 0;
/** How many questions are closed before the store is tidied up: few of all, as where a day's are few of a year's. */
const CLOSED_PER_TIDY = Math.min(8_192, Math.ceil(CLOSED / 50));
const WORDS_AT_ONCE = 2_000;
/** Tables and indexes smaller than this, in bytes per closed question, are not listed. */
const LEAST_LISTED = 5;

/** The tables and indexes of a database; long values count with their table. */
const SIZES = `select relname as name, (pg_relation_size(oid) + coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0))::float8 as bytes
  from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i') order by bytes desc`;

/** Each command, and how many times as long as on an empty store it may take; `stats` has a goal in seconds. */
const SUBJECTS: Array<{ name: string; argv: string[]; goal: string }> = [
  { name: "status", argv: ["status"], goal: "2x" },
  { name: "list", argv: ["list"], goal: "2x" },
  { name: "show", argv: ["show", "1"], goal: "2x" },
  { name: "audit", argv: ["audit", "--limit", "20"], goal: "2x" },
  { name: "stats", argv: ["stats"], goal: "1 s" },
];

for (const database of databases) {
  await withPlace(database, async (small) => {
    await withPlace(database, async (large) => {
      await fill(small, { closed: 1, pending: 1 });
      const { bytes: emptyBytes } = await measure(small);
      const seconds = await fill(large, { closed: CLOSED, pending: 0 });
      console.log(`${database}: ${CLOSED} closed questions, filled in ${seconds.toFixed(0)} s`);
      const { bytes, parts } = await measure(large);
      console.log(`${((bytes - emptyBytes) / CLOSED).toFixed(0)} bytes per closed question; goal: 2,500`);
      console.table(
        parts
          .map(({ name, bytes: size }) => ({ part: name, "bytes per question": Math.round(size / CLOSED) }))
          .filter((part) => part["bytes per question"] >= LEAST_LISTED),
      );
      await fill(large, { closed: 0, pending: PENDING });
      compare(small, large);
    });
  });
}

/** Fills a store as the product would, and does in between what its server does when it is idle. */
async function fill(place: Place, counts: { closed: number; pending: number }): Promise<number> {
  const startedMs = performance.now();
  const store = await openStore(place);
  const archiver = new Archiver(store, ARCHIVE_AFTER_MS);
  const statsCache = new StatsCache(store);
  let tidied = 0;
  const tidy = async () => {
    await sealTrail(store, await store.now());
    await tidyUp(store, statsCache, archiver);
    if (place.database === "postgres") await vacuum(place);
  };
  try {
    await seed(store, {
      ...counts,
      areTaken: true,
      onClosed: async (count) => {
        if (count - tidied < CLOSED_PER_TIDY) return;
        tidied = count;
        await tidy();
        console.log(`  ${count} after ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
      },
    });
    await tidy();
  } finally {
    await store.close();
  }
  return (performance.now() - startedMs) / 1000;
}

async function tidyUp(store: Store, statsCache: StatsCache, archiver: Archiver): Promise<void> {
  while ((await store.indexWords(WORDS_AT_ONCE)) > 0);
  while (await statsCache.takeIn());
  while (await archiver.archiveMore());
}

interface Measured {
  bytes: number;
  parts: Array<{ name: string; bytes: number }>;
}

function measure(place: Place): Promise<Measured> {
  return place.database === "sqlite" ? measureFile(place.address) : measureDatabase(place.address);
}

async function measureFile(path: string): Promise<Measured> {
  const database = openDatabase(path, { readOnly: true });
  try {
    const sql = "select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc";
    const parts = database.prepare<{ name: string; bytes: number }>(sql).all();
    const used = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    const { size } = statSync(path);
    return { bytes: size, parts: [...parts, { name: "free for what comes next", bytes: size - used }] };
  } finally {
    database.close();
  }
}

async function measureDatabase(address: string): Promise<Measured> {
  return withClient(address, async (client) => {
    const { rows } = await client.query<{ bytes: number }>(
      "select pg_database_size(current_database())::float8 as bytes",
    );
    const { rows: parts } = await client.query<{ name: string; bytes: number }>(SIZES);
    return { bytes: rows[0]?.bytes ?? 0, parts };
  });
}

/** As the database does by itself, sooner or later. */
async function vacuum({ address }: Place): Promise<void> {
  await withClient(address, (client) => client.query("vacuum analyze"));
}

async function withClient<Result>(address: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Runs every command on both stores in turn, and prints what each took. */
function compare(small: Place, large: Place): void {
  const rows = SUBJECTS.map(({ name, argv, goal }) => {
    const [few, many]: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const [one, other] = [timed(small, argv), timed(large, argv)];
      if (round === 0) continue; // the first start warms the caches of files
      few.push(one);
      many.push(other);
    }
    const [emptyMs, fullMs] = [median(few), median(many)];
    const ratio = (fullMs / emptyMs).toFixed(2);
    return { "": name, "empty ms": emptyMs.toFixed(0), "full ms": fullMs.toFixed(0), ratio, goal };
  });
  console.table(rows);
}

function timed({ database, address }: Place, argv: string[]): number {
  const home = mkdtempSync(join(tmpdir(), "askd-bench-"));
  const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
  const url = database === "sqlite" ? `sqlite:${address}` : address;
  try {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [ASKD, ...argv], {
      env: { ...inherited, ASKD_HOME: home, ASKD_STORE: url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (status !== 0) throw new Error(`askd ${argv.join(" ")} ended with ${status}: ${stderr.toString()}`);
    return performance.now() - started;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
