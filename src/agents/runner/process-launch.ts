import { readFile, readlink } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Agent, PermissionMode } from "../agent.ts";
import { findProgram } from "./launch.ts";
import type { Launch } from "./run-files.ts";

/** Interpreters: their first argument is the program. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno"]);

/** The command line and environment of a process. */
export interface ProcessLaunch {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  dir: string;
}

/**
 * Finds how a process of this user was started; undefined if its arguments cannot be read exactly. `ps` joins arguments
 * by blanks: a flag mentioned in a prompt would become a flag.
 */
export async function findProcessLaunch(pid: number): Promise<ProcessLaunch | undefined> {
  try {
    const [argv, env, dir] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, "utf8"),
      readFile(`/proc/${pid}/environ`, "utf8"),
      readlink(`/proc/${pid}/cwd`),
    ]);
    return { argv: splitZeros(argv), env: readVariables(splitZeros(env)), dir };
  } catch {
    return undefined; // gone, another user's, or a system without /proc
  }
}

/** Finds how to resume the session of a foreign agent; undefined if unknown. */
export async function findSessionLaunch(
  agent: Agent,
  started: ProcessLaunch,
  mode: PermissionMode | undefined,
): Promise<Omit<Launch, "options"> | undefined> {
  const { env, dir } = started;
  const [first = "", ...rest] = started.argv;
  const [name = "", ...args] = INTERPRETERS.has(basename(first)) ? rest : [first, ...rest];
  const program = name === "" || name.startsWith("-") ? undefined : await findProgram(name, env, dir);
  const kept = agent.optionsToResume?.(args, mode);
  if (program === undefined || kept === undefined) return undefined;
  return { agent: agent.name, program: resolve(dir, program), args: [...kept], dir, env: { ...env } };
}

/** Entries that each end with a zero byte. */
function splitZeros(text: string): string[] {
  return text.replace(/\0$/, "").split("\0");
}

function readVariables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const equals = entry.indexOf("=");
      return equals > 0 ? [[entry.slice(0, equals), entry.slice(equals + 1)]] : [];
    }),
  );
}
