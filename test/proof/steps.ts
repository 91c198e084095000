import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import { triggerJob } from "../../src/core/workflow/trigger/trigger-job.ts";
import { readWorkflow } from "../../src/workflow/definition/read-workflow.ts";
import { Workflows } from "../../src/workflow/run/workflows.ts";
import { ADA } from "../builders.ts";
import { GithubServer } from "../channels/github-server.ts";
import { REPO } from "../channels/github-view.ts";
import { startPostgres } from "../postgres.ts";
import { said } from "../scene.ts";
import { aGitProject } from "../workflow/git-project.ts";
import { liveEngine } from "./live-engine.ts";
import { type Database, type Place, openStore, withPlace } from "./place.ts";
import { type Program, buildProgram } from "./program.ts";
import { type FlowName, flowOf, listFlowCases } from "./step-flow.ts";
import type { StepTask } from "./step-task.ts";

const ISSUE = 123;
const LEASE_MS = 2_000;
const LOOK_MS = 25;
const BOUND_MS = 120_000;
/** How long a killed program may be there; it sleeps for longer. */
const OVER_MS = 20_000;

/** The steps in their order; `once` is the only one that must not be repeated after an unknown outcome. */
const STEPS = ["comment", "label", "again", "ask", "once", "pr"] as const;

/** One place at which the process that does the steps dies. */
export interface StepCase {
  name: string;
  /** At this station. */
  kill?: string | undefined;
  /** When the service has taken this request. */
  taken?: RegExp;
  /** The end of a run whose step died there. */
  status: Run["status"];
  reason?: string | undefined;
  /** The workflow; by default, the one of this file. */
  flow?: FlowName;
}

export interface StepOutcome {
  name: string;
  status: string;
  problems: string[];
}

/** Every boundary between steps and every place inside of them. */
export function listStepCases(): StepCase[] {
  const called = STEPS.filter((step) => step !== "ask");
  const isUnknown = (station: string) =>
    ["committed once", "calling once", "called once", "committing pr"].includes(station);
  const stations = [
    "claimed",
    ...called.flatMap((step) => ["committing", "committed", "calling", "called"].map((word) => `${word} ${step}`)),
    ...["committing", "committed"].flatMap((word) => [`${word} awaiting_input`, `${word} completed`]),
  ];
  const inside = [
    { name: "inside comment", taken: /^POST .*\/comments$/ },
    { name: "inside label", taken: /^POST .*\/labels$/ },
    { name: "inside pr", taken: /^POST .*\/pulls$/ },
  ];
  return [
    ...stations.map((kill): StepCase => ({ name: kill, kill, status: isUnknown(kill) ? "failed" : "completed" })),
    ...inside.map((each): StepCase => ({ ...each, status: "completed" })),
    { name: "inside once", kill: "program once", status: "failed" },
    { name: "inside again", kill: "program again", status: "completed" },
    ...listFlowCases(),
  ];
}

/** Plays all cases, several at a time: most of the time they wait for a lease. */
export async function playSteps(
  database: Database,
  cases: readonly StepCase[],
  options: { atOnce: number; onOutcome?: (outcome: StepOutcome) => void },
): Promise<StepOutcome[]> {
  const program = await buildProgram("test/proof/step-worker.ts");
  const server = database === "postgres" && !process.env["ASKD_TEST_POSTGRES"] ? await startPostgres() : undefined;
  if (server) process.env["ASKD_TEST_POSTGRES"] = server.url;
  const outcomes: StepOutcome[] = [];
  const left = [...cases];
  const playLeft = async (): Promise<void> => {
    for (let play = left.shift(); play; play = left.shift()) {
      const one = play;
      const outcome = await withPlace(database, (place) => playOne(program, place, one));
      outcomes.push(outcome);
      options.onOutcome?.(outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce }, playLeft));
  } finally {
    if (server) delete process.env["ASKD_TEST_POSTGRES"];
    await server?.stop();
    program.remove();
  }
  return outcomes;
}

/** Programs write a line into the journal; one may kill the process that started it, once. */
function workflowOf(journal: string, play: StepCase): string {
  const script = (name: string) =>
    play.kill === `program ${name}`
      ? `echo ${name} >> ${journal}; if mkdir ${journal}.killed 2>/dev/null; then echo $$ > ${journal}.pid; kill -9 $PPID; exec sleep 60; fi`
      : `echo ${name} >> ${journal}`;
  if (play.flow !== undefined) return flowOf(play.flow).yaml((name) => JSON.stringify(script(name)));
  return `
name: crash
steps:
  - { id: comment, tool: github_comment, input: { body: "Looking at it" } }
  - { id: label, tool: update_github_issue, input: { addLabels: [looking], addComment: "Labelled" } }
  - { id: again, tool: shell, idempotent: true, input: { argv: [sh, -c, ${JSON.stringify(script("again"))}] } }
  - { id: ask, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true, output: choice }
  - { id: once, tool: shell, input: { argv: [sh, -c, ${JSON.stringify(`${script("once")}; date > fix.txt`)}] } }
  - { id: pr, tool: github_create_pr }
`;
}

async function playOne(program: Program, place: Place, play: StepCase): Promise<StepOutcome> {
  const github = await GithubServer.start();
  const { root, bare, project, file } = aGitProject("crash.yml", "name: crash\nsteps: [{ id: one, tool: shell }]\n");
  github.pulls.remote = bare;
  const stateDir = join(root, "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const journal = join(root, "journal");
  const store = await openStore(place);
  const engine = liveEngine(store);
  const workers: ChildProcess[] = [];
  const task = taskOf(play, { place, stateDir, github: github.base, journal });
  const start = (more: Partial<StepTask> = {}) =>
    workers.push(program.start([JSON.stringify({ ...task, ...more })], ["ignore", "ignore", "inherit"]));
  try {
    const workflows = new Workflows(engine.inside);
    const yaml = workflowOf(journal, play);
    writeFileSync(file, yaml); // labels start nothing if the file is not as it was approved
    const { definition, hash = "", problems } = readWorkflow(yaml, "crash.yml");
    if (!definition) throw new Error(JSON.stringify(problems));
    const at = { name: "crash", host: ensureMachineId(stateDir), dir: project, file, repo: REPO, definition: hash };
    const workflow = await workflows.approve(at, definition, ADA);
    const { label, isAnswered = true } = play.flow === undefined ? {} : flowOf(play.flow);
    if (label === undefined) {
      const issue = { repo: REPO, number: ISSUE };
      await workflows.start({ workflow, cause: { type: "manual" }, inputs: {}, issue }, ADA);
    } else {
      github.issues.addLabel(ISSUE, label, "mika");
      const now = await store.now();
      await engine.inside.decider.commit({ scheduled: [triggerJob(workflow, now)] });
    }
    start(play.kill === undefined ? {} : { kill: play.kill });
    killDuring(play.taken, github, workers);
    const run = await playToEnd({ engine, workers, start, isAnswered });
    const runs = await store.listRuns({ order: "oldest", limit: 100 });
    const found = [...check(run, play, { github, journal, runs, wasKilled: workers.length > 1 })];
    found.push(...(await engine.verify()).problems, ...github.traffic.problems);
    if (!(await isProgramOver(`${journal}.pid`))) found.push("the program of the dead worker goes on");
    return {
      name: play.name,
      status: `${run.status}${run.reason === undefined ? "" : `(${run.reason})`}`,
      problems: found,
    };
  } finally {
    for (const worker of workers) worker.kill("SIGKILL");
    await engine.stop();
    await github.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** The worker with the outside of a case: a service, an MCP server and an agent that write into the journal. */
function taskOf(
  { kill }: StepCase,
  { journal, ...place }: Pick<StepTask, "place" | "stateDir" | "github"> & { journal: string },
): StepTask {
  const killAt = kill?.startsWith("program ") ? [kill.slice("program ".length)] : [];
  return {
    ...place,
    leaseMs: LEASE_MS,
    tools: [process.execPath, resolve("test", "proof", "journal-tools.mjs"), journal, ...killAt],
    agent: ["sh", "-c", `echo work >> ${journal}`],
  };
}

/** Kills the first worker while the service does a request. */
function killDuring(request: RegExp | undefined, github: GithubServer, workers: readonly ChildProcess[]): void {
  if (!request) return;
  const kill = (line: string) => {
    if (request.test(line) && workers.length === 1) workers[0]?.kill("SIGKILL");
  };
  github.onTaken = kill;
  const handle = github.traffic.handle.bind(github.traffic);
  github.traffic.handle = (asked, response) => {
    if (asked.method === "GET") kill(`GET ${asked.url.pathname}${asked.url.search}`);
    return handle(asked, response);
  };
}

interface Play {
  engine: ReturnType<typeof liveEngine>;
  workers: ChildProcess[];
  start: () => void;
  isAnswered: boolean;
}

/** Answers its question if the case says so, and starts another worker when the first is gone. */
async function playToEnd({ engine, workers, start, isAnswered }: Play): Promise<Run> {
  const startedAtMs = performance.now();
  for (;;) {
    const [run] = await engine.inside.store.listRuns({ order: "oldest", limit: 1 });
    const last = workers.at(-1);
    if (last && (last.exitCode !== null || last.signalCode !== null)) start();
    if (isAnswered && run?.pendingId !== undefined)
      await engine.answer(run.pendingId, said("Red"), ADA).catch(() => undefined); // answered
    const isOver = performance.now() - startedAtMs > BOUND_MS;
    if (run && (hasEnded(run) || isOver)) return run;
    if (isOver) throw new Error("no run was started");
    await sleep(LOOK_MS);
  }
}

interface Outcome {
  github: GithubServer;
  journal: string;
  /** All runs, with branches and agents. */
  runs: readonly Run[];
  wasKilled: boolean;
}

/** Looks whether everything outside happened once, and the run ended as its case says. */
function* check(run: Run, play: StepCase, outcome: Outcome): Generator<string> {
  const { journal, wasKilled } = outcome;
  const lines = existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : [];
  const times = (name: string) => lines.filter((line) => line === name).length;
  // The last commit of a run may be followed by nothing.
  const isLast = /committed (?:completed|skipped|failed)/.test(play.kill ?? "");
  if (!wasKilled && !isLast) yield "nobody died";
  if (run.status !== play.status) yield `the run is ${run.status} (${run.reason ?? ""}: ${run.result?.summary ?? ""})`;
  if (run.status === "failed" && run.reason !== (play.reason ?? "step_unknown"))
    yield `it failed with ${run.reason ?? "no reason"}`;
  yield* play.flow === undefined ? checkMain(play, outcome, times) : checkFlow(play.flow, outcome, times);
}

function* checkMain({ status }: StepCase, { github }: Outcome, times: (name: string) => number): Generator<string> {
  yield* checkComments(["Looking at it", "Labelled"], github);
  if ((github.labels.get(ISSUE) ?? []).join() !== "looking") yield "the label is not there once";
  if (times("once") > 1) yield `the step that must not be repeated was done ${times("once")} times`;
  const { pulls } = github.pulls;
  if (pulls.length !== (status === "completed" ? 1 : 0)) yield `there are ${pulls.length} pull requests`;
  if (times("again") < 1) yield "the step that may be repeated was never done";
}

function* checkFlow(name: FlowName, { github, runs }: Outcome, times: (name: string) => number): Generator<string> {
  const flow = flowOf(name);
  yield* checkComments(flow.comments, github);
  for (const step of flow.once) if (times(step) !== 1) yield `the step ${step} was done ${times(step)} times`;
  for (const step of flow.repeated) if (times(step) < 1) yield `the step ${step} was never done`;
  if (runs.length !== flow.runs) yield `there are ${runs.length} runs in place of ${flow.runs}`;
  for (const each of runs) if (!hasEnded(each)) yield `run ${each.name} is ${each.status}`;
}

function* checkComments(texts: readonly string[], github: GithubServer): Generator<string> {
  for (const text of texts) {
    const count = github.comments.filter(({ body }) => body.includes(text)).length;
    if (count !== 1) yield `the comment "${text}" is there ${count} times`;
  }
}

/** Waits for the end of the program that killed its worker and wrote its process id into a file; false if it goes on. */
async function isProgramOver(file: string): Promise<boolean> {
  if (!existsSync(file)) return true;
  const pid = Number(readFileSync(file, "utf8"));
  for (let waitedMs = 0; waitedMs < OVER_MS; waitedMs += LOOK_MS) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await sleep(LOOK_MS); // one that was killed is there until its parent has seen it
  }
  return false;
}
