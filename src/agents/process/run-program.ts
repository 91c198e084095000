import { execFile } from "node:child_process";

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 64 * 1024;
/** The exit code of shells for a program that is not there. */
const NOT_FOUND = 127;

/** Runs a program to its end, without a shell; it is ended if it takes too long. */
export function runProgram(
  argv: readonly string[],
  { env = {}, input = "" }: { env?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<{ exitCode: number; stderr: string }> {
  const [program = "", ...args] = argv;
  const options = { env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: MOST_BYTES, windowsHide: true };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, _stdout, stderr) => {
      if (!error) return resolve({ exitCode: 0, stderr });
      if (error.killed) return resolve({ exitCode: 1, stderr: "it took too long" });
      const exitCode = error.code === "ENOENT" ? NOT_FOUND : typeof error.code === "number" ? error.code : 1;
      // The error's own message repeats the command line, which may carry foreign text.
      resolve({ exitCode, stderr: exitCode === NOT_FOUND ? `There is no ${program} on this machine` : stderr });
    });
    // A program that does not read its input may end before all of it is written.
    child.stdin?.once("error", () => undefined).end(input);
  });
}
