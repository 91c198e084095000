import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Database, type Place, openStore, withPlace } from "../test/proof/place.ts";
import pg from "pg";
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
      const emptyBytes = await bytesOf(small);
      const seconds = await fill(large, { closed: CLOSED, pending: PENDING });
      console.log(`${database}: ${CLOSED} closed and ${PENDING} pending questions, filled in ${seconds.toFixed(0)} s`);
      const grown = (await bytesOf(large)) - emptyBytes;
      console.log(`${(grown / (CLOSED + PENDING)).toFixed(0)} bytes per question; goal: 2,500`);
      compare(small, large);
    });
  });
}

async function fill(place: Place, counts: { closed: number; pending: number }): Promise<number> {
  const startedMs = performance.now();
  const store = await openStore(place);
  try {
    await seed(store, { ...counts, areTaken: true });
  } finally {
    await store.close();
  }
  return (performance.now() - startedMs) / 1000;
}

async function bytesOf({ database, address }: Place): Promise<number> {
  if (database === "sqlite") return statSync(address).size;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    const { rows } = await client.query("select pg_database_size(current_database())::float8 as bytes");
    return Number(rows[0]?.bytes);
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
