import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A server in a process of its own, so that its memory and its time are its alone. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly url: string;
  readonly token: string;

  private constructor(child: ChildProcess, directory: string, ready: { port: number; token: string }) {
    this.#child = child;
    this.#directory = directory;
    this.url = `http://127.0.0.1:${ready.port}`;
    this.token = ready.token;
  }

  /** Starts the program that runs now once more, as this kind of server. */
  static async start(kind: string): Promise<ServerProcess> {
    const directory = mkdtempSync(join(tmpdir(), "askd-bench-"));
    const child = fork(process.argv[1] ?? "", ["serve", kind, directory], { execArgv: ["--expose-gc"] });
    const ready = await new Promise<unknown>((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    return new ServerProcess(child, directory, ready as { port: number; token: string }); // what serving says first
  }

  /** Asks the server for a number. */
  async call(what: string): Promise<number> {
    return Number(await this.#ask(what));
  }

  /** When the server said that each question was answered: at its commit, where there is one. */
  async answered(): Promise<Map<string, number>> {
    return new Map((await this.#ask("answered")) as Array<[string, number]>); // of this name in Calls
  }

  #ask(what: string): Promise<unknown> {
    return new Promise((resolve) => {
      this.#child.once("message", resolve);
      this.#child.send(what);
    });
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill();
    await ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** What can be asked of a server: numbers, or when each question was answered. */
export type Calls = Record<string, () => Promise<number | Array<[string, number]>>>;

/** The other side: says where it listens, and replies numbers. */
export function serving(ready: { port: number; token: string }, calls: Calls): void {
  const all: Calls = {
    memory: async () => memoryBytes().rss,
    heap: async () => heapBytes(),
    cpu: async () => cpuMs(),
    ...calls,
  };
  process.on("message", (what) => {
    void all[String(what)]?.().then((value) => process.send?.(value));
  });
  process.once("disconnect", () => process.exit()); // nobody is left to measure anything
  process.send?.(ready);
}

function memoryBytes(): NodeJS.MemoryUsage {
  for (let n = 0; n < 3; n += 1) globalThis.gc?.();
  return process.memoryUsage();
}

/** What is in use, without what the system has lent and not taken back. */
function heapBytes(): number {
  const { heapUsed, external } = memoryBytes();
  return heapUsed + external;
}

/** Does not grow while others have the processor. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
