// Does with another engine what bench/workflow.ts does with askd: a step, a wait for a message, another step.
// node workflow-peer.mjs <folder with the engines> <openworkflow|dbos> <sqlite|postgres> <address> <count>
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [dir = "", name, database, address = "", countText] = process.argv.slice(2);
const COUNT = Number(countText);
const AT_ONCE = 64;
const LOOK_MS = 20;
const from = (path) => import(pathToFileURL(join(dir, "node_modules", path)).href);

const before = new Set();
let after = 0;
const { start, answer, stop } = await (name === "dbos" ? dbos() : openworkflow());
const startedMs = performance.now();
await manyAtOnce(start);
while (before.size < COUNT) await pause();
// What follows the first step is on its way to the database.
await settle();
const suspendMs = performance.now() - startedMs;
const rssBefore = process.memoryUsage.rss();
const answeredMs = performance.now();
await manyAtOnce(answer);
while (after < COUNT) await pause();
const resumeMs = performance.now() - answeredMs;
process.stdout.write(`${JSON.stringify({ suspendMs, resumeMs, rssBefore, rssAfter: process.memoryUsage.rss() })}\n`);
await Promise.race([stop(), pause(5_000)]);
process.exit(0);

async function openworkflow() {
  const { OpenWorkflow } = await from("openworkflow/dist/index.js");
  const { BackendSqlite } = database === "sqlite" ? await from("openworkflow/dist/sqlite.js") : {};
  const { BackendPostgres } = database === "postgres" ? await from("openworkflow/dist/postgres.js") : {};
  const backend = BackendSqlite ? BackendSqlite.connect(address) : await BackendPostgres.connect(socketUrl());
  const engine = new OpenWorkflow({ backend });
  const flow = engine.defineWorkflow({ name: "bench" }, async ({ input, step }) => {
    await step.run({ name: "before" }, () => before.add(input.index) && null);
    const signal = await step.waitForSignal({ signal: `go-${input.index}`, timeout: "24h" });
    await step.run({ name: "after" }, () => signal?.data ?? null);
    after += 1;
  });
  const worker = engine.newWorker({ concurrency: AT_ONCE });
  await worker.start();
  return {
    start: (index) => flow.run({ index }),
    // A signal that nobody waits for yet is dropped.
    answer: async (index) => {
      for (;;) {
        const { workflowRunIds } = await engine.sendSignal({ signal: `go-${index}`, data: "Yes" });
        if (workflowRunIds.length > 0) return;
        await pause();
      }
    },
    stop: () => worker.stop(),
  };
}

/** Its driver takes the folder of a socket, and the user, from the environment alone. */
function socketUrl() {
  const url = new URL(address.replace("@/", "@localhost/"));
  const host = url.searchParams.get("host");
  if (host === null) return address;
  process.env.PGHOST = host;
  process.env.PGUSER = url.username;
  return `postgres://${url.pathname}`;
}

async function dbos() {
  const { DBOS } = (await from("@dbos-inc/dbos-sdk/dist/src/index.js")).default;
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: address, logLevel: "error", runAdminServer: false });
  const flow = DBOS.registerWorkflow(
    async (index) => {
      await DBOS.runStep(async () => void before.add(index), { name: "before" });
      const choice = await DBOS.recv("go", 24 * 60 * 60);
      await DBOS.runStep(async () => choice, { name: "after" });
      after += 1;
    },
    { name: "bench" },
  );
  await DBOS.launch();
  return {
    start: (index) => DBOS.startWorkflow(flow, { workflowID: `bench-${index}` })(index),
    answer: (index) => DBOS.send(`bench-${index}`, "Yes", "go"),
    stop: () => DBOS.shutdown(),
  };
}

async function manyAtOnce(work) {
  let next = 0;
  const one = async () => {
    while (next < COUNT) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, COUNT) }, one));
}

async function settle() {
  await pause(10 * LOOK_MS);
}

function pause(ms = LOOK_MS) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
