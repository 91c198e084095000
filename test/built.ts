import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { removeFolder } from "./remove-folder.ts";
import { until } from "./run-dir.ts";

/** The program as people start it; `npm test` builds it first. */
export const BIN = fileURLToPath(new URL("../bin/askd", import.meta.url));
const BOUND_MS = 60_000;

/** How a command ended, and what it printed, byte by byte. */
export interface Ended {
  exit: number | null;
  stdout: Buffer;
  stderr: string;
}

interface Input {
  text: string;
  until?: string;
}

/** A home of its own with a project in it, for the built program; every process of it is gone when the test ends. */
export class BuiltScene {
  readonly home = mkdtempSync(join(tmpdir(), "askd-built-"));
  readonly project = join(this.home, "project");

  constructor() {
    mkdirSync(this.project);
    onTestFinished(async () => {
      await this.endWorkers();
      await removeFolder(this.home);
    });
  }

  /** Writes a program into the project. */
  program(name: string, text: string): string {
    const file = join(this.project, name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  }

  type(...argv: string[]): Promise<Ended> {
    return this.typeWith({}, ...argv);
  }

  /** Types a command with these variables on top. */
  typeWith(env: Readonly<Record<string, string>>, ...argv: string[]): Promise<Ended> {
    return this.#start(env, argv).ended;
  }

  /** Types a command that reads this text; its input ends at once, or when the command has written these words. */
  typeInto(input: Input, env: Readonly<Record<string, string>>, ...argv: string[]): Promise<Ended> {
    return this.#start(env, argv, input).ended;
  }

  /** Types a command and lets the test read what it says before it ends. */
  follow(...argv: string[]): { ended: Promise<Ended>; stderr(): string } {
    return this.#start({}, argv);
  }

  #start(env: Readonly<Record<string, string>>, argv: readonly string[], input?: Input) {
    const own = { PATH: process.env["PATH"], HOME: this.home, ASKD_HOME: this.home };
    const child = spawn(process.execPath, [BIN, ...argv], {
      cwd: this.project,
      env: { ...own, ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout: BOUND_MS,
    });
    child.stdin?.write(input?.text);
    if (input?.until === undefined) child.stdin?.end();
    const stdout: Buffer[] = [];
    let stderr = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      stdout.push(bytes);
      if (input?.until !== undefined && Buffer.concat(stdout).includes(input.until)) child.stdin?.end();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = new Promise<Ended>((resolve) => {
      child.once("close", (exit) => resolve({ exit, stdout: Buffer.concat(stdout), stderr }));
    });
    return { ended, stderr: () => stderr };
  }

  /** What `show --json` says of a run. */
  async show(run: string): Promise<Record<string, unknown>> {
    const shown: Record<string, unknown> = JSON.parse((await this.type("show", run, "--json")).stdout.toString("utf8"));
    return shown;
  }

  /** What the mirror of a run says, as soon as it says this status. */
  async state(run: string, status: string): Promise<Record<string, unknown>> {
    const file = join(this.project, ".askd/runs", run, "state.json");
    return until(`state.json of run ${run} says ${status}`, () => {
      const state: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
      return state["status"] === status ? state : undefined;
    });
  }

  /** The workers of this home that go on in the background, by their process ids. */
  workers(): number[] {
    const listed = execFileSync("ps", ["-A", "-ww", "-o", "pid=,args="], { encoding: "utf8" });
    return listed
      .split("\n")
      .filter((line) => line.includes(`sqlite:${this.home}/`))
      .map((line) => Number.parseInt(line, 10));
  }

  /** Stops the workers in the background. */
  async endWorkers(): Promise<void> {
    for (const pid of this.workers()) {
      try {
        process.kill(pid, "SIGTERM");
      } catch {
        // It ended by itself.
      }
    }
    await until("the workers are gone", () => this.workers().length === 0);
  }
}
