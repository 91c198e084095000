import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { build } from "esbuild";

/** A TypeScript file that can be started as a process, as often as needed. */
export interface Program {
  start(args: readonly string[], stdio: StdioOptions): ChildProcess;
  /** Takes the built file away. */
  remove(): void;
}

/** Builds a program from one of our files; its path is given from the root of the package. */
export async function buildProgram(file: string): Promise<Program> {
  // Inside the package, so that its dependencies are found.
  const outfile = resolve(".cache", "proof", `${basename(file, ".ts")}.${process.pid}.mjs`);
  await build({
    entryPoints: [resolve(file)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  return {
    start: (args, stdio) => spawn(process.execPath, [outfile, ...args], { stdio }),
    remove: () => rmSync(outfile, { force: true }),
  };
}

/** Ends that one process at once, as a power cut would, and waits until nothing of its output is left unread. */
export async function killHard(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  if (!child.kill("SIGKILL")) throw new Error("A process was gone before it was killed.");
  await closed;
}
