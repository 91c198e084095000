import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { SYSTEM } from "../src/core/actor.ts";
import { engineOn } from "../src/app.ts";
import { loopbackDoors } from "../src/server/guard.ts";
import { type ServeDeps, buildHttp } from "../src/server/server.ts";
import { openPostgres } from "../src/store/postgres.ts";
import { openSqliteStore } from "../src/store/sqlite.ts";
import type { Store } from "../src/store/store.ts";
import { createDatabase, startPostgres } from "../test/postgres.ts";
import { measureScroll } from "./web-scroll.ts";
import { ROOMY, seed } from "./web-seed.ts";

// npm run bench:web -- <closed questions> <pending> <requests> <sqlite, postgres, scroll or all>
const [closed = 100_000, pending = 1_000, requests = 200] = process.argv.slice(2, 5).map(Number);
const what = process.argv[5] ?? "all";
const PORT = 4319;

console.log(`${closed} closed and ${pending} pending questions; ${requests} requests of each page`);
if (what === "all" || what === "sqlite") await measureSqlite();
if (what === "all" || what === "postgres") await measurePostgres();
if (what === "all" || what === "scroll") await measureScroll(pending);

async function measureSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "askd-bench-web-"));
  await measure("SQLite", await openSqliteStore(join(directory, "askd.db")));
  rmSync(directory, { recursive: true, force: true });
}

async function measurePostgres(): Promise<void> {
  const server = await startPostgres();
  await measure("PostgreSQL", await openPostgres({ url: await createDatabase("bench_web", server.url) }));
  await server.stop();
}

/** Asks for pages inside one process: what is measured is the server's own time, from the request to the last byte. */
async function measure(name: string, store: Store): Promise<void> {
  const startedMs = performance.now();
  await seed(store, { closed, pending });
  console.log(`${name}: filled in ${Math.round((performance.now() - startedMs) / 1000)} s`);
  const engine = engineOn(store, { rules: ROOMY });
  const { text } = await engine.issueToken({ scope: "human", subject: "mika" }, SYSTEM);
  const stopping = new AbortController();
  const deps: ServeDeps = {
    ...{ engine, rules: ROOMY, store, version: "0.0.0", log: () => undefined },
    feed: {
      read: (after, limit) => store.readFeed(after, limit),
      readBack: (filter) => store.readBack(filter),
      findEnd: () => store.findFeedEnd(),
      onChange: (listener) => store.onChange(listener),
    },
  };
  const doors = loopbackDoors(PORT);
  const { app } = buildHttp(deps, { doors: () => doors, isSecure: false, stopping: stopping.signal });
  const headers = { host: `127.0.0.1:${PORT}`, cookie: `askd_session=${text}`, accept: "text/html" };
  const open = async (path: string): Promise<{ ms: number; bytes: number }> => {
    const atMs = performance.now();
    const response = await app.request(`http://127.0.0.1:${PORT}${path}`, { headers });
    const html = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${html.slice(0, 300)}`);
    return { ms: performance.now() - atMs, bytes: Buffer.byteLength(html) };
  };
  const [first] = await engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
  const counting = await stalls(() => open("/insights"));
  console.log(
    `${name}: counting anew took ${Math.round(counting.result.ms)} ms and never kept others waiting for more than ` +
      `${counting.worstMs.toFixed(1)} ms (goal 50)`,
  );
  const rows = [];
  for (const path of ["/", `/q/${first?.id ?? ""}`, "/?find=cache", "/insights"]) {
    const times: number[] = [];
    let bytes = 0;
    await open(path);
    const { worstMs } = await stalls(async () => {
      for (let count = 0; count < requests; count += 1) {
        const got = await open(path);
        times.push(got.ms);
        bytes = got.bytes;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    rows.push({
      page: path.replace(/q_\w+/, "…"),
      ...ranks(times),
      "longest stall ms": worstMs.toFixed(1),
      kB: (bytes / 1000).toFixed(1),
    });
  }
  console.log(`${name}: server time of pages in ms (goal: under 100)`);
  console.table(rows);
  await engine.stop();
}

/** How long the event loop was busy at a stretch, at worst. */
async function stalls<Result>(work: () => Promise<Result>): Promise<{ result: Result; worstMs: number }> {
  const RESOLUTION_MS = 1;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const result = await work();
  await new Promise((resolve) => setTimeout(resolve, 10));
  delay.disable();
  return { result, worstMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS) };
}

function ranks(times: readonly number[]): Record<string, string> {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN).toFixed(1);
  return { median: at(0.5), p99: at(0.99), most: at(1) };
}
