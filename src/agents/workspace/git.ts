import { isCode } from "../../core/error-code.ts";
import { runProgram } from "../process/process-identity.ts";

const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** What git exits with when it cannot even begin. */
const FATAL = 128;

/**
 * Reads from a repository and never writes to it: no optional locks, no refreshed index, and no program that the
 * repository names is run to find changes.
 */
const READING = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=false"];

/** What git says when it reads; undefined where there is no repository, no working tree or no git. */
export async function readGit(dir: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return await runGit(dir, [...READING, ...args]);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    if (error instanceof GitFailure && /not a git repository|must be run in a work tree/.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}

/** Runs git in a directory and gives what it says. */
export async function runGit(dir: string, args: readonly string[]): Promise<string> {
  const options = { cwd: dir, env: gitEnv(), timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES };
  try {
    const { stdout } = await runProgram("git", args, options);
    return stdout;
  } catch (cause) {
    if (!(cause instanceof Error) || !("stderr" in cause) || isCode(cause, "ENOENT")) throw cause;
    throw new GitFailure(String(cause.stderr).trim() || cause.message, cause);
  }
}

/** Git refused, in its own words. */
export class GitFailure extends Error {
  constructor(message: string, cause: Error & { code?: unknown }) {
    super(cause.code === FATAL ? message : `git failed: ${message}`, { cause });
    this.name = "GitFailure";
  }
}

/** Our own environment without what would lead git elsewhere, in a language that we can read. */
function gitEnv(): Record<string, string> {
  const env: Record<string, string> = { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith("GIT_") && name !== "LC_ALL" && name !== "LANGUAGE") env[name] = value;
  }
  return env;
}
