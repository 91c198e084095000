import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Refusal } from "../../core/refusal.ts";
import { GitFailure, readGit, runGit } from "./git.ts";
import { findFileText } from "../process/private-file.ts";
import { findTreeRoot } from "./working-tree.ts";

const NAME = /^[A-Za-z0-9](?:[\w.-]{0,61}[\w-])?$/;
/** Workflows in `.askd` belong to the project and can be committed; the rest belongs to askd. */
const EXCLUDED = [".askd/*", "!.askd/workflows/"];

/** A separate working tree for a run. */
export interface Worktree {
  path: string;
  branch: string;
}

/** Excludes askd's files in a project from its commits, without touching the project's own files. */
export async function excludeAskd(dir: string): Promise<void> {
  const path = (await readGit(dir, ["rev-parse", "--git-path", "info/exclude"]))?.replace(/\n$/, "");
  if (!path) return;
  const file = resolve(dir, path);
  const text = (await findFileText(file)) ?? "";
  const lines = new Set(text.split(/\r?\n/));
  if (lines.has(".askd/") || EXCLUDED.every((line) => lines.has(line))) return;
  await mkdir(dirname(file), { recursive: true });
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(file, `${gap}${EXCLUDED.join("\n")}\n`);
}

/** Creates a working tree below `.askd/worktrees`, on a new branch from the checked-out commit. */
export async function addWorktree(dir: string, name: string): Promise<Worktree> {
  if (!NAME.test(name) || name.includes("..") || name.endsWith(".lock")) {
    throw new Refusal("bad_input", `${JSON.stringify(name)} cannot name a branch`, {
      hint: "Use letters, digits, dots, - and _",
    });
  }
  const root = await findTreeRoot(dir);
  if (root === undefined) {
    throw new Refusal("bad_input", `${dir} is not in a git working tree, so it cannot have another one`, {
      hint: "Leave out --worktree, or: git init",
    });
  }
  const worktree = { path: join(root, ".askd", "worktrees", name), branch: `askd/${name}` };
  await excludeAskd(root);
  try {
    await runGit(root, ["worktree", "add", "--quiet", "-b", worktree.branch, worktree.path, "HEAD"]);
  } catch (cause) {
    if (!(cause instanceof GitFailure)) throw cause;
    throw new Refusal("bad_input", `git cannot make a working tree: ${cause.message}`, {
      cause,
      hint: "git worktree list",
    });
  }
  return worktree;
}

/** Removes an unused working tree with its branch. */
export async function removeWorktree(dir: string, { path, branch }: Worktree): Promise<void> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return;
  await runGit(root, ["worktree", "remove", path]);
  await runGit(root, ["branch", "--quiet", "-d", branch]);
}
