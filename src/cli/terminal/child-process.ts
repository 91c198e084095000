import { type StdioOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Child } from "../context.ts";

const PIPED: StdioOptions = ["ignore", "pipe", "pipe"];

/** Runs a program to its end; what it says on stderr is passed on line by line. */
export function runChild(
  { argv, env = {}, cwd, stdio, onLine, input }: Child,
  parentEnv: Readonly<Record<string, string | undefined>>,
): Promise<{ exitCode: number; stdout: string }> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...parentEnv, ...env },
      ...(cwd !== undefined && { cwd }),
      stdio: stdio === "inherit" ? [input === undefined ? "inherit" : "pipe", "inherit", "inherit"] : PIPED,
    });
    // Who reads may leave before the end.
    child.stdin?.once("error", () => undefined).end(input);
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    if (child.stderr && onLine) createInterface({ input: child.stderr }).on("line", onLine);
    child.once("error", reject);
    child.once("close", (code) => resolve({ exitCode: code ?? 1, stdout }));
  });
}
