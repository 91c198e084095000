import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import type { Place } from "./place.ts";
import type { Program } from "./program.ts";
import type { WorkerTask } from "./run-task.ts";

const LOOK_MS = 20;
/** How long a worker that was woken may take to find out that another has the run. */
const AWAKE_MS = 3_000;

interface Worker {
  child: ChildProcess;
  steps: string[];
  isGone(): boolean;
}

/** The workers of one run: there is always one that is awake, and the first may die or sleep where it is told. */
export class Workers {
  readonly #program: Program;
  readonly #task: WorkerTask;
  readonly #all: Worker[] = [];
  #lostAtMs: number | undefined;
  #lost: Run["worker"];
  #takeoverMs: number | undefined;
  #complaints = "";

  constructor(program: Program, place: Place, stateDir: string) {
    this.#program = program;
    this.#task = { place, stateDir, askd: [process.execPath, resolve("bin", "askd")] };
  }

  /** How long after a worker's death or sleep another one followed the agent or started it; nothing if none had to. */
  get takeoverMs(): number | undefined {
    return this.#takeoverMs;
  }

  /** Says whether a worker came to where it was told to die or sleep. */
  get hasLost(): boolean {
    return this.#lostAtMs !== undefined;
  }

  get isOrphaned(): boolean {
    return this.#all.at(-1)?.isGone() ?? false;
  }

  /** What the workers had to say, but for what they always say. */
  get complaints(): string[] {
    return this.#complaints.split("\n").filter((line) => line !== "" && !line.includes(": added: "));
  }

  start(at?: WorkerTask["at"]): void {
    const child = this.#program.start(
      [JSON.stringify({ ...this.#task, ...(at && { at }) })],
      ["ignore", "pipe", "pipe"],
    );
    const steps: string[] = [];
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => steps.push(line));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    this.#all.push({ child, steps, isGone: () => child.exitCode !== null || child.signalCode !== null });
  }

  /** Kills the first worker, if it is still the only one. */
  killFirst(): void {
    if (this.#all.length === 1) this.#all[0]?.child.kill("SIGKILL");
  }

  /** After a worker's death, or its sleep, the next one comes; how long until it has the run is measured. */
  watch(run: Run, wakeAfterMs: number | undefined): void {
    const last = this.#all.at(-1);
    const isAsleep = this.#all.length === 1 && last !== undefined && isStopped(last);
    if (last?.isGone() || isAsleep) {
      this.#lostAtMs ??= performance.now();
      this.#lost = run.worker;
      this.start();
      if (isAsleep && wakeAfterMs !== undefined) void this.#wakeLater(last, wakeAfterMs);
    }
    if (this.#lostAtMs === undefined || this.#takeoverMs !== undefined) return;
    const isTaken = run.worker !== undefined && run.worker !== this.#lost;
    if (isTaken || hasEnded(run)) this.#takeoverMs = performance.now() - this.#lostAtMs;
  }

  /** A worker that slept for less than it takes to be missed still has its run. */
  async #wakeLater({ child }: Worker, ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false });
    this.#takeoverMs ??= ms;
    child.kill("SIGCONT");
  }

  /** Wakes the worker that sleeps and says what it did then; nothing if none sleeps. */
  async wake(): Promise<string[] | undefined> {
    const stopped = this.#all.find((worker) => !worker.isGone() && isStopped(worker));
    if (!stopped) return undefined;
    const before = stopped.steps.length;
    stopped.child.kill("SIGCONT");
    const until = performance.now() + AWAKE_MS;
    // It says so when it finds that the run is not its own any more, unless it had nothing left to do.
    const isDone = (): boolean => stopped.steps.slice(before).some((step) => step === "lost" || step === "ended");
    while (!isDone() && performance.now() < until) await sleep(LOOK_MS);
    return stopped.steps.slice(before);
  }

  async end(): Promise<string[]> {
    const alive = this.#all.filter((worker) => !worker.isGone());
    const ended = alive.map(async ({ child }) => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const won = await Promise.race([gone, sleep(15_000, "late", { ref: false })]);
      return won === "late" ? ["a worker did not end when it was told to"] : [];
    });
    return (await Promise.all(ended)).flat();
  }

  killAll(): void {
    for (const worker of this.#all) if (!worker.isGone()) worker.child.kill("SIGKILL");
  }
}

function isStopped({ child }: Worker): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8"));
  } catch {
    return false; // gone
  }
}
