import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import type { Ledger } from "./ledger.ts";
import { readNotes } from "./notes.ts";
import type { Stage } from "./stage.ts";

const STOP_MS = [200, 800, 2_500];
/** Of so many agents that were made last, some are alive. */
const NEWEST = 12;

/** Restarts what is there, and with `kill` ends and stops it without asking. */
export class Trouble {
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  readonly #chance: Chance;
  readonly #waking: Array<Promise<void>> = [];
  #restarting = Promise.resolve();

  constructor(stage: Stage, ledger: Ledger, chance: Chance) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#chance = chance;
  }

  /** Ends the server and starts it again; sometimes the new one does the work of a worker too. */
  async restartServer(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#restarting = this.#restarting.then(() => this.#restart(signal));
    await this.#restarting;
  }

  async #restart(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#ledger.step(signal === "SIGTERM" ? "restart server" : "kill server", undefined, signal);
    if (!(await this.#stage.server?.end(signal))) this.#ledger.fault("a server did not end", signal);
    await this.#stage.startServer({ hasWorker: this.#chance.is(0.25) });
  }

  /** Ends the worker; the stage starts another. */
  async restartWorker(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#ledger.step(signal === "SIGTERM" ? "restart worker" : "kill worker", undefined, signal);
    const ended = await this.#stage.worker?.end(signal);
    if (ended === false) this.#ledger.fault("a worker did not end", signal);
  }

  /** Lets the worker sleep for a while. */
  stopWorker(): void {
    const { worker } = this.#stage;
    if (!worker || worker.isGone || worker.isStopped) return;
    const ms = this.#chance.pick(STOP_MS);
    this.#ledger.step("stop worker", undefined, `${ms} ms`);
    worker.signal("SIGSTOP");
    this.#waking.push(sleep(ms).then(() => worker.signal("SIGCONT")));
  }

  /** Sends a signal to some agent that is alive. */
  killAgent(folder: string): void {
    const names = readdirSync(folder).filter((name) => name.endsWith(".notes"));
    const newest = names.toSorted((one, other) => numberOf(other) - numberOf(one)).slice(0, NEWEST);
    const name = newest.length > 0 ? this.#chance.pick(newest) : undefined;
    const last = name && readNotes(join(folder, name)).at(-1);
    if (!last || last.is === "end" || !isWalker(last.pid, name)) return;
    const signal = this.#chance.pick(["SIGKILL", "SIGTERM", "SIGSTOP"] as const);
    this.#ledger.step("signal agent", last.run, `${signal} to ${last.pid}`);
    if (!send(last.pid, signal) || signal !== "SIGSTOP") return;
    const ms = this.#chance.pick(STOP_MS);
    this.#waking.push(sleep(ms).then(() => void (isWalker(last.pid, name) && send(last.pid, "SIGCONT"))));
  }

  /** Waits until everything that was stopped goes on. */
  async end(): Promise<void> {
    await Promise.all(this.#waking);
  }
}

/** `k12.notes` is the twelfth. */
function numberOf(name: string): number {
  return Number.parseInt(name.slice(1), 10);
}

function isWalker(pid: number, name: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name);
  } catch {
    return false; // gone
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // gone
  }
}
