import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { quoteLine, quoteName } from "../../core/text/foreign-text.ts";
import { isCode } from "../../core/error-code.ts";
import { isDatabaseFile } from "../../sqlite.ts";
import { readGit } from "./git.ts";

/** Files over this size, and those after so many bytes or files, are told apart by size and time only. */
const FILE_BYTES = 32 * 1024 * 1024;
const ALL_BYTES = 256 * 1024 * 1024;
const HASHED_FILES = 10_000;
/** How many changed files are kept by name. */
const NAMED_FILES = 1000;
const NOT_WORK = /(^|\/)\.askd\/(runs|worktrees)\//;

/** The state of a working tree, told apart from any other by its hash. */
export const Fingerprint = z.object({
  /** The commit that is checked out; undefined before the first one. */
  head: z.string().optional(),
  branch: z.string().optional(),
  hash: z.string(),
  /** What differs from the commit, by path, as far as it is kept. */
  changed: z.record(z.string(), z.string()),
});
export type Fingerprint = z.infer<typeof Fingerprint>;

/** Takes the fingerprint of the tree that a directory is in; undefined outside of one. Nothing is written. */
export async function findFingerprint(dir: string): Promise<Fingerprint | undefined> {
  const root = await findRoot(dir);
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
    // The entry says what is in the commit and the index, the content what is in the tree.
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

/** What is different in the tree, in words; nothing when it is as it was. */
export function describeDifference(before: Fingerprint, after: Fingerprint): string[] {
  if (before.hash === after.hash) return [];
  const said: string[] = [];
  if (before.branch !== after.branch) said.push(`the branch is ${nameOf(after.branch)}, was ${nameOf(before.branch)}`);
  if (before.head !== after.head) said.push(`the commit is ${nameOf(after.head)}, was ${nameOf(before.head)}`);
  const paths = new Set([...Object.keys(before.changed), ...Object.keys(after.changed)]);
  const differing = [...paths].filter((path) => before.changed[path] !== after.changed[path]).sort();
  said.push(...differing.map((path) => `${quoteLine(path)} was changed`));
  return said.length > 0 ? said : ["files were changed"];
}

/** A branch can be called anything that git takes. */
function nameOf(name: string | undefined): string {
  return name === undefined ? "none" : quoteName(name);
}

/** What differs from the last commit, as `git diff --stat` says it, and the files that are new. */
export async function findDiffStat(dir: string): Promise<string | undefined> {
  const found = await findDiff(dir, { isStat: true });
  if (!found) return undefined;
  return [...found.diff.split("\n"), ...found.untracked.map((path) => ` ${path} (new)`)]
    .filter((line) => line !== "")
    .join("\n");
}

/** What differs from the last commit and which files are new; undefined outside of a tree. No program of theirs is run. */
export async function findDiff(
  dir: string,
  { isStat }: { isStat: boolean },
): Promise<{ diff: string; untracked: string[] } | undefined> {
  const root = await findRoot(dir);
  if (root === undefined) return undefined;
  const status = (await readGit(root, ["status", "--porcelain=v2", "--branch", "--untracked-files=no"])) ?? "";
  const isFirst = status.startsWith("# branch.oid (initial)\n");
  const head = (isFirst ? await findFirst(root, ["hash-object", "-t", "tree", "/dev/null"]) : undefined) ?? "HEAD";
  const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
  const diff = (await readGit(root, ["diff", ...(isStat ? ["--stat"] : []), ...plain, head, "--"])) ?? "";
  const listed = (await readGit(root, ["ls-files", "--others", "--exclude-standard", "-z"])) ?? "";
  return { diff, untracked: listed.split("\0").filter((path) => path !== "" && !NOT_WORK.test(path)) };
}

/** The top of the working tree that a directory is in. */
export async function findRoot(dir: string): Promise<string | undefined> {
  return findFirst(dir, ["rev-parse", "--show-toplevel"]);
}

async function findFirst(dir: string, args: readonly string[]): Promise<string | undefined> {
  return (await readGit(dir, args))?.replace(/\n$/, "");
}

/** The path in a line of `git status --porcelain=v2`; it is what comes after a number of fields. */
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
    if (isCode(error, "ENOENT") || isCode(error, "ENOTDIR")) return "nothing";
    if (isCode(error, "EACCES")) return "closed";
    throw error;
  }
}
