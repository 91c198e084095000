import { monitorEventLoopDelay } from "node:perf_hooks";
import { SYSTEM } from "../src/core/people/actor.ts";
import { engineOn } from "../src/app.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import { loopbackDoors } from "../src/server/guard.ts";
import { type ServeDeps, buildHttp } from "../src/server/server.ts";
import type { Store } from "../src/store/store.ts";
import { ROOMY } from "./web-seed.ts";

const PORT = 4319;
const GOAL_MS = 100;
const STALL_GOAL_MS = 50;

interface Opened {
  ms: number;
  /** What this process computed meanwhile; on a busy machine it tells more than the clock does. */
  cpuMs: number;
  bytes: number;
}
type Open = (path: string) => Promise<Opened>;

/** Asks for pages inside one process: what is measured is the server's own time, from the request to the last byte. */
export async function measurePages(name: string, store: Store, requests: number, only = ""): Promise<void> {
  const engine = engineOn(store, { rules: ROOMY });
  const open = await visitor(engine, store);
  for (const path of ["/insights", "/", "/insights"]) {
    const { result, worstMs } = await stalls(() => open(path));
    console.log(`${name}: first ${path}: ${Math.round(result.ms)} ms, longest stall ${worstMs.toFixed(1)} ms`);
  }
  const rows = [];
  for (const [page, path] of Object.entries(await pagePaths(engine))) {
    if (only !== "" && page !== only) continue;
    rows.push({ page, ...(await measurePage(open, path, requests)) });
  }
  console.log(`${name}: server time of pages in ms (goal: under ${GOAL_MS}, no stall over ${STALL_GOAL_MS})`);
  console.table(rows);
  await engine.stop();
}

async function visitor(engine: LocalEngine, store: Store): Promise<Open> {
  const { text } = await engine.issueToken({ scope: "admin", subject: "mika" }, SYSTEM);
  const stopping = new AbortController();
  const deps: ServeDeps = {
    engine,
    rules: ROOMY,
    store,
    version: "0.0.0",
    log: () => undefined,
    feed: {
      read: (after, limit) => store.readFeed(after, limit),
      readBack: (filter) => store.readTrailPage(filter),
      findEnd: () => store.findFeedEnd(),
      onChange: (listener) => store.onChange(listener),
    },
  };
  const doors = loopbackDoors(PORT);
  const { app } = buildHttp(deps, { doors: () => doors, isSecure: false, stopping: stopping.signal });
  const headers = { host: `127.0.0.1:${PORT}`, cookie: `askd_session=${text}`, accept: "text/html" };
  return async (path) => {
    const atMs = performance.now();
    const before = process.cpuUsage();
    const response = await app.request(`http://127.0.0.1:${PORT}${path}`, { headers });
    const html = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${html.slice(0, 300)}`);
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - atMs, cpuMs: (user + system) / 1000, bytes: Buffer.byteLength(html) };
  };
}

async function pagePaths(engine: LocalEngine): Promise<Record<string, string>> {
  const [pending] = await engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
  const [answered] = await engine.listQuestions({ status: "answered", order: "newest", limit: 1 });
  if (!pending || !answered) throw new Error("there is nothing to show");
  const run = await engine.findRun(pending.runId);
  return {
    inbox: "/",
    "inbox, last page": "/?from=900",
    "search, many": "/?find=cache",
    "search, few": `/?find=${encodeURIComponent("billing 4321")}`,
    "search, none": "/?find=nothing-has-this",
    card: `/q/${pending.id}`,
    "card, closed": `/q/${answered.id}`,
    runs: "/runs",
    "runs, waiting": "/runs?state=waiting",
    "runs, failed": "/runs?state=failed",
    run: `/r/${pending.runId}`,
    activity: "/activity",
    "activity, one kind": "/activity?kind=question.cancelled",
    "activity, a name": `/activity?run=${run?.name}`,
    templates: "/templates",
    people: "/settings/people",
    tokens: "/settings/tokens",
    channels: "/channels",
    policies: "/settings/policies",
    settings: "/settings",
    batch: "/batch",
    insights: "/insights",
  };
}

async function measurePage(open: Open, path: string, requests: number): Promise<Record<string, string>> {
  const opened: Opened[] = [];
  await open(path);
  const { worstMs } = await stalls(async () => {
    for (let count = 0; count < requests; count += 1) {
      opened.push(await open(path));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  return {
    ...ranks(opened.map(({ ms }) => ms)),
    "median cpu": ranks(opened.map(({ cpuMs }) => cpuMs)).median,
    "longest stall": worstMs.toFixed(1),
    kB: ((opened[0]?.bytes ?? 0) / 1000).toFixed(1),
  };
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

function ranks(times: readonly number[]): Record<"median" | "p99" | "most", string> {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN).toFixed(1);
  return { median: at(0.5), p99: at(0.99), most: at(1) };
}
