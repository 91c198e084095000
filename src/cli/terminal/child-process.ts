import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Child, Detached } from "../context.ts";

const PIPED: StdioOptions = ["ignore", "pipe", "pipe"];

/** Runs a program to its end and passes its stderr on line by line. */
export function runChild(
  { argv, env = {}, cwd, stdio, onLine, input }: Child,
  parentEnv: Readonly<Record<string, string | undefined>>,
): Promise<{ exitCode: number; stdout: string }> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...parentEnv, ...env },
      cwd,
      stdio: stdio === "inherit" ? [input === undefined ? "inherit" : "pipe", "inherit", "inherit"] : PIPED,
    });
    // The reader may exit before the end of the input.
    child.stdin?.once("error", () => undefined).end(input);
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    if (child.stderr && onLine) createInterface({ input: child.stderr }).on("line", onLine);
    child.once("error", reject);
    child.once("close", (code) => resolve({ exitCode: code ?? 1, stdout }));
  });
}

/** Starts a program that outlives this one, detached from its terminal. */
export function detach({ argv, env, log }: Detached): void {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const out = openSync(log, "a", 0o600);
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  child.once("error", () => undefined); // its jobs stay due, and the next command starts it again
  child.unref();
}
