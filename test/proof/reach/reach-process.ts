import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Program } from "../program.ts";
import type { ReachTask } from "./reach-task.ts";
import type { StopPoint } from "./stop-point.ts";

const BOUND_MS = 300_000; // a busy machine may take long to start a program

/** A process that brings messages and can be told to die. */
export interface DyingProcess {
  /** What it had to say. */
  readonly complaints: string[];
  start(task: ReachTask): Promise<void>;
  /** Tells the process where to die. */
  arm(point: StopPoint): Promise<void>;
  /** Comes back when the process is dead; false if it never came to that point. */
  died(): Promise<boolean>;
  /** Ends it in the end. */
  end(): Promise<string[]>;
}

/** The process that brings messages: it dies where it is told, and then the next one starts. */
export class ReachProcess implements DyingProcess {
  readonly #program: Program;
  #child: ChildProcess | undefined;
  #lines: string[] = [];
  #complaints = "";

  constructor(program: Program) {
    this.#program = program;
  }

  get complaints(): string[] {
    return this.#complaints.split("\n").filter((line) => line !== "");
  }

  async start(task: ReachTask): Promise<void> {
    const child = this.#program.start([JSON.stringify(task)], ["pipe", "pipe", "pipe"]);
    this.#child = child;
    this.#lines = [];
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => this.#lines.push(line));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    await this.#until(() => this.#lines.includes("READY"), "a process starts");
  }

  async arm(point: StopPoint): Promise<void> {
    this.#child?.stdin?.write(`${point}\n`);
    await this.#until(() => this.#lines.includes(`ARMED ${point}`), "a process is told where to die");
  }

  async died(): Promise<boolean> {
    const child = this.#child;
    const until = performance.now() + BOUND_MS;
    while (child && child.signalCode === null && performance.now() < until) await sleep(5);
    return child?.signalCode === "SIGKILL";
  }

  /** Ends the process as a service manager would. */
  async end(): Promise<string[]> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return [];
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    const won = await Promise.race([gone, sleep(15_000, "late", { ref: false })]);
    if (won !== "late") return [];
    child.kill("SIGKILL");
    return ["a process did not end when it was told to"];
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    const until = performance.now() + BOUND_MS;
    while (!isSo()) {
      if (performance.now() > until || this.#child?.exitCode !== null)
        throw new Error(`${what}: it did not\n${this.#complaints}`);
      await sleep(5);
    }
  }
}
