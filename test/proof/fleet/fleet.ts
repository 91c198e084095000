import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isProcessAlive } from "../../../src/agents/process/process-identity.ts";
import { type RunProcess, listRunProcesses } from "../../../src/agents/process/process-list.ts";
import { runDirOf } from "../../../src/agents/runner/run-files.ts";
import { Refusal } from "../../../src/core/refusal.ts";
import { type Question, isPending } from "../../../src/core/question/question.ts";
import { type Run, hasEnded } from "../../../src/core/run/run.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { ADA } from "../../builders.ts";
import { AGENTS, TYPED } from "../../e2e/agent.ts";
import { programFile } from "../../e2e/install.ts";
import { Stage } from "../../e2e/stage.ts";
import { said } from "../../scene.ts";
import { liveEngine } from "../live-engine.ts";
import { type Place, openStore } from "../place.ts";
import { Chance } from "../walk/chance.ts";
import { checkRun } from "./check.ts";
import {
  MOMENTS,
  type Moment,
  type PlannedQuestion,
  type PlannedRun,
  WINDOW_SECONDS,
  planRuns,
  promptFor,
} from "./plan.ts";
import { FleetWorkers } from "./workers.ts";

/** As the system names their processes; what they start has other names. */
const AGENT_NAMES: ReadonlySet<string> = new Set(["claude", "codex"]);
const LOOK_MS = 250;
const BOUND_MS = 20 * 60_000;
const DISRUPTIONS = 12;
const MOST_RUNS = 100;
const MOST_TRIES = 20;
/** How many runs are queued at the same time. */
const AT_ONCE = 5;

export interface Round {
  seed: number;
  runs: number;
  starts: number;
  answers: Record<Moment, number>;
  kills: number;
  stops: number;
  repeats: number;
  slowestTakeoverMs: number;
  faults: string[];
  /** What helps to understand them. */
  details: string[];
}

/** Plays many runs of real agents at once while their workers die, and looks whether every answer was told once. */
export async function playRound(place: Place, seed: number): Promise<Round> {
  const stage = new Stage();
  const store = await openStore(place);
  const engine = liveEngine(store);
  const play = new FleetPlay({ stage, store, engine, place, seed });
  try {
    return await play.play();
  } finally {
    await play.clear();
    await engine.stop();
    await stage.close();
  }
}

class FleetPlay {
  readonly #at: { stage: Stage; store: Store; engine: LocalEngine; place: Place; seed: number };
  readonly #plans: readonly PlannedRun[];
  readonly #chance: Chance;
  readonly #numbers = new Map<number, PlannedRun>();
  readonly #answers: Record<Moment, number> = { live: 0, parking: 0, parked: 0 };
  /** Since when a question can be answered as it was planned. */
  readonly #dueMs = new Map<string, number>();
  readonly #faults: string[] = [];
  readonly #details: string[] = [];
  #workers: FleetWorkers | undefined;

  constructor(at: { stage: Stage; store: Store; engine: LocalEngine; place: Place; seed: number }) {
    this.#at = at;
    const chance = new Chance(at.seed);
    this.#plans = planRuns(chance.fork());
    this.#chance = chance.fork();
  }

  async play(): Promise<Round> {
    const { store, engine, seed } = this.#at;
    const env = await this.#queue();
    const workers = new FleetWorkers({ store, env, chance: this.#chance, disruptions: DISRUPTIONS });
    this.#workers = workers;
    await workers.begin();
    const startedAtMs = performance.now();
    let runs = await this.#list();
    while (!runs.every((run) => hasEnded(run) && run.worker === undefined)) {
      if (performance.now() - startedAtMs > BOUND_MS) break;
      for (const run of runs) await this.#answer(run);
      await this.#watchAgents(runs);
      await workers.look(runs);
      await sleep(LOOK_MS);
      runs = await this.#list();
    }
    this.#faults.push(...(await workers.end()));
    const seen = await this.#check(await this.#list());
    this.#faults.push(...(await engine.verify()).problems);
    if (workers.kills + workers.stops === 0) this.#faults.push("no worker was killed or stopped");
    return {
      seed,
      runs: runs.length,
      answers: this.#answers,
      ...seen,
      kills: workers.kills,
      stops: workers.stops,
      faults: this.#faults,
      details: this.#faults.length > 0 ? [...this.#details, ...workers.complaints] : [],
      slowestTakeoverMs: workers.slowestMs,
    };
  }

  /** Whatever became of the round, nothing of it stays behind. */
  async clear(): Promise<void> {
    await this.#workers?.end();
    for (const { id } of await this.#list()) for (const { pid } of await listRunProcesses(id)) kill(pid);
  }

  /** Queues all runs as a person would, and gives the environment that workers have. */
  async #queue(): Promise<Record<string, string>> {
    const { stage, place } = this.#at;
    const { box, env: own } = await stage.box((at) => ({
      ...AGENTS.claude(at, { kind: "none" }, "").env,
      ...AGENTS.codex(at, { kind: "none" }, "").env,
    }));
    const store = place.database === "sqlite" ? `sqlite:${place.address}` : place.address;
    const env = { ...own, ASKD_STORE: store };
    const left = [...this.#plans];
    const queueLeft = async (): Promise<void> => {
      for (let plan = left.shift(); plan; plan = left.shift()) {
        const dir = join(box.dir, plan.name);
        mkdirSync(dir);
        const command = [programFile(plan.program), ...TYPED[plan.program], promptFor(plan)];
        const args = ["run", "--live-window", `${WINDOW_SECONDS}s`, "--", ...command];
        this.#numbers.set(Number(await stage.typeIn(dir, env, ...args)), plan);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, queueLeft));
    const { PATH, HOME, ASKD_HOME } = env;
    return { PATH, HOME, ASKD_HOME, ASKD_STORE: store };
  }

  #list(): Promise<Run[]> {
    return patiently(() => this.#at.engine.listRuns({ order: "oldest", limit: MOST_RUNS }));
  }

  /** Answers what the run asks when the moment for that is there, or is over. */
  async #answer(run: Run): Promise<void> {
    const { engine } = this.#at;
    const { pendingId } = run;
    const { question } = pendingId ? await patiently(() => engine.read(pendingId)) : {};
    const planned = question && this.#planned(run, question);
    if (!question || !planned || !isPending(question)) return;
    const moment = question.hold ? "live" : run.status === "awaiting_input" ? "parked" : "parking";
    if (MOMENTS.indexOf(moment) < MOMENTS.indexOf(planned.when)) return;
    const dueMs = this.#dueMs.get(question.id) ?? performance.now() + planned.delayMs;
    this.#dueMs.set(question.id, dueMs);
    if (performance.now() < dueMs) return;
    await patiently(() => engine.answer(question.id, said(planned.answer), ADA));
    this.#answers[moment] += 1;
  }

  #planned(run: Run, { title }: Question): PlannedQuestion | undefined {
    return this.#numbers.get(run.number)?.questions.find(({ text }) => title.includes(text));
  }

  /** Two agents of one run are never alive at once. */
  async #watchAgents(runs: readonly Run[]): Promise<void> {
    const agents = (await listRunProcesses()).filter(({ name }) => AGENT_NAMES.has(name));
    for (const { id, number } of runs) {
      const own = agents.filter(({ runId }) => runId === id);
      if (epochsOf(own).length < 2) continue;
      // One may have ended, and the other begun, while we looked.
      const alive = epochsOf(await stillAlive(own));
      if (alive.length > 1) this.#faults.push(`#${number} had agents of the epochs ${alive.join(" and ")} at once`);
    }
  }

  /** Looks at every run, and gives how often agents were started and answers repeated. */
  async #check(runs: readonly Run[]): Promise<{ starts: number; repeats: number }> {
    const { stage, engine } = this.#at;
    const seen = { starts: 0, repeats: 0 };
    for (const [number, plan] of this.#numbers) {
      const run = runs.find((each) => each.number === number);
      if (!run) {
        this.#faults.push(`#${number} is not there`);
        continue;
      }
      const requests = stage.requests(`${plan.name} `);
      const runDir = runDirOf(join(stage.askdHome, "state"), run.id);
      const { faults, details, starts, repeats } = await checkRun(engine, run, plan, { requests, runDir });
      this.#faults.push(...faults);
      this.#details.push(...details);
      seen.starts += starts;
      seen.repeats += repeats;
    }
    return seen;
  }
}

/** A worker that is stopped in the middle of a write keeps the file of a store locked: others come again later. */
async function patiently<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === MOST_TRIES || !(error instanceof Refusal) || error.code !== "store_unusable") throw error;
      await sleep(LOOK_MS);
    }
  }
}

function epochsOf(processes: readonly RunProcess[]): Array<number | undefined> {
  return [...new Set(processes.map(({ epoch }) => epoch))];
}

async function stillAlive(processes: readonly RunProcess[]): Promise<RunProcess[]> {
  const alive = await Promise.all(processes.map(async (each) => ((await isProcessAlive(each)) ? [each] : [])));
  return alive.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended by itself
  }
}
