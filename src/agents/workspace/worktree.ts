import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Refusal } from "../../core/refusal.ts";
import { GitFailure, readGit, runGit } from "./git.ts";
import { findText } from "../process/private-file.ts";
import { findRoot } from "./working-tree.ts";

const NAME = /^[A-Za-z0-9](?:[\w.-]{0,61}[\w-])?$/;
/** Workflows in `.askd` are the project's own and can be committed; all else there is askd's. */
const EXCLUDED = [".askd/*", "!.askd/workflows/"];

/** A working tree of its own for a run. */
export interface Worktree {
  path: string;
  branch: string;
}

/** Keeps what askd writes into a project out of its commits, without touching the project's own files. */
export async function excludeAskd(dir: string): Promise<void> {
  const path = (await readGit(dir, ["rev-parse", "--git-path", "info/exclude"]))?.replace(/\n$/, "");
  if (!path) return;
  const file = resolve(dir, path);
  const text = (await findText(file)) ?? "";
  const lines = new Set(text.split(/\r?\n/));
  if (lines.has(".askd/") || EXCLUDED.every((line) => lines.has(line))) return;
  await mkdir(dirname(file), { recursive: true });
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(file, `${gap}${EXCLUDED.join("\n")}\n`);
}

/** Makes a working tree below `.askd/worktrees`, on a new branch that starts at the commit that is checked out. */
export async function addWorktree(dir: string, name: string): Promise<Worktree> {
  if (!NAME.test(name) || name.includes("..") || name.endsWith(".lock")) {
    throw new Refusal("bad_input", `${JSON.stringify(name)} cannot name a branch`, {
      hint: "Use letters, digits, dots, - and _",
    });
  }
  const root = await findRoot(dir);
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

/** Takes a working tree away in which nothing was done yet, with its branch. */
export async function removeWorktree(dir: string, { path, branch }: Worktree): Promise<void> {
  const root = await findRoot(dir);
  if (root === undefined) return;
  await runGit(root, ["worktree", "remove", path]);
  await runGit(root, ["branch", "--quiet", "-d", branch]);
}
