import { hasErrorCode } from "../../core/error-code.ts";
import { runProgram } from "../process/process-identity.ts";
import { basename, dirname } from "node:path";

const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** git's exit code for fatal errors. */
const FATAL = 128;
/** The exit code of `git diff --no-index` for files that differ. */
const DIFFERS = 1;

/**
 * Options for reading a repository without writing: no optional locks, no refreshed index, and no programs of the
 * repository.
 */
const READING = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=false"];

/** Runs a reading git command; undefined without a repository, a working tree or git. */
export async function readGit(dir: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return await runGit(dir, [...READING, ...args]);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    if (error instanceof GitFailure && /not a git repository|must be run in a work tree/.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}

/** The patch that adds a file git does not track yet. */
export async function readNewFilePatch(root: string, path: string, flags: readonly string[]): Promise<string> {
  try {
    return await runGit(root, [...READING, "diff", "--no-index", ...flags, "--", "/dev/null", path]);
  } catch (error) {
    // Git exits with 1 where two files differ, as here always.
    const cause: unknown = error instanceof GitFailure ? error.cause : undefined;
    if (cause instanceof Error && "stdout" in cause && "code" in cause && cause.code === DIFFERS) {
      return String(cause.stdout);
    }
    throw error;
  }
}

/** Runs git in a directory and returns its output. */
export async function runGit(dir: string, args: readonly string[]): Promise<string> {
  const options = { cwd: dir, env: gitEnv(), timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES };
  try {
    const { stdout } = await runProgram("git", args, options);
    return stdout;
  } catch (cause) {
    if (!(cause instanceof Error) || !("stderr" in cause) || hasErrorCode(cause, "ENOENT")) throw cause;
    throw new GitFailure(String(cause.stderr).trim() || cause.message, cause);
  }
}

/** An error reported by git. */
export class GitFailure extends Error {
  constructor(message: string, cause: Error & { code?: unknown }) {
    super(cause.code === FATAL ? message : `git failed: ${message}`, { cause });
    this.name = "GitFailure";
  }
}

/** The environment for git: without variables that redirect it, in a fixed language. */
function gitEnv(): Record<string, string> {
  const env: Record<string, string> = { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith("GIT_") && name !== "LC_ALL" && name !== "LANGUAGE") env[name] = value;
  }
  return env;
}

/** Disables programs of the repository: a hook must not block a commit. */
export const QUIETLY = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/** Commits one file in its repository, and nothing else that is changed or staged there. */
export async function commitFile(path: string, message: string): Promise<void> {
  const dir = dirname(path);
  const pathspec = ["--", `:(literal)${basename(path)}`];
  const changed = await runGit(dir, [...QUIETLY, "status", "--porcelain", "--ignored", ...pathspec]);
  if (changed === "") return;
  await runGit(dir, [...QUIETLY, "add", "--force", ...pathspec]);
  await runGit(dir, [...QUIETLY, "commit", "--quiet", "--message", message, "--only", ...pathspec]);
}
