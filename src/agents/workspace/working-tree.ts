import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { quoteLine, quoteName } from "../../core/text/foreign-text.ts";
import { hasErrorCode } from "../../core/error-code.ts";
import { isDatabaseFile } from "../../sqlite.ts";
import { readGit, readNewFilePatch } from "./git.ts";

/** Larger files, and those beyond these totals, are compared by size and time only. */
const FILE_BYTES = 32 * 1024 * 1024;
const ALL_BYTES = 256 * 1024 * 1024;
const HASHED_FILES = 10_000;
/** How many changed files are stored by name. */
const NAMED_FILES = 1000;
const NOT_WORK = /(^|\/)\.askd\/(runs|worktrees)\//;

/** The state of a working tree, identified by its hash. */
export const TreeFingerprint = z.object({
  /** The checked-out commit; undefined before the first one. */
  head: z.string().optional(),
  branch: z.string().optional(),
  hash: z.string(),
  /** The differences from the commit, by path, up to a limit. */
  changed: z.record(z.string(), z.string()),
});
export type TreeFingerprint = z.infer<typeof TreeFingerprint>;

/** Computes the fingerprint of a directory's working tree; undefined outside of one. Nothing is written. */
export async function findTreeFingerprint(dir: string): Promise<TreeFingerprint | undefined> {
  const root = await findTreeRoot(dir);
  const args = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames"];
  const status = root === undefined ? undefined : await readGit(root, args);
  if (root === undefined || status === undefined) return undefined;
  const entries = status.split("\0").filter((entry) => entry !== "");
  const says = (name: string): string | undefined =>
    entries.find((entry) => entry.startsWith(`# ${name} `))?.slice(name.length + 3);
  const head = says("branch.oid");
  const branch = says("branch.head");
  const all = createHash("sha256").update(`${head}\0${branch}\0`);
  const changed: Array<[string, string]> = [];
  const budget = { files: HASHED_FILES, bytes: ALL_BYTES };
  for (const entry of entries) {
    const path = pathOf(entry);
    if (path === undefined || NOT_WORK.test(path) || isDatabaseFile(join(root, path))) continue;
    // The entry identifies the commit and the index, the content the tree.
    const state = createHash("sha256")
      .update(entry)
      .update(await contentOf(join(root, path), budget))
      .digest("hex");
    all.update(`${path}\0${state}\0`);
    if (changed.length < NAMED_FILES) changed.push([path, state]);
  }
  return {
    head: head === "(initial)" ? undefined : head,
    branch: branch === "(detached)" ? undefined : branch,
    hash: all.digest("hex"),
    changed: Object.fromEntries(changed),
  };
}

/** Describes the differences of two fingerprints; empty if equal. */
export function describeDifference(before: TreeFingerprint, after: TreeFingerprint): string[] {
  if (before.hash === after.hash) return [];
  const said: string[] = [];
  if (before.branch !== after.branch) said.push(`the branch is ${nameOf(after.branch)}, was ${nameOf(before.branch)}`);
  if (before.head !== after.head) said.push(`the commit is ${nameOf(after.head)}, was ${nameOf(before.head)}`);
  const paths = new Set([...Object.keys(before.changed), ...Object.keys(after.changed)]);
  const differing = [...paths].filter((path) => before.changed[path] !== after.changed[path]).sort();
  said.push(...differing.map((path) => `${quoteLine(path)} was changed`));
  return said.length > 0 ? said : ["files were changed"];
}

/** A branch name is foreign text. */
function nameOf(name: string | undefined): string {
  return name === undefined ? "none" : quoteName(name);
}

/** The output of `git diff --stat` against the last commit, and the new files. */
export async function findDiffStat(dir: string): Promise<string | undefined> {
  const found = await findDiff(dir, { isStat: true });
  if (!found) return undefined;
  return [...found.diff.split("\n"), ...found.untracked.map((path) => ` ${path} (new)`)]
    .filter((line) => line !== "")
    .join("\n");
}

/** How changes are shown; new files are only named, shown as patches, or, binary ones too, so that git can apply them. */
export interface DiffOptions {
  isStat: boolean;
  newFiles?: "named" | "shown" | "applicable";
}

/**
 * The diff against the last commit, and the new files; undefined outside of a tree. No programs of the repository are
 * run.
 */
export async function findDiff(
  dir: string,
  { isStat, newFiles = "named" }: DiffOptions,
): Promise<{ diff: string; untracked: string[] } | undefined> {
  const root = await findTreeRoot(dir);
  if (root === undefined) return undefined;
  const status = (await readGit(root, ["status", "--porcelain=v2", "--branch", "--untracked-files=no"])) ?? "";
  const isFirst = status.startsWith("# branch.oid (initial)\n");
  const head = (isFirst ? await findFirst(root, ["hash-object", "-t", "tree", "/dev/null"]) : undefined) ?? "HEAD";
  // Settings of the user, such as diff.noprefix, would make a patch that does not apply.
  const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
  const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", ...prefixes];
  const binary = newFiles === "applicable" ? ["--binary"] : [];
  const diff = (await readGit(root, ["diff", ...(isStat ? ["--stat"] : binary), ...plain, head, "--"])) ?? "";
  const listed = (await readGit(root, ["ls-files", "--others", "--exclude-standard", "-z"])) ?? "";
  const untracked = listed.split("\0").filter((path) => path !== "" && !NOT_WORK.test(path));
  if (isStat || newFiles === "named") return { diff, untracked };
  let whole = diff;
  // A path that ends in a slash is another repository, which no patch can add.
  for (const path of untracked.filter((each) => !each.endsWith("/"))) {
    whole += await readNewFilePatch(root, path, [...plain, ...binary]);
  }
  return { diff: whole, untracked };
}

/** The root of a directory's working tree. */
export async function findTreeRoot(dir: string): Promise<string | undefined> {
  return findFirst(dir, ["rev-parse", "--show-toplevel"]);
}

async function findFirst(dir: string, args: readonly string[]): Promise<string | undefined> {
  return (await readGit(dir, args))?.replace(/\n$/, "");
}

/** The path in a line of `git status --porcelain=v2`, after a number of fields. */
function pathOf(entry: string): string | undefined {
  const fields = { "1": 8, u: 10, "?": 1 }[entry.charAt(0)];
  if (fields === undefined || entry.charAt(1) !== " ") return undefined;
  return entry.split(" ").slice(fields).join(" ");
}

async function contentOf(file: string, budget: { files: number; bytes: number }): Promise<string> {
  try {
    const found = await lstat(file, { bigint: true });
    if (found.isSymbolicLink()) return `link ${await readlink(file)}`;
    const mode = (found.mode & 0o111n) === 0n ? "file" : "program";
    const size = Number(found.size);
    if (!found.isFile()) return `other ${found.mode}`;
    if (size > FILE_BYTES || size > budget.bytes || budget.files === 0) return `${mode} ${size} ${found.mtimeNs}`;
    budget.files -= 1;
    budget.bytes -= size;
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    return `${mode} ${hash.digest("hex")}`;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT") || hasErrorCode(error, "ENOTDIR")) return "nothing";
    if (hasErrorCode(error, "EACCES")) return "closed";
    throw error;
  }
}
