import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AGENTS } from "../agents.ts";
import { takeLock } from "../process/lock.ts";
import { projectFilesOf } from "../registry.ts";
import { describeDifference, findDiff, findDiffStat, findTreeFingerprint, TreeFingerprint } from "./working-tree.ts";
import { addWorktree, excludeAskd, removeWorktree } from "./worktree.ts";

const NOBODY = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", PATH: process.env["PATH"] };
const ADA = ["-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];

function aFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "askd-tree-")));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

function git(dir: string, ...args: string[]): string {
  return execFileSync("git", [...ADA, ...args], { cwd: dir, env: NOBODY, encoding: "utf8" });
}

/** A repository with one commit of two files. */
function aRepo(): string {
  const dir = aFolder();
  git(dir, "init", "--quiet", "--initial-branch=main");
  mkdirSync(join(dir, "src"));
  writeFileSync(join(dir, "src", "a b.ts"), "one\n");
  writeFileSync(join(dir, "readme"), "hello\n");
  git(dir, "add", ".");
  git(dir, "commit", "--quiet", "-m", "first");
  return dir;
}

async function hashOf(dir: string): Promise<string> {
  return (await findTreeFingerprint(dir))!.hash;
}

/** Tries, in a process of its own, to lock a file. */
const TRY_LOCK = `let driver;
try { driver = require("node:sqlite"); } catch { driver = require("@photostructure/sqlite"); }
const database = new driver.DatabaseSync(process.argv[1], { timeout: 0 });
try { database.exec("begin exclusive"); console.log("free"); } catch { console.log("locked"); }`;

function isLockedForOthers(file: string): boolean {
  const said = execFileSync(process.execPath, ["--no-warnings", "-e", TRY_LOCK, file], { encoding: "utf8" });
  return said.trim() === "locked";
}

const CHANGES: ReadonlyArray<[string, (dir: string) => void]> = [
  ["a changed file", (dir) => writeFileSync(join(dir, "src", "a b.ts"), "two\n")],
  ["a new file", (dir) => writeFileSync(join(dir, "src", "new ü\n.ts"), "")],
  ["a removed file", (dir) => rmSync(join(dir, "readme"))],
  ["a file that became a program", (dir) => chmodSync(join(dir, "readme"), 0o755)],
  ["a new link", (dir) => symlinkSync("nowhere", join(dir, "link"))],
  ["a new branch", (dir) => git(dir, "checkout", "--quiet", "-b", "other")],
  ["a new commit", (dir) => git(dir, "commit", "--quiet", "--allow-empty", "-m", "second")],
  ["a merge that stopped", (dir) => stopMerge(dir)],
];

describe("the fingerprint of a working tree", () => {
  test("leaves locks alone that this process has on a file in it", async () => {
    const dir = aRepo();
    const file = join(dir, "askd.lock");
    const release = takeLock(file);
    onTestFinished(() => release?.());
    expect(release).toBeDefined();
    expect(isLockedForOthers(file)).toBe(true);
    expect(Object.keys((await findTreeFingerprint(dir))?.changed ?? {})).toEqual([]);
    expect(isLockedForOthers(file)).toBe(true);
  });

  test.each(CHANGES)("tells %s", async (_name, change) => {
    const dir = aRepo();
    const before = (await findTreeFingerprint(dir))!;
    expect(await findTreeFingerprint(dir)).toEqual(before);
    change(dir);
    const after = (await findTreeFingerprint(join(dir, "src")))!;
    expect(after.hash).not.toBe(before.hash);
    expect(describeDifference(before, after)).not.toEqual([]);
    expect(await findTreeFingerprint(dir)).toEqual(after);
    expect(TreeFingerprint.parse(JSON.parse(JSON.stringify(after)))).toEqual(after);
  });

  test("tells the content of files that were changed or new before", async () => {
    const dir = aRepo();
    for (const name of ["readme", "new"]) writeFileSync(join(dir, name), "1\n");
    const before = (await findTreeFingerprint(dir))!;
    for (const name of ["readme", "new"]) writeFileSync(join(dir, name), "2\n");
    const after = (await findTreeFingerprint(dir))!;
    expect(describeDifference(before, after)).toEqual(['"new" was changed', '"readme" was changed']);
    for (const name of ["readme", "new"]) writeFileSync(join(dir, name), "1\n");
    expect(await hashOf(dir)).toBe(before.hash);
  });

  test("tells what was added to the index from what was not", async () => {
    const dir = aRepo();
    writeFileSync(join(dir, "readme"), "changed\n");
    const before = await hashOf(dir);
    git(dir, "add", "readme");
    expect(await hashOf(dir)).not.toBe(before);
  });

  test("writes nothing, not even the index that would like to be refreshed", async () => {
    const dir = aRepo();
    const index = join(dir, ".git", "index");
    writeFileSync(join(dir, "readme"), "dirty\n");
    utimesSync(join(dir, "src", "a b.ts"), 1, 1); // the index now holds a time that is not the file's
    const before = { bytes: readFileSync(index), time: statSync(index, { bigint: true }).mtimeNs };
    await findTreeFingerprint(dir);
    await findDiffStat(dir);
    expect(readFileSync(index)).toEqual(before.bytes);
    expect(statSync(index, { bigint: true }).mtimeNs).toBe(before.time);
  });

  test("does not depend on what askd itself writes", async () => {
    const dir = aRepo();
    const before = await hashOf(dir);
    mkdirSync(join(dir, ".askd", "runs", "1"), { recursive: true });
    writeFileSync(join(dir, ".askd", "runs", "1", "state.json"), "{}");
    expect(await hashOf(dir)).toBe(before);
  });

  test("is there before the first commit and not outside of git", async () => {
    const dir = aFolder();
    expect(await findTreeFingerprint(dir)).toBeUndefined();
    expect(await findDiffStat(dir)).toBeUndefined();
    git(dir, "init", "--quiet", "--initial-branch=main");
    writeFileSync(join(dir, "new"), "x\n");
    expect(await findTreeFingerprint(dir)).toMatchObject({
      head: undefined,
      branch: "main",
      changed: { new: expect.any(String) },
    });
    expect(await findDiffStat(dir)).toBe(" new (new)");
  });

  test("does not run a program that the repository names", async () => {
    const dir = aRepo();
    git(dir, "config", "core.fsmonitor", `touch ${join(dir, "ran")}; true`);
    await findTreeFingerprint(dir);
    await findDiffStat(dir);
    expect(() => statSync(join(dir, "ran"))).toThrow(/ENOENT/);
  });
});

test("the difference to the last commit is said file by file", async () => {
  const dir = aRepo();
  writeFileSync(join(dir, "readme"), "hello\nworld\n");
  writeFileSync(join(dir, "src", "new.ts"), "");
  const lines = (await findDiffStat(dir))!.split("\n");
  expect(lines).toEqual([" readme | 1 +", " 1 file changed, 1 insertion(+)", " src/new.ts (new)"]);
});

test.each(["diff.noprefix", "diff.mnemonicPrefix"])("a patch is the same, and applies, with %s", async (key) => {
  const dir = aRepo();
  git(dir, "config", key, "true");
  writeFileSync(join(dir, "src", "a b.ts"), "two\n");
  writeFileSync(join(dir, "src", "new.ts"), "new\n");
  const { diff = "" } = (await findDiff(join(dir, "src"), { isStat: false, newFiles: "applicable" })) ?? {};
  expect(diff.match(/^diff --git .*/gm)).toEqual([
    "diff --git a/src/a b.ts b/src/a b.ts",
    "diff --git a/src/new.ts b/src/new.ts",
  ]);
  const other = aRepo();
  writeFileSync(join(other, "work.patch"), diff);
  git(other, "apply", "work.patch");
  expect(readFileSync(join(other, "src", "a b.ts"), "utf8")).toBe("two\n");
  expect(readFileSync(join(other, "src", "new.ts"), "utf8")).toBe("new\n");
});

describe("what askd writes into a project", () => {
  test("is kept out of its commits once, workflows excepted", async () => {
    const dir = aRepo();
    writeFileSync(join(dir, ".git", "info", "exclude"), "mine");
    await excludeAskd(join(dir, "src"));
    await excludeAskd(dir);
    expect(readFileSync(join(dir, ".git", "info", "exclude"), "utf8")).toBe("mine\n.askd/*\n!.askd/workflows/\n");
    for (const name of ["runs", "workflows"]) mkdirSync(join(dir, ".askd", name), { recursive: true });
    for (const file of ["runs/state.json", "workflows/w.yml"]) writeFileSync(join(dir, ".askd", file), "");
    expect(git(dir, "status", "--porcelain", "--untracked-files=all")).toBe("?? .askd/workflows/w.yml\n");
  });

  test("is kept out in a working tree beside the first one too, and outside of git there is nothing to do", async () => {
    const dir = aRepo();
    const beside = join(aFolder(), "beside");
    git(dir, "worktree", "add", "--quiet", beside);
    await excludeAskd(beside);
    expect(readFileSync(join(dir, ".git", "info", "exclude"), "utf8")).toContain(".askd/*\n");
    await excludeAskd(aFolder());
  });
});

describe("a working tree for a run", () => {
  test("is made below .askd on a branch of its own and does not show in the first one", async () => {
    const dir = aRepo();
    const before = await hashOf(dir);
    const made = await addWorktree(join(dir, "src"), "fix-42", []);
    expect(made).toEqual({ path: join(dir, ".askd", "worktrees", "fix-42"), branch: "askd/fix-42" });
    expect(git(made.path, "branch", "--show-current")).toBe("askd/fix-42\n");
    expect(readFileSync(join(made.path, "readme"), "utf8")).toBe("hello\n");
    expect(await hashOf(dir)).toBe(before);
    expect(await findTreeFingerprint(made.path)).toMatchObject({ branch: "askd/fix-42", changed: {} });
  });

  test("has the settings of agents that are not committed, and they are none of its work", async () => {
    const dir = aRepo();
    for (const folder of [".claude", ".gemini", ".codex"]) mkdirSync(join(dir, folder));
    writeFileSync(join(dir, ".claude", "settings.json"), "{}");
    writeFileSync(join(dir, ".gitignore"), ".claude/settings.local.json\n");
    git(dir, "add", ".");
    git(dir, "commit", "--quiet", "-m", "settings");
    const settings = [".claude/settings.local.json", ".gemini/settings.json", ".codex/config.toml", ".mcp.json"];
    for (const file of settings) writeFileSync(join(dir, file), `{"of": "${file}"}`, { mode: 0o600 });
    writeFileSync(join(dir, ".claude", "settings.json"), '{"not": "committed"}');
    writeFileSync(join(dir, "notes.txt"), "not an agent's");
    const made = await addWorktree(dir, "fix-43", projectFilesOf(AGENTS));
    for (const file of settings) expect(readFileSync(join(made.path, file), "utf8")).toBe(`{"of": "${file}"}`);
    expect(readFileSync(join(made.path, ".claude", "settings.json"), "utf8")).toBe("{}");
    expect(existsSync(join(made.path, "notes.txt"))).toBe(false);
    expect(await findDiff(made.path, { isStat: false })).toMatchObject({ diff: "", untracked: [] });
    git(made.path, "add", "--all");
    expect(git(made.path, "status", "--porcelain")).toBe("");
    await removeWorktree(dir, made);
    expect(existsSync(made.path)).toBe(false);
  });

  test.each(["", "..", "a..b", "-x", "a/b", "a b", "a.lock", "a."])("cannot be named %j", async (name) => {
    await expect(addWorktree(aFolder(), name, [])).rejects.toMatchObject({ code: "bad_input" });
  });

  test("is refused with the reason where there is no repository, or the branch is there already", async () => {
    await expect(addWorktree(aFolder(), "x", [])).rejects.toMatchObject({
      code: "bad_input",
      message: expect.stringMatching(/not in a git/),
    });
    const dir = aRepo();
    await addWorktree(dir, "x", []);
    await expect(addWorktree(dir, "x", [])).rejects.toMatchObject({
      code: "bad_input",
      message: expect.stringMatching(/already exists/),
    });
  });
});

function stopMerge(dir: string): void {
  git(dir, "checkout", "--quiet", "-b", "side");
  writeFileSync(join(dir, "readme"), "side\n");
  git(dir, "commit", "--quiet", "-am", "side");
  git(dir, "checkout", "--quiet", "main");
  writeFileSync(join(dir, "readme"), "main\n");
  git(dir, "commit", "--quiet", "-am", "main");
  expect(() => git(dir, "merge", "--quiet", "side")).toThrow(/merge/);
}
