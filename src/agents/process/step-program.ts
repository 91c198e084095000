import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const KEPT_BYTES = 64 * 1024;
const GRACE_MS = 5_000;
const NOT_FOUND = 127;
/** Shells add this to the number of the signal that ended a program. */
const SIGNALLED = 128;

interface StepProgram {
  argv: readonly string[];
  dir: string;
  env: Readonly<Record<string, string>>;
  input?: string | undefined;
  signal: AbortSignal;
}

/**
 * Runs a program to its end in a process group of its own, without a shell, and keeps the end of its output. An abort
 * ends the whole group; the caller sees it at its signal.
 */
export async function runStepProgram({ argv, dir, env, input = "", signal }: StepProgram): Promise<{
  exitCode: number;
  stdout: string;
  stderr: string;
}> {
  signal.throwIfAborted();
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: dir, env: { ...env }, detached: true, stdio: "pipe" });
  const stdout = new OutputEnd();
  const stderr = new OutputEnd();
  child.stdout.on("data", (chunk: Buffer) => stdout.add(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.add(chunk));
  // A program that does not read its input may end before all of it is written.
  child.stdin.once("error", () => undefined).end(input);
  const stop = () => void stopGroup(child.pid);
  signal.addEventListener("abort", stop);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? resolve(NOT_FOUND) : reject(error),
      );
      child.once("close", (code, name) => resolve(code ?? (name === "SIGKILL" ? SIGNALLED + 9 : SIGNALLED + 15)));
    });
    const isMissing = exitCode === NOT_FOUND && child.pid === undefined;
    return { exitCode, stdout: stdout.text, stderr: isMissing ? `There is no program ${program}` : stderr.text };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Ends a process group: politely first. */
async function stopGroup(pid: number | undefined) {
  if (pid === undefined) return;
  signalGroup(pid, "SIGTERM");
  for (let waitedMs = 0; waitedMs < GRACE_MS && signalGroup(pid, 0); waitedMs += 50) await sleep(50);
  signalGroup(pid, "SIGKILL");
}

function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false; // it is gone
  }
}

/** The last part of an output. */
class OutputEnd {
  #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // Not for every chunk: joining costs as much as reading.
    if (this.#bytes > 4 * KEPT_BYTES) this.#cut();
  }

  get text(): string {
    this.#cut();
    return this.#chunks[0]?.toString("utf8") ?? "";
  }

  #cut(): void {
    const kept = Buffer.concat(this.#chunks).subarray(-KEPT_BYTES);
    this.#chunks = [Buffer.from(kept)];
    this.#bytes = kept.length;
  }
}
