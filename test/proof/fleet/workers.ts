import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { RunId, WorkerId } from "../../../src/core/id.ts";
import type { Run } from "../../../src/core/run/run.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Chance } from "../walk/chance.ts";

const SOON_MS = [300, 3_000] as const;
/** Long enough for a takeover from a worker that is dead. */
const LATER_MS = [5_000, 10_000] as const;
/** Shorter and longer than it takes until a worker that is silent is taken for gone. */
const STOPPED_MS = [1_000, 30_000] as const;
/** How long a worker that was refused waits until it is started again. */
const AGAIN_MS = 1_000;
const END_MS = 20_000;

const USUAL = /^Working\.|^#\d+: added:/;

const WorkerRow = z.looseObject({ process: z.looseObject({ pid: z.int() }) });

/** A run whose worker was killed or stopped, and since when another worker stands by. */
interface Lost {
  worker: WorkerId;
  pid: number;
  sinceMs: number;
}

export interface FleetWorkersDeps {
  store: Store;
  env: Record<string, string>;
  chance: Chance;
  /** How many workers are killed or stopped. */
  disruptions: number;
}

/** Workers of one store that are killed, or stopped and continued, at random moments; one always takes over. */
export class FleetWorkers {
  readonly #deps: FleetWorkersDeps;
  readonly #alive = new Set<ChildProcess>();
  readonly #stopped = new Map<ChildProcess, NodeJS.Timeout>();
  readonly #lost = new Map<RunId, Lost>();
  #current: ChildProcess | undefined;
  #left: number;
  #nextAtMs = Number.POSITIVE_INFINITY;
  /** What they said, but for what they always say. */
  readonly complaints: string[] = [];
  kills = 0;
  stops = 0;
  slowestMs = 0;

  constructor(deps: FleetWorkersDeps) {
    this.#deps = deps;
    this.#left = deps.disruptions;
  }

  async begin(): Promise<void> {
    await this.#start();
    this.#plan();
  }

  /** Kills or stops a worker if that is due, and sees which runs have found another. */
  async look(runs: readonly Run[]): Promise<void> {
    this.#seeTakeovers(runs);
    if (this.#current === undefined) await this.#start();
    if (this.#current === undefined || this.#left === 0 || performance.now() < this.#nextAtMs) return;
    this.#left -= 1;
    await this.#disrupt(this.#current, runs);
    await this.#start();
    this.#plan();
  }

  /** Ends all of them by a signal that they obey; what stays is a fault. */
  async end(): Promise<string[]> {
    for (const child of this.#stopped.keys()) this.#continue(child);
    const ended = [...this.#alive].map(async (child) => {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      const won = await Promise.race([exit, sleep(END_MS, "late", { ref: false })]);
      if (won === "late") child.kill("SIGKILL");
      return won === "late" ? ["a worker did not end when it was told to"] : [];
    });
    return (await Promise.all(ended)).flat();
  }

  #plan(): void {
    const [least, most] = this.#deps.chance.is(0.5) ? SOON_MS : LATER_MS;
    this.#nextAtMs = performance.now() + this.#deps.chance.between(least, most);
  }

  /** Starts a worker; while one that is stopped has the lock of the store, it ends at once and is tried again. */
  async #start(): Promise<void> {
    const child = spawn(process.execPath, [resolve("bin", "askd"), "worker"], {
      env: this.#deps.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#alive.add(child);
    child.once("exit", () => {
      this.#alive.delete(child);
      if (this.#current === child) this.#current = undefined;
    });
    const isWorking = await new Promise<boolean>((done) => {
      child.once("exit", () => done(false));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        this.complaints.push(...text.split("\n").filter((line) => line !== "" && !USUAL.test(line)));
        if (text.includes("Working.")) done(true);
      });
    });
    if (!isWorking) return sleep(AGAIN_MS);
    this.#current = child;
    this.#standBy();
    return undefined;
  }

  async #disrupt(child: ChildProcess, runs: readonly Run[]): Promise<void> {
    const { chance } = this.#deps;
    const carried = await this.#carriedBy(child, runs);
    this.#current = undefined;
    if (chance.is(0.6)) {
      this.kills += 1;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    } else {
      this.stops += 1;
      child.kill("SIGSTOP");
      // By itself: while it is stopped in the middle of a write, whoever looks at the store may have to wait for it.
      this.#stopped.set(
        child,
        setTimeout(() => this.#continue(child), chance.between(...STOPPED_MS)),
      );
    }
    for (const [id, worker] of carried) this.#lost.set(id, { worker, pid: child.pid ?? 0, sinceMs: performance.now() });
  }

  /** A worker that slept goes on with what nobody took over. */
  #continue(child: ChildProcess): void {
    clearTimeout(this.#stopped.get(child));
    this.#stopped.delete(child);
    child.kill("SIGCONT");
    this.#current ??= child;
    for (const [id, { pid }] of this.#lost) if (pid === child.pid) this.#lost.delete(id);
    this.#standBy();
  }

  /** From now on a worker is there that can take over what was lost. */
  #standBy(): void {
    for (const lost of this.#lost.values()) lost.sinceMs = performance.now();
  }

  async #carriedBy({ pid }: ChildProcess, runs: readonly Run[]): Promise<Array<[RunId, WorkerId]>> {
    const found = runs.map(async ({ id, worker }): Promise<Array<[RunId, WorkerId]>> => {
      const row = worker && WorkerRow.safeParse((await this.#deps.store.findEntry("worker", worker))?.body);
      return worker && row?.data?.process.pid === pid ? [[id, worker]] : [];
    });
    return (await Promise.all(found)).flat();
  }

  #seeTakeovers(runs: readonly Run[]): void {
    for (const { id, worker } of runs) {
      const lost = this.#lost.get(id);
      if (!lost || worker === lost.worker) continue;
      this.#lost.delete(id);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - lost.sinceMs);
    }
  }
}
