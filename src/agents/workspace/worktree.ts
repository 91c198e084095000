import { appendFile, constants, copyFile, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hasErrorCode } from "../../core/error-code.ts";
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
  await exclude(dir, (lines) => (lines.has(".askd/") || EXCLUDED.every((line) => lines.has(line)) ? [] : EXCLUDED));
}

/** Adds lines to the list of files that this copy of the repository never commits. */
async function exclude(dir: string, missingIn: (lines: ReadonlySet<string>) => readonly string[]) {
  const path = (await readGit(dir, ["rev-parse", "--git-path", "info/exclude"]))?.replace(/\n$/, "");
  if (!path) return;
  const file = resolve(dir, path);
  const text = (await findFileText(file)) ?? "";
  const missing = missingIn(new Set(text.split(/\r?\n/)));
  if (missing.length === 0) return;
  await mkdir(dirname(file), { recursive: true });
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(file, `${gap}${missing.join("\n")}\n`);
}

/**
 * Creates a working tree below `.askd/worktrees`, on a new branch from the checked-out commit. Settings of agents that
 * nobody has committed are copied: without them an agent cannot ask.
 */
export async function addWorktree(dir: string, name: string, settings: readonly string[]): Promise<Worktree> {
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
  await carrySettings(root, worktree.path, settings);
  return worktree;
}

/**
 * Copies these settings of agents where they are not committed, unless they are there; they are excluded, so that no run
 * commits them.
 */
export async function carrySettings(root: string, tree: string, settings: readonly string[]) {
  if (settings.length === 0) return;
  const listed = await readGit(root, ["ls-files", "--others", "-z", "--", ...settings]);
  const files = (listed ?? "").split("\0").filter((path) => path !== "" && !path.endsWith("/"));
  for (const file of files) {
    await mkdir(dirname(join(tree, file)), { recursive: true });
    await copyFile(join(root, file), join(tree, file), constants.COPYFILE_EXCL).catch((error: unknown) => {
      if (!hasErrorCode(error, "EEXIST")) throw error; // a process that died had copied it
    });
  }
  const ignored = (await readGit(root, ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"])) ?? "";
  const isIgnored = new Set(ignored.split("\0"));
  const shown = files.filter((file) => !isIgnored.has(file)).map((file) => `/${file}`);
  await exclude(root, (lines) => shown.filter((line) => !lines.has(line)));
}

/** Removes an unused working tree with its branch. */
export async function removeWorktree(dir: string, { path, branch }: Worktree): Promise<void> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return;
  await runGit(root, ["worktree", "remove", path]);
  await runGit(root, ["branch", "--quiet", "-d", branch]);
}
