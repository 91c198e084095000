import { rm } from "node:fs/promises";
import { join } from "node:path";
import { carrySettings, excludeAskd } from "./worktree.ts";
import { GitFailure, QUIETLY, readGit, runGit } from "./git.ts";
import { findTreeRoot } from "./working-tree.ts";

/** The remote that the branches of runs are pushed to. */
const REMOTE = "origin";
/** Where a run began, by the name of its tree: a ref of this copy that is never pushed. */
const BASE_REFS = "refs/askd/base";
/** The trees that have everything, the settings of agents too: those come after the files of git. */
const READY_REFS = "refs/askd/ready";
/** How often a tree is tried that git cannot make, and how much longer the pause gets each time. */
const MOST_TRIES = 8;
const PAUSE_MS = 50;

/** The working tree of a workflow run, and its branch; without git it is the project itself. */
export interface RunTree {
  dir: string;
  branch: string | undefined;
}

/**
 * Opens the tree of that name beside the project, on a branch of its own; makes it first if it is not there, with these
 * settings of agents that are not committed.
 */
export async function openRunTree(dir: string, name: string, settings: readonly string[] = []): Promise<RunTree> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryToOpen(dir, name, settings);
    } catch (error) {
      // While another run gets its tree, git finds that one half made and gives up.
      if (!(error instanceof GitFailure) || tries >= MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, tries * PAUSE_MS));
    }
  }
}

async function tryToOpen(dir: string, name: string, settings: readonly string[]): Promise<RunTree> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return { dir, branch: undefined };
  const tree = { dir: join(root, ".askd", "worktrees", name), branch: `askd/${name}` };
  const base = `${BASE_REFS}/${name}`;
  const ready = `${READY_REFS}/${name}`;
  const makeReady = async () => {
    await carrySettings(root, tree.dir, settings);
    await runGit(root, [...QUIETLY, "update-ref", ready, base]);
    return tree;
  };
  if (await isWhole(tree.dir)) return (await readRef(root, ready)) === undefined ? makeReady() : tree;
  await excludeAskd(root);
  // A process that died meanwhile may have left a part of it.
  await rm(tree.dir, { recursive: true, force: true });
  await runGit(root, [...QUIETLY, "worktree", "prune"]);
  const begun = await readRef(root, base);
  if (begun === undefined) await runGit(root, [...QUIETLY, "update-ref", base, "HEAD"]);
  const hasBranch = (await readRef(root, `refs/heads/${tree.branch}`)) !== undefined;
  // A run that is repeated long after its end goes on from what it pushed.
  const pushed = `refs/remotes/${REMOTE}/${tree.branch}`;
  const start = (await readRef(root, pushed)) === undefined ? base : pushed;
  const from = hasBranch ? [tree.dir, tree.branch] : ["--no-track", "-b", tree.branch, tree.dir, start];
  await runGit(root, [...QUIETLY, "worktree", "add", "--quiet", ...from]);
  return makeReady();
}

/** Says whether the tree of that name can be opened with the commits of its run, which may have begun elsewhere. */
export async function hasRunBranch(dir: string, name: string): Promise<boolean> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return true; // without git the project itself is the tree
  const refs = [`refs/heads/askd/${name}`, `refs/remotes/${REMOTE}/askd/${name}`];
  const found = await Promise.all(refs.map((ref) => readRef(root, ref)));
  return found.some((commit) => commit !== undefined);
}

/**
 * Commits everything in the tree and pushes its branch; false if the branch has nothing that was not there when the run
 * began. Programs of the repository are not run.
 */
export async function publishRunTree({ dir, branch }: RunTree, message: string): Promise<boolean> {
  if (branch === undefined) return false;
  await runGit(dir, [...QUIETLY, "add", "--all"]);
  const staged = await runGit(dir, ["diff", "--cached", "--name-only"]);
  if (staged !== "") {
    const author = (await hasAuthor(dir)) ? [] : ["-c", "user.name=askd", "-c", "user.email=askd@localhost"];
    await runGit(dir, [...QUIETLY, ...author, "commit", "--quiet", "--no-verify", "--message", message]);
  }
  const base = await readRef(dir, `${BASE_REFS}/${branch.slice(branch.indexOf("/") + 1)}`);
  const head = await readRef(dir, "HEAD");
  if (head === base) return false;
  await runGit(dir, [...QUIETLY, "push", "--quiet", REMOTE, `HEAD:refs/heads/${branch}`]);
  return true;
}

/**
 * Removes the tree of that name with its branch; false if it has changes that are not committed, or commits that are on no
 * remote.
 */
export async function removeRunTree(dir: string, name: string): Promise<boolean> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return true; // the project is gone
  const tree = join(root, ".askd", "worktrees", name);
  const branch = `refs/heads/askd/${name}`;
  const base = `${BASE_REFS}/${name}`;
  const begun = await readRef(root, base);
  if (await isWhole(tree)) {
    if ((await runGit(tree, ["status", "--porcelain"])) !== "") return false;
    if (!(await isElsewhere(tree, await readRef(tree, "HEAD"), begun))) return false;
  }
  const head = await readRef(root, branch);
  if (!(await isElsewhere(root, head, begun))) return false;
  // Without --force: git refuses if something was changed since.
  if (await isWhole(tree)) await runGit(root, [...QUIETLY, "worktree", "remove", tree]);
  await runGit(root, [...QUIETLY, "worktree", "prune"]);
  if (head !== undefined) await runGit(root, [...QUIETLY, "update-ref", "-d", branch, head]);
  for (const ref of [`${READY_REFS}/${name}`, base]) await runGit(root, [...QUIETLY, "update-ref", "-d", ref]);
  return true;
}

/** Says whether a commit is where the run began, or on a remote. */
async function isElsewhere(dir: string, commit: string | undefined, begun: string | undefined): Promise<boolean> {
  if (commit === undefined || commit === begun) return true;
  return (await runGit(dir, ["for-each-ref", "--contains", commit, "refs/remotes"])) !== "";
}

/** Says whether the tree is there with all its files: git writes the index last. */
async function isWhole(dir: string) {
  try {
    const [root, index] = await Promise.all([
      readGit(dir, ["rev-parse", "--show-toplevel"]),
      readGit(dir, ["status", "--porcelain", "--untracked-files=no"]),
    ]);
    return root?.trim().endsWith(dir) === true && index !== undefined;
  } catch {
    return false; // there is no such folder
  }
}

async function readRef(dir: string, name: string): Promise<string | undefined> {
  try {
    return (await runGit(dir, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])).trim();
  } catch (error) {
    if (error instanceof GitFailure) return undefined; // there is no such ref
    throw error;
  }
}

async function hasAuthor(dir: string) {
  try {
    return (await runGit(dir, ["config", "user.email"])).trim() !== "";
  } catch (error) {
    if (error instanceof GitFailure) return false; // nobody set it
    throw error;
  }
}
