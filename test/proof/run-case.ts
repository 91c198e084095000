import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { keepLaunch, makeRunDir } from "../../src/agents/run-files.ts";
import { stopRun } from "../../src/agents/stop.ts";
import { type RunId, idsFrom } from "../../src/core/id.ts";
import { type Run, hasEnded } from "../../src/core/run.ts";
import type { LocalEngine } from "../../src/engine/local.ts";
import { ADA, AGENT } from "../builders.ts";
import { said } from "../scene.ts";
import { liveEngine } from "./live-engine.ts";
import { type Place, openStore } from "./place.ts";
import type { Program } from "./program.ts";
import { type Expected, checkRun, readNotes } from "./run-check.ts";
import type { WorkerTask } from "./run-task.ts";

const LOOK_MS = 20;
const BOUND_MS = 150_000;
const ANY_EPOCH = 1_000_000;

/** When the question of the agent is answered: while its hook holds it, while it is being parked, or after that. */
export type AnswerWhen = "held" | "parking" | "parked";

/** One thing that goes wrong in the life of a run. */
export interface RunCase {
  name: string;
  answer: AnswerWhen;
  worker?: WorkerTask["at"];
  /** Kills the worker so long after the answer, or after its start. */
  workerAfter?: { event: "start" | "answer"; ms: number };
  /** The step and start at which the agent kills itself: `recorded@2`. */
  agent?: string;
  /** When the hook of a start is killed: after milliseconds or with its output, `300@1` or `output@2`. */
  hook?: string;
  /** Kills the hook that runs as soon as the question is asked, or answered. */
  hookWhen?: "asked" | "answered";
  workMs?: number;
  /** Cancels the run when its agent works, or when its worker is gone. */
  cancel?: "working" | "orphaned";
}

export interface RunOutcome {
  name: string;
  status: string;
  starts: number;
  /** How long after a worker's death another one had the run. */
  reclaimMs: number | undefined;
  problems: string[];
}

/** Plays one run to its end, whatever happens to those who carry it, and looks whether all promises were kept. */
export async function playCase(program: Program, place: Place, play: RunCase): Promise<RunOutcome> {
  const root = mkdtempSync(join(tmpdir(), "askd-runs-"));
  const store = await openStore(place);
  const engine = liveEngine(store);
  const scene = new RunPlay({ program, place, play, root, engine });
  try {
    return await scene.play();
  } finally {
    await scene.clear();
    await engine.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

interface Worker {
  child: ChildProcess;
  steps: string[];
  isGone(): boolean;
}

class RunPlay {
  readonly #at: { program: Program; place: Place; play: RunCase; root: string; engine: LocalEngine };
  readonly #workers: Worker[] = [];
  readonly #runId: RunId = idsFrom(Date.now, randomBytes).run();
  #diedAtMs: number | undefined;
  #reclaimMs: number | undefined;
  #lost: Run["worker"];
  #answeredAtMs: number | undefined;
  #complaints = "";
  #hasKilledHook = false;

  constructor(at: { program: Program; place: Place; play: RunCase; root: string; engine: LocalEngine }) {
    this.#at = at;
  }

  async play(): Promise<RunOutcome> {
    const { play, engine, root } = this.#at;
    await this.#queue();
    this.#startWorker(play.worker);
    const startedAtMs = performance.now();
    let run = await this.#look();
    while (!(hasEnded(run) && run.worker === undefined) && performance.now() - startedAtMs < BOUND_MS) {
      await this.#answer(run);
      await this.#cancel(run);
      this.#watchWorkers(run, startedAtMs);
      await sleep(LOOK_MS);
      run = await this.#look();
    }
    const problems = await checkRun(engine, run, root, this.#expected());
    problems.push(...(await this.#wakeStopped()));
    problems.push(...(await this.#endWorkers()));
    problems.push(...(await engine.verify()).problems);
    const mayBeLate = play.worker?.step === "ended"; // the run is over then
    if (play.worker && !mayBeLate && this.#diedAtMs === undefined)
      problems.push(`no worker came to ${play.worker.step}`);
    const starts = run.epoch;
    const told = problems.length > 0 ? [...problems, this.#complaints] : [];
    return { name: play.name, status: run.status, starts, reclaimMs: this.#reclaimMs, problems: told };
  }

  /** Whatever became of the proof, nothing of the run stays behind. */
  async clear(): Promise<void> {
    for (const worker of this.#workers) if (!worker.isGone()) worker.child.kill("SIGKILL");
    const runDir = await makeRunDir(join(this.#at.root, "state"), this.#runId);
    await stopRun({ runId: this.#runId, runDir, lastEpoch: ANY_EPOCH, graceMs: 0 });
  }

  /** The run as `askd run` would queue it. */
  async #queue(): Promise<void> {
    const { root, place, play, engine } = this.#at;
    const [bin, home, dir, state] = ["bin", "home", "repo", "state"].map((name) => join(root, name));
    if (!bin || !home || !dir || !state) throw new Error("a folder has no name");
    for (const folder of [bin, home, dir, state]) mkdirSync(folder, { mode: 0o700 });
    const standIn = resolve("test", "agents", "claude.mjs");
    const claude = join(bin, "claude");
    writeFileSync(claude, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' "$@"\n`, { mode: 0o755 });
    const store = place.database === "sqlite" ? `sqlite:${place.address}` : place.address;
    const { workMs, agent: dieAt, hook: hookDies } = play;
    const env = {
      ...{ PATH: `${bin}:${process.env["PATH"] ?? "/usr/bin:/bin"}`, HOME: home, ASKD_HOME: join(root, "askd") },
      ASKD_STORE: store,
      STAND_IN: JSON.stringify({ folder: root, workMs, dieAt, hookDies }),
    };
    const options = { liveWindowMs: 1_000 };
    await keepLaunch(await makeRunDir(state, this.#runId), {
      ...{ agent: "claude", program: claude, args: ["-p"], prompt: "Add caching", dir, env, options },
    });
    await engine.createRun({ id: this.#runId, agent: "claude", host: hostname(), dir, giveBack: "worker" }, AGENT);
  }

  async #look(): Promise<Run> {
    const run = await this.#at.engine.findRun(this.#runId);
    if (!run) throw new Error("the run is not there");
    return run;
  }

  #startWorker(at?: WorkerTask["at"]): void {
    const { program, place, root } = this.#at;
    const task: WorkerTask = {
      ...{ place, stateDir: join(root, "state"), askd: [process.execPath, resolve("bin", "askd")] },
      ...(at && { at }),
    };
    const child = program.start([JSON.stringify(task)], ["ignore", "pipe", "pipe"]);
    const steps: string[] = [];
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => steps.push(line));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    this.#workers.push({ child, steps, isGone: () => child.exitCode !== null || child.signalCode !== null });
  }

  /** There is always a worker: after one's death, or its sleep, the next one comes. */
  #watchWorkers(run: Run, startedAtMs: number): void {
    const last = this.#workers.at(-1);
    const { workerAfter } = this.#at.play;
    const fromMs = workerAfter?.event === "answer" ? this.#answeredAtMs : startedAtMs;
    if (
      workerAfter &&
      fromMs !== undefined &&
      this.#workers.length === 1 &&
      performance.now() - fromMs > workerAfter.ms
    )
      last?.child.kill("SIGKILL");
    if (last?.isGone() || (this.#workers.length === 1 && last && isStopped(last))) {
      this.#diedAtMs = performance.now();
      this.#lost = run.worker;
      this.#startWorker();
    }
    const hasAnother = hasEnded(run) || (run.worker !== undefined && run.worker !== this.#lost);
    if (this.#diedAtMs !== undefined && this.#reclaimMs === undefined && hasAnother && !this.#at.play.cancel)
      this.#reclaimMs = performance.now() - this.#diedAtMs;
  }

  async #answer(run: Run): Promise<void> {
    const { engine, play } = this.#at;
    if (run.pendingId === undefined) return;
    const { question } = await engine.read(run.pendingId);
    if (question.status !== "pending") return;
    const isParking = question.hold === undefined;
    const isParked = isParking && run.status === "awaiting_input";
    if (play.hookWhen === "asked") this.#killHook();
    if (!{ held: true, parking: isParking, parked: isParked }[play.answer]) return;
    await engine.answer(question.id, said("Memcached"), ADA);
    this.#answeredAtMs = performance.now();
    if (play.hookWhen === "answered") this.#killHook();
  }

  async #cancel(run: Run): Promise<void> {
    const { play, engine, root } = this.#at;
    if (play.cancel === undefined || hasEnded(run)) return;
    const isWorking = readNotes(root).some(({ is }) => is === "start");
    const isDue = play.cancel === "working" ? isWorking : this.#workers.at(-1)?.isGone();
    if (isDue) await engine.cancelRun(run.id, ADA);
  }

  /** A hook that is killed may not have asked yet; of a run that is cancelled nothing is expected but that it is over. */
  #expected(): Expected {
    const { hook, cancel } = this.#at.play;
    return { status: cancel === undefined ? "completed" : "cancelled", mayAskNothing: hook !== undefined };
  }

  /** Kills the hook that was started last, with all that it started; once. */
  #killHook(): void {
    const hook = readNotes(this.#at.root).findLast(({ is }) => is === "hook")?.hook;
    if (this.#hasKilledHook || hook === undefined) return;
    this.#hasKilledHook = true;
    try {
      process.kill(-hook, "SIGKILL");
    } catch {
      // it ended by itself
    }
  }

  /** A worker that slept while another did its work starts nothing when it wakes. */
  async #wakeStopped(): Promise<string[]> {
    const stopped = this.#workers.find((worker) => !worker.isGone() && isStopped(worker));
    if (!stopped) return [];
    const before = stopped.steps.length;
    stopped.child.kill("SIGCONT");
    const until = performance.now() + 10_000;
    // Its job may be lost before it can take the run up.
    const isAwake = (): boolean => stopped.steps.slice(before).includes("lost") || isJobLost(this.#at.play);
    while (!isAwake() && performance.now() < until) await sleep(LOOK_MS);
    const steps = stopped.steps.slice(before);
    const run = await this.#look();
    return [
      ...(isAwake() && !steps.includes("started") ? [] : [`the worker that slept went on with ${steps.join(", ")}`]),
      ...(await checkRun(this.#at.engine, run, this.#at.root, this.#expected())),
    ];
  }

  async #endWorkers(): Promise<string[]> {
    const alive = this.#workers.filter((worker) => !worker.isGone());
    const ended = alive.map(async ({ child }) => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const won = await Promise.race([gone, sleep(15_000, "late", { ref: false })]);
      return won === "late" ? ["a worker did not end when it was told to"] : [];
    });
    return (await Promise.all(ended)).flat();
  }
}

function isJobLost({ worker }: RunCase): boolean {
  return worker?.step === "claimed" || worker?.step === "taking";
}

function isStopped({ child }: Worker): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8"));
  } catch {
    return false; // gone
  }
}
