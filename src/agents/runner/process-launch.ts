import { readFile, readlink } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Agent, PermissionMode } from "../agent.ts";
import { findProgram } from "./launch.ts";
import type { Launch } from "./run-files.ts";

/** Programs that run another one, which is their first argument. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno"]);

/** What a process was started with. */
export interface StartedAs {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  dir: string;
}

/**
 * What a process of this user was started with, as the system shows it; undefined where it cannot be seen word by word.
 * `ps` joins the words of a command line by blanks: a prompt that speaks of a flag would become that flag.
 */
export async function findStartedAs(pid: number): Promise<StartedAs | undefined> {
  try {
    const [argv, env, dir] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, "utf8"),
      readFile(`/proc/${pid}/environ`, "utf8"),
      readlink(`/proc/${pid}/cwd`),
    ]);
    return { argv: splitZeros(argv), env: readVariables(splitZeros(env)), dir };
  } catch {
    return undefined; // gone, somebody else's, or a system without /proc
  }
}

/** What it takes to resume the session of an agent that somebody else started; undefined where that is not known. */
export async function launchFrom(
  agent: Agent,
  started: StartedAs,
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
