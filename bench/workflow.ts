import { parseArgs } from "node:util";
import { engineOn } from "../src/app.ts";
import { idsFrom, pooledRandom } from "../src/core/id.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES } from "../src/core/rules.ts";
import { readWorkflow } from "../src/workflow/definition/read-workflow.ts";
import { StepRunner } from "../src/workflow/run/step-runner.ts";
import { Workflows } from "../src/workflow/run/workflows.ts";
import type { StepOutside } from "../src/workflow/tool/tool.ts";
import { ADA } from "../test/builders.ts";
import { Database, type Place, openStore, withPlace } from "../test/proof/place.ts";
import { until } from "../test/run-dir.ts";
import { said } from "../test/scene.ts";
import { randomBytes } from "node:crypto";
import { type FlowResult, measurePeers } from "./workflow-peers.ts";

// npm run bench:workflow -- --count 10000 --store sqlite|postgres|both --peers yes|no
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { count: text, store: text, peers: text } });
const COUNT = Number(values.count ?? 10_000);
const AT_ONCE = 64;
const STEPS_PER_RUN = 3;
const GOAL_PER_SECOND = 500;
const LOOK_MS = 20;
const MEGABYTE = 1024 * 1024;
const MOST_ROWS = 1_000;

const YAML = `
name: bench
steps:
  - { id: before, tool: shell, input: { argv: [before] } }
  - { id: ask, tool: post_question, input: { question: Go on?, options: [Yes, No], timeoutHours: 24 }, suspend: true, output: choice }
  - { id: after, tool: shell, input: { argv: [after, "{{ choice.answer }}"] } }
`;

const databases =
  values.store === undefined || values.store === "both" ? Database.options : [Database.parse(values.store)];
const results: FlowResult[] = [];
for (const database of databases) await withPlace(database, async (place) => void results.push(await measure(place)));
if (values.peers !== "no") results.push(...(await measurePeers(COUNT, databases)));
console.log(`${COUNT} runs: a step, a question that suspends them, ${COUNT} answers, another step`);
console.table(
  results.map(({ name, suspendMs, resumeMs, rssBefore, rssAfter }) => ({
    "": name,
    "runs suspended /s": rate(COUNT, suspendMs),
    "runs resumed /s": rate(COUNT, resumeMs),
    "steps /s": rate(COUNT * STEPS_PER_RUN, suspendMs + resumeMs),
    "MB suspended": Math.round(rssBefore / MEGABYTE),
    "MB resumed": Math.round(rssAfter / MEGABYTE),
  })),
);
console.log(`goal: ${GOAL_PER_SECOND} resumes a second on SQLite`);
process.exit(0);

/** Suspends all runs at a question, answers all, and waits until each is completed. */
async function measure(place: Place): Promise<FlowResult> {
  const store = await openStore(place);
  const limits = { ...DEFAULT_LIMITS, pending: Number.MAX_SAFE_INTEGER };
  const ids = idsFrom(Date.now, pooledRandom(randomBytes));
  const worker = ids.worker();
  let done = 0;
  const steps = new StepRunner({
    worker,
    outside: outside((argv) => void (done += argv === "after" ? 1 : 0)),
    readSecrets: () => ({}),
    stopPrograms: () => Promise.resolve(),
  });
  const failures: unknown[] = [];
  const engine = engineOn(store, {
    rules: { ...DEFAULT_RULES, limits },
    ids,
    worker,
    steps,
    host: "here",
    onFailure: (_job, error) => failures.push(error),
  });
  const working = engine.work();
  const workflows = new Workflows(engine.inside);
  const { definition, hash } = readWorkflow(YAML, "bench.yml");
  if (!definition || hash === undefined) throw new Error("the workflow is wrong");
  const place0 = { name: "bench", host: "here", dir: "/project", file: "bench.yml", definition: hash };
  const workflow = await workflows.approve(place0, definition, ADA);
  const isAll = async (count: () => Promise<number> | number) => {
    while ((await count()) < COUNT) {
      if (failures.length > 0) throw new Error("a step failed", { cause: failures[0] });
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  const startedMs = performance.now();
  await manyAtOnce(COUNT, () => workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA));
  await isAll(() => store.countQuestions("pending"));
  const suspendMs = performance.now() - startedMs;
  const rssBefore = process.memoryUsage.rss();
  const questions = await listPending(store);
  const answeredMs = performance.now();
  await manyAtOnce(COUNT, (index) => engine.answer(questions[index] ?? never(), said("Yes"), ADA));
  await isAll(() => done);
  // The last steps are done; their ends are on the way to the store.
  await until(
    "all runs are completed",
    async () => (await store.listRuns({ statuses: ["running", "resuming"], order: "oldest", limit: 1 })).length === 0,
  );
  const resumeMs = performance.now() - answeredMs;
  const rssAfter = process.memoryUsage.rss();
  await requireCompleted(store);
  await engine.stop();
  await working;
  return { name: `askd, ${place.database}`, suspendMs, resumeMs, rssBefore, rssAfter };
}

/** Every run is completed, and nothing else is there. */
async function requireCompleted(store: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  let after: Parameters<typeof store.listRuns>[0]["after"];
  let count = 0;
  for (;;) {
    const page = await store.listRuns({ order: "oldest", limit: MOST_ROWS, ...(after !== undefined && { after }) });
    const bad = page.find(({ status }) => status !== "completed");
    if (bad) throw new Error(`run #${bad.number} is ${bad.status}`);
    count += page.length;
    after = page.at(-1)?.id;
    if (page.length < MOST_ROWS) break;
  }
  if (count !== COUNT) throw new Error(`there are ${count} runs`);
}

async function listPending(store: Awaited<ReturnType<typeof openStore>>) {
  const found: Array<Parameters<typeof store.findQuestion>[0]> = [];
  for (;;) {
    const after = found.at(-1);
    const page = await store.listQuestions({
      status: "pending",
      order: "oldest",
      limit: MOST_ROWS,
      ...(after !== undefined && { after }),
    });
    found.push(...page.map(({ id }) => id));
    if (page.length < MOST_ROWS) return found;
  }
}

function outside(ran: (word: string | undefined) => void): StepOutside {
  const nothing = () => Promise.reject(new Error("this bench needs none"));
  return {
    openTracker: () => Promise.resolve(undefined),
    openTree: () => Promise.resolve({ dir: "/tree", branch: undefined }),
    publishTree: nothing,
    runProgram: ({ argv }) => {
      ran(argv[0]);
      return Promise.resolve({ exitCode: 0, stdout: "", stderr: "" });
    },
    request: nothing,
    prepareAgent: nothing,
    findAgentBudget: () => undefined,
    mcpServers: [],
    env: {},
  };
}

async function manyAtOnce(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, one));
}

function rate(count: number, ms: number) {
  return Math.round((count / ms) * 1000);
}

function never(): never {
  throw new Error("there is no such question");
}
