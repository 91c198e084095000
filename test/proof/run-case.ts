import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { saveLaunch, makeRunDir } from "../../src/agents/runner/run-files.ts";
import { stopRun } from "../../src/agents/process/stop.ts";
import { type RunId, idsFrom } from "../../src/core/id.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { ADA, AGENT } from "../builders.ts";
import { said } from "../scene.ts";
import { liveEngine } from "./live-engine.ts";
import { type Place, openStore } from "./place.ts";
import type { Program } from "./program.ts";
import { type AgentCase, folderIn, makeLaunch, notesIn } from "./run-agent.ts";
import { type Expected, checkRun, checkScripted, readNotes } from "./run-check.ts";
import type { WorkerTask } from "./run-task.ts";
import { Workers } from "./run-workers.ts";
import { readNotes as readAccount } from "./walk/notes.ts";

const LOOK_MS = 20;
const BOUND_MS = 150_000;
const ANY_EPOCH = 1_000_000;
/** The longest that a run may be without a worker that follows its agent or starts it. */
const TAKEOVER_MS = 20_000;

/** When a question is answered: while its call is held, while its agent is on its way out, or after that. */
export type AnswerWhen = "held" | "parking" | "parked";

/** One thing that goes wrong in the life of a run. */
export interface RunCase extends AgentCase {
  name: string;
  answer: AnswerWhen;
  worker?: WorkerTask["at"];
  /** Kills the worker so long after the answer, or after its start. */
  workerAfter?: { event: "start" | "answer"; ms: number };
  /** Lets a worker that was stopped go on after so long; without it, when the run is over. */
  wakeAfterMs?: number;
  /** Kills the hook that runs as soon as the question is asked, or answered. */
  hookWhen?: "asked" | "answered";
  /** Cancels the run when its agent works, or when its worker is gone. */
  cancel?: "working" | "orphaned";
}

export interface RunOutcome {
  name: string;
  status: string;
  starts: number;
  /** How long after a worker's death or sleep another one had the run. */
  takeoverMs: number | undefined;
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

class RunPlay {
  readonly #at: { program: Program; place: Place; play: RunCase; root: string; engine: LocalEngine };
  readonly #workers: Workers;
  readonly #runId: RunId = idsFrom(Date.now, randomBytes).run();
  #answeredAtMs: number | undefined;
  #hasKilledHook = false;

  constructor(at: { program: Program; place: Place; play: RunCase; root: string; engine: LocalEngine }) {
    this.#at = at;
    this.#workers = new Workers(at.program, at.place, folderIn(at.root, "state"));
  }

  async play(): Promise<RunOutcome> {
    const { play, engine } = this.#at;
    await this.#queue();
    this.#workers.start(play.worker);
    const startedAtMs = performance.now();
    let run = await this.#look();
    while (!(hasEnded(run) && run.worker === undefined) && performance.now() - startedAtMs < BOUND_MS) {
      await this.#answer(run);
      await this.#cancel(run);
      this.#killWorker(startedAtMs);
      this.#workers.watch(run, play.wakeAfterMs);
      await sleep(LOOK_MS);
      run = await this.#look();
    }
    const problems = await this.#check(run);
    problems.push(...(await this.#wakeStopped()));
    problems.push(...(await this.#workers.end()));
    problems.push(...(await engine.verify()).problems);
    problems.push(...this.#checkTakeover());
    const { takeoverMs, complaints } = this.#workers;
    const told = problems.length > 0 ? [...problems, ...complaints] : [];
    return { name: play.name, status: run.status, starts: run.epoch, takeoverMs, problems: told };
  }

  /** Whatever became of the proof, nothing of the run stays behind. */
  async clear(): Promise<void> {
    this.#workers.killAll();
    const runDir = await makeRunDir(folderIn(this.#at.root, "state"), this.#runId);
    await stopRun({ runId: this.#runId, runDir, lastEpoch: ANY_EPOCH, graceMs: 0 });
  }

  /** The run as `askd run` would queue it. */
  async #queue(): Promise<void> {
    const { root, place, play, engine } = this.#at;
    const launch = makeLaunch(root, play, place);
    const state = folderIn(root, "state");
    await saveLaunch(await makeRunDir(state, this.#runId), launch);
    const { agent, dir } = launch;
    await engine.createRun({ id: this.#runId, agent, host: ensureMachineId(state), dir, giveBack: "worker" }, AGENT);
  }

  async #look(): Promise<Run> {
    const run = await this.#at.engine.findRun(this.#runId);
    if (!run) throw new Error("the run is not there");
    return run;
  }

  /** What the agent itself says of the run, by the account of whichever it was. */
  async #check(run: Run): Promise<string[]> {
    const { engine, root, play } = this.#at;
    if (!play.plan) return checkRun(engine, run, root, this.#expected());
    return checkScripted(engine, run, readAccount(notesIn(root)));
  }

  #killWorker(startedAtMs: number): void {
    const { workerAfter } = this.#at.play;
    const fromMs = workerAfter?.event === "answer" ? this.#answeredAtMs : startedAtMs;
    if (workerAfter && fromMs !== undefined && performance.now() - fromMs > workerAfter.ms) this.#workers.killFirst();
  }

  async #answer(run: Run): Promise<void> {
    const { engine, play } = this.#at;
    if (run.pendingId === undefined) return;
    const { question, content } = await engine.read(run.pendingId);
    if (question.status !== "pending") return;
    const isParking = question.hold === undefined;
    const isParked = isParking && run.status === "awaiting_input";
    if (play.hookWhen === "asked") this.#killHook();
    if (!{ held: true, parking: isParking, parked: isParked }[play.answer]) return;
    const word = content.items[0]?.options.at(-1)?.value ?? "go on";
    await engine.answer(question.id, said(word), ADA);
    this.#answeredAtMs ??= performance.now();
    if (play.hookWhen === "answered") this.#killHook();
  }

  async #cancel(run: Run): Promise<void> {
    const { play, engine, root } = this.#at;
    if (play.cancel === undefined || hasEnded(run)) return;
    const isWorking = readNotes(root).some(({ is }) => is === "start");
    const isDue = play.cancel === "working" ? isWorking : this.#workers.isOrphaned;
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
    const steps = await this.#workers.wake();
    if (!steps) return [];
    return [
      ...(steps.includes("started") ? [`the worker that slept went on with ${steps.join(", ")}`] : []),
      ...(await this.#check(await this.#look())),
    ];
  }

  #checkTakeover(): string[] {
    const { play } = this.#at;
    const { takeoverMs, hasLost } = this.#workers;
    const mayBeLate = play.worker?.step === "ended"; // the run is over then
    const isSlow = takeoverMs !== undefined && takeoverMs >= TAKEOVER_MS;
    return [
      ...(play.worker && !mayBeLate && !hasLost ? [`no worker came to ${play.worker.step}`] : []),
      ...(isSlow ? [`the run was without a worker for ${(takeoverMs / 1000).toFixed(1)} s`] : []),
    ];
  }
}
