import { basename, dirname } from "node:path";
import { runGit } from "./workspace/git.ts";

/** Runs no program that the repository names: a hook that fails or waits must not hold a commit up. */
const QUIETLY = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/** Commits one file in the repository that it lies in, and nothing else that is changed or staged there. */
export async function commitFile(path: string, message: string): Promise<void> {
  const dir = dirname(path);
  const pathspec = ["--", `:(literal)${basename(path)}`];
  const changed = await runGit(dir, [...QUIETLY, "status", "--porcelain", "--ignored", ...pathspec]);
  if (changed === "") return;
  await runGit(dir, [...QUIETLY, "add", "--force", ...pathspec]);
  await runGit(dir, [...QUIETLY, "commit", "--quiet", "--message", message, "--only", ...pathspec]);
}
