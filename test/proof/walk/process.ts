import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const END_MS = 20_000;

export interface Typed {
  exit: number | string;
  stdout: string;
  stderr: string;
}

/** Types a command and waits for its end; it can be ended by a signal after some time. */
export async function typeCommand(
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd: string; input?: string; kill?: { afterMs: number; signal: NodeJS.Signals } },
): Promise<Typed> {
  const [program = "", ...args] = argv;
  const { env, cwd, input = "", kill } = options;
  const child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const timer = kill && setTimeout(() => child.kill(kill.signal), kill.afterMs);
  const closed = new Promise<Typed>((resolve) =>
    child.on("close", (code, signal) => resolve({ exit: code ?? signal ?? "gone", stdout, stderr })),
  );
  return closed.finally(() => clearTimeout(timer));
}

/** A process that is there for long: a server or a worker. */
export class Daemon {
  readonly child: ChildProcess;
  /** Resolves with its first line, or with nothing if it ends before. */
  readonly ready: Promise<string | undefined>;
  isStopped = false;

  constructor(argv: readonly string[], at: { env: NodeJS.ProcessEnv; cwd: string; log: string; ready: RegExp }) {
    const [program = "", ...args] = argv;
    this.child = spawn(program, args, { env: at.env, cwd: at.cwd, stdio: ["ignore", "pipe", "pipe"] });
    const { child } = this;
    this.ready = new Promise((resolve) => {
      let said = "";
      const hear = (text: string): void => {
        said = `${said}${text}`.slice(-10_000);
        appendFileSync(at.log, text);
        const found = at.ready.exec(said);
        if (found) resolve(found[0]);
      };
      child.stdout?.setEncoding("utf8").on("data", hear);
      child.stderr?.setEncoding("utf8").on("data", hear);
      child.on("close", () => resolve(undefined));
    });
  }

  get isGone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
    if (name === "SIGSTOP") this.isStopped = true;
    if (name === "SIGCONT") this.isStopped = false;
  }

  /** Ends it; says false if it did not end in time when it was told to. */
  async end(name: "SIGTERM" | "SIGKILL"): Promise<boolean> {
    if (this.isGone) return true;
    const gone = once(this.child, "close"); // nothing of its output is left unread
    this.signal(name);
    const won = await Promise.race([gone, sleep(END_MS, "late", { ref: false })]);
    if (won === "late") this.child.kill("SIGKILL");
    return won !== "late";
  }
}
