import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunId, RunId as RunIdSchema } from "../../../src/core/id.ts";
import type { Question } from "../../../src/core/question/question.ts";
import { LIVE_STATUSES } from "../../../src/core/run/run.ts";
import type { Place } from "../place.ts";
import { findBroken, readAll } from "../promise.ts";
import type { Variant } from "../variant.ts";
import { Asker, type Heard } from "./asker.ts";
import { chooseWay } from "./asking-way.ts";
import { Chance } from "./chance.ts";
import { chooseDeed, chooseRivals } from "./choose.ts";
import { answerPlainly, heal } from "./heal.ts";
import { Ledger } from "./ledger.ts";
import { readAllNotes } from "./notes.ts";
import { People } from "./person.ts";
import { type Ask, PEOPLE, type RunPlan, makePlan } from "./plan.ts";
import { isObject } from "./reply.ts";
import { sayTrail } from "./report.ts";
import type { Sight } from "./predict.ts";
import { Stage } from "./stage.ts";
import { Trouble } from "./trouble.ts";
import { judgeRun } from "./verdict.ts";

/** How many do something at the same time, each to a run of its own. */
const LANES = 3;
const RUNS_AT_ONCE = 6;
/** A run costs as much as many steps: so many steps are done before the next is started. */
const RUN_STEPS = 20;
const ASKERS_AT_ONCE = 20;
/** After so many steps somebody looks whether there are enough runs and askers. */
const POPULATE_STEPS = 3;
const PROGRESS_STEPS = 1_000;
const RECENT = 40;
const BUSY_MS = 10;
const HEAL_IDLE_MS = 30_000;
const HEAL_MOST_MS = 240_000;

export interface WalkOptions {
  place: Place;
  variant: Variant;
  seed: number;
  steps: number;
  kill: boolean;
  /** What agents do, where it is not left to chance; then nobody asks outside of runs, and people only answer. */
  plan?: (tag: string) => RunPlan;
  /** Hears every so many steps how far it has come. */
  progress?: (walked: { steps: number; faults: number }) => void;
}

export interface Walked {
  ledger: Ledger;
  runs: number;
  questions: number;
  starts: number;
  healMs: number;
  /** What is known of a run in the end, for whoever wants to see how it came to a fault. */
  trailOf(runId: RunId): string[];
}

/** Lets people, agents and askers do at random whatever they can, and judges all that came of it. */
export async function walk(options: WalkOptions): Promise<Walked> {
  const stage = new Stage(options.place, options.variant);
  const walking = new Walk(stage, options);
  try {
    await stage.open();
    return await walking.walk();
  } finally {
    await walking.end();
    await stage.close();
    if (!process.env["ASKD_WALK_KEEP"]) stage.remove();
  }
}

class Walk {
  readonly #stage: Stage;
  readonly #options: WalkOptions;
  readonly #chance: Chance;
  readonly #ledger = new Ledger();
  readonly #people: People;
  readonly #trouble: Trouble;
  readonly #agents: string;
  readonly #askers: Asker[] = [];
  readonly #heard: Heard[] = [];
  readonly #asks = new Map<string, Ask>();
  /** Runs to which somebody does something right now. */
  readonly #busy = new Set<RunId>();
  #made = 0;
  #populateAt = 0;
  #runAt = 0;
  #progressAt = PROGRESS_STEPS;
  #isBroken = false;

  constructor(stage: Stage, options: WalkOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#chance = new Chance(options.seed);
    this.#people = new People(stage, this.#ledger);
    this.#trouble = new Trouble(stage, this.#ledger, this.#chance.fork());
    this.#agents = join(stage.root, "agents");
  }

  async walk(): Promise<Walked> {
    mkdirSync(this.#agents);
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => this.#walkLane()));
    for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
    await this.#trouble.end();
    await this.#settleAskers();
    const healMs = await heal(this.#stage, this.#people, { idleMs: HEAL_IDLE_MS, mostMs: HEAL_MOST_MS });
    return { ...(await this.#judge()), healMs, ledger: this.#ledger };
  }

  async #walkLane(): Promise<void> {
    while (this.#ledger.steps < this.#options.steps && !this.#isBroken) {
      try {
        if (this.#ledger.steps >= this.#populateAt) await this.#populate();
        await this.#step();
      } catch (error) {
        this.#isBroken = true; // the others end, too
        throw error;
      }
    }
  }

  async end(): Promise<void> {
    await this.#trouble.end();
  }

  /** There are always some runs and some askers. */
  async #populate(): Promise<void> {
    const { steps, faults } = this.#ledger;
    this.#populateAt = steps + POPULATE_STEPS;
    if (steps >= this.#progressAt) {
      this.#progressAt += PROGRESS_STEPS;
      this.#options.progress?.({ steps, faults: faults.length });
    }
    if (steps >= this.#runAt) await this.#mayStartRun(steps);
    if (this.#options.plan) return;
    const missing = ASKERS_AT_ONCE - this.#askers.filter(({ isOver }) => !isOver).length;
    for (let made = 0; made < missing; made += 1) this.#startAsker();
  }

  async #mayStartRun(steps: number): Promise<void> {
    this.#runAt = steps + (this.#options.plan || steps < RUN_STEPS * RUNS_AT_ONCE ? 1 : RUN_STEPS);
    const live = await this.#stage.store.listRuns({ statuses: [...LIVE_STATUSES], order: "newest", limit: 100 });
    const own = live.filter(({ giveBack }) => giveBack === "worker").length;
    if (own < RUNS_AT_ONCE) await this.#startRun();
  }

  async #startRun(): Promise<void> {
    const tag = `k${(this.#made += 1)}`;
    const plan = this.#options.plan?.(tag) ?? makePlan(tag, this.#chance.fork());
    const [planFile, notes] = ["plan", "notes"].map((name) => join(this.#agents, `${tag}.${name}`));
    if (!planFile || !notes) throw new Error("a file has no name");
    for (const { tag: name, ask } of plan.questions) this.#asks.set(name, ask);
    writeFileSync(planFile, JSON.stringify(plan));
    writeFileSync(notes, "");
    const { askd } = this.#stage;
    const command = [process.execPath, resolve("test", "agents", "walker.mjs"), planFile, notes, ...askd];
    const { exit, stdout, stderr } = await this.#stage.type(["run", "--json=id", "--name", tag, "--", ...command]);
    const made: unknown = exit === 0 ? JSON.parse(stdout) : undefined;
    const id = isObject(made) ? RunIdSchema.safeParse(made["id"]).data : undefined;
    this.#ledger.step(
      "run",
      id,
      `${tag} ${JSON.stringify(plan.questions.map(({ tag: name, door, lingerMs, leave }) => [name, door, lingerMs, leave]))}, ends ${plan.end}`,
    );
    if (!id) this.#ledger.fault("a run was not made", stderr);
  }

  #startAsker(): void {
    const tag = `s${(this.#made += 1)}`;
    const chance = this.#chance.fork();
    const asker = new Asker(tag, chooseWay(this.#stage, tag, chance), {
      stage: this.#stage,
      ledger: this.#ledger,
      chance,
      heard: this.#heard,
      asks: this.#asks,
    });
    this.#askers.push(asker);
    void asker.run();
  }

  async #step(): Promise<void> {
    const chance = this.#chance;
    const { kill, plan } = this.#options;
    if (plan) return this.#answerNext();
    const verb = chance.weighted({
      deed: 70,
      rivals: 3,
      resume: 4,
      cancel: 1,
      pause: 12,
      look: 1,
      server: 0.3,
      worker: 0.4,
      killServer: kill ? 0.4 : 0,
      killWorker: kill ? 1 : 0,
      stopWorker: kill ? 0.6 : 0,
      killAgent: kill ? 2 : 0,
    });
    if (verb === "deed") return this.#deed();
    if (verb === "rivals") return this.#rivals();
    if (verb === "resume" || verb === "cancel") return this.#runVerb(verb);
    if (verb === "pause") return sleep(chance.pick([30, 100, 300]));
    if (verb === "look") return this.#look();
    if (verb === "server") return this.#trouble.restartServer("SIGTERM");
    if (verb === "worker") return this.#trouble.restartWorker("SIGTERM");
    if (verb === "killServer") return this.#killWhileAnswering();
    if (verb === "killWorker") return this.#trouble.restartWorker("SIGKILL");
    if (verb === "stopWorker") return this.#trouble.stopWorker();
    return this.#trouble.killAgent(this.#agents);
  }

  async #answerNext(): Promise<void> {
    const waiting = await this.#stage.store.listQuestions({ status: "pending", order: "oldest", limit: RECENT });
    if (waiting.length === 0) return sleep(50);
    const question = this.#chance.pick(waiting);
    await this.#alone(question.runId, async () => {
      const sight = await this.#people.look(question.id);
      if (sight) await answerPlainly(sight, this.#people);
    });
  }

  async #deed(): Promise<void> {
    await this.#withQuestion(async (sight) => {
      const deed = chooseDeed(sight, this.#chance);
      const isKilled = this.#options.kill && deed.way !== "rest" && this.#chance.is(0.15);
      const kill = { afterMs: this.#chance.between(20, 250), signal: "SIGKILL" as const };
      await this.#people.do(deed, isKilled ? kill : undefined);
    });
  }

  /** Does something to a question while nobody else of this walk does anything to its run. */
  async #withQuestion(body: (sight: Sight) => Promise<void>): Promise<void> {
    const question = await this.#pick();
    if (!question) return sleep(50);
    await this.#alone(question.runId, async () => {
      const sight = await this.#people.look(question.id);
      if (sight) await body(sight);
    });
  }

  async #alone(runId: RunId, body: () => Promise<void>): Promise<void> {
    if (this.#busy.has(runId)) return sleep(BUSY_MS); // reading SQLite alone would leave the others no time
    this.#busy.add(runId);
    await body().finally(() => this.#busy.delete(runId));
  }

  /** A question that waits, more often than not; else one that was closed not long ago. */
  async #pick(): Promise<Question | undefined> {
    const { store } = this.#stage;
    const pending = await store.listQuestions({ status: "pending", order: "oldest", limit: RECENT });
    if (pending.length > 0 && this.#chance.is(0.8)) return this.#chance.pick(pending);
    const recent = await store.listQuestions({ order: "newest", limit: RECENT });
    return recent.length > 0 ? this.#chance.pick(recent) : undefined;
  }

  async #rivals(): Promise<void> {
    await this.#withQuestion(async ({ question, content }) => {
      const item = content.items[0];
      if (!item || question.status !== "pending") return;
      const deeds = chooseRivals(question.id, item, this.#chance);
      await Promise.all(deeds.map((deed) => this.#people.do(deed)));
    });
  }

  async #runVerb(verb: "resume" | "cancel"): Promise<void> {
    const { store } = this.#stage;
    const recent = await store.listRuns({ order: "newest", limit: RECENT });
    // Where there are many askers, an answer that was only stored is soon not among the newest.
    const parked = await store.listRuns({ statuses: ["awaiting_input"], order: "oldest", limit: 100 });
    const runs = [...recent, ...parked];
    const stored = runs.filter(
      (run) => run.owes.length > 0 && run.status === "awaiting_input" && run.pendingId === undefined,
    );
    const isPlain = verb === "cancel" || stored.length === 0 || this.#chance.is(0.2);
    const run = runs.length > 0 ? this.#chance.pick(isPlain ? runs : stored) : undefined;
    const way = this.#chance.weighted({ rest: 16, cli: 1, remote: 1 });
    const deed = {
      do: verb === "cancel" ? ("cancel run" as const) : ("resume run" as const),
      by: this.#chance.pick(PEOPLE),
      way,
    };
    if (run) await this.#alone(run.id, () => this.#people.doToRun({ ...deed, runId: run.id }));
  }

  /** Commands that only look say what is there and never fail. */
  async #look(): Promise<void> {
    const words = this.#chance.pick([["status"], ["list"], ["status", "--json"], ["runs", "list"], ["stats"]]);
    const { exit, stderr } = await this.#stage.type(words);
    this.#ledger.step("look", undefined, words.join(" "));
    if (exit !== 0) this.#ledger.fault(`askd ${words.join(" ")} failed`, `exit ${exit}: ${stderr}`);
  }

  async #killWhileAnswering(): Promise<void> {
    const killing = sleep(this.#chance.between(0, 30)).then(() => this.#trouble.restartServer("SIGKILL"));
    await this.#deed();
    await killing;
  }

  /** Askers go on until they were told what became of each of their questions. */
  async #settleAskers(): Promise<void> {
    const until = performance.now() + HEAL_MOST_MS;
    while (this.#askers.some(({ isOver }) => !isOver) && performance.now() < until) {
      await heal(this.#stage, this.#people, { idleMs: 300, mostMs: 2_000 });
      await sleep(100);
    }
    for (const { isOver, tag } of this.#askers)
      if (!isOver) this.#ledger.fault("an asker was never told what became of its question", tag);
  }

  async #judge(): Promise<Pick<Walked, "runs" | "questions" | "starts" | "trailOf">> {
    const ledger = this.#ledger;
    const all = await readAll(this.#stage.store);
    const notes = readAllNotes(this.#agents);
    for (const problem of findBroken(all))
      ledger.fault(problem.replace(/[qr]_\w{26}/g, "…").replace(/\[.*?\]/g, "[…]"), problem);
    for (const kept of all.kept) {
      const ids = new Set(kept.questions.map(({ id }) => id));
      const heard = this.#heard.filter(({ questionId }) => ids.has(questionId));
      judgeRun({ kept, lines: notes.get(kept.run.id) ?? [], heard, asks: this.#asks }, ledger);
    }
    const { exit, stdout, stderr } = await this.#stage.type(["audit", "--verify"]);
    if (exit !== 0) ledger.fault("audit --verify is not clean", `exit ${exit}: ${stdout}${stderr}`);
    for (const { pid, run } of this.#stage.listLeft())
      ledger.fault("a process of a run was left behind", `${pid} of ${run}`);
    const starts = [...notes.values()].flat().filter(({ is }) => is === "start").length;
    const trailOf = (runId: RunId): string[] => {
      const kept = all.kept.find(({ run }) => run.id === runId);
      return sayTrail({ kept, lines: notes.get(runId) ?? [] }, ledger, runId);
    };
    const questions = all.kept.reduce((sum, kept) => sum + kept.questions.length, 0);
    return { runs: all.kept.length, questions, starts, trailOf };
  }
}
