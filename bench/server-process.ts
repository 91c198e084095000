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
  call(what: string): Promise<number> {
    return new Promise((resolve) => {
      this.#child.once("message", (value) => resolve(Number(value)));
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

/** The other side: says where it listens, and replies numbers. */
export function serving(ready: { port: number; token: string }, calls: Record<string, () => Promise<number>>): void {
  const all: Record<string, () => Promise<number>> = {
    memory: async () => memoryBytes(),
    cpu: async () => cpuMs(),
    ...calls,
  };
  process.on("message", (what) => {
    void all[String(what)]?.().then((value) => process.send?.(value));
  });
  process.once("disconnect", () => process.exit()); // nobody is left to measure anything
  process.send?.(ready);
}

function memoryBytes(): number {
  for (let n = 0; n < 3; n += 1) globalThis.gc?.();
  return process.memoryUsage().rss;
}

/** Does not grow while others have the processor. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
