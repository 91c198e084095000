import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import type { Child } from "./context.ts";
import { quoteShellWord } from "../core/text/shell-word.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "askd-work-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function git(...args: string[]): void {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...who, ...args], { cwd: dir, stdio: "ignore" });
}

/** A run whose agent asked in this directory and is gone. */
async function parked(over: Parameters<Scene["startedRun"]>[0] = {}): Promise<Scene> {
  const scene = new Scene();
  const run = await scene.startedRun({ dir, session: "abc123", ...over });
  await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  return scene;
}

describe("diff", () => {
  test("shows what is changed and names what is new", async () => {
    git("init", "-q");
    writeFileSync(join(dir, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-qm", "first");
    writeFileSync(join(dir, "a.txt"), "one\ntwo\n");
    mkdirSync(join(dir, ".askd/runs/1"), { recursive: true });
    writeFileSync(join(dir, ".askd/runs/1/state.json"), "{}");
    writeFileSync(join(dir, "fresh.txt"), "new\n");
    const scene = await parked();
    const { exit, stdout } = await type(scene, ["diff", "1"]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^New files:\n {2}fresh\.txt\n\ndiff --git a\/a\.txt b\/a\.txt\n[\s\S]*\n\+two\n/);
    expect(stdout).toContain("--- /dev/null\n+++ b/fresh.txt\n@@ -0,0 +1 @@\n+new\n");
    expect((await type(scene, ["diff", "1", "--stat"])).stdout).toContain(" a.txt | 1 +\n");
  });

  test.each([
    ["diff", "1"],
    ["diff", "1", "--raw"],
  ])("%s %s %s gives a patch that can be applied, new files included", async (...argv) => {
    git("init", "-q");
    writeFileSync(join(dir, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-qm", "first");
    writeFileSync(join(dir, "a.txt"), "one\ntwo\n");
    mkdirSync(join(dir, "src"));
    writeFileSync(join(dir, "src/new file.txt"), "new\n");
    const isRaw = argv.includes("--raw");
    if (isRaw) writeFileSync(join(dir, "icon.bin"), Buffer.from([0, 255, 1, 254]));
    const { stdout } = await type(await parked(), argv);
    git("stash", "-u");
    const patch = join(dir, ".git", "work.patch");
    writeFileSync(patch, stdout);
    git("apply", patch);
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(dir, "src/new file.txt"), "utf8")).toBe("new\n");
    if (isRaw) expect([...readFileSync(join(dir, "icon.bin"))]).toEqual([0, 255, 1, 254]);
  });

  test("runs no program that the repository names", async () => {
    git("init", "-q");
    writeFileSync(join(dir, "a.txt"), "one\n");
    writeFileSync(join(dir, ".gitattributes"), "*.txt diff=evil\n");
    git("add", ".");
    git("commit", "-qm", "first");
    const mark = join(dir, ".git", "ran");
    for (const name of ["diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor", "core.pager"]) {
      git("config", name, `touch ${mark}; cat`);
    }
    writeFileSync(join(dir, "a.txt"), "two\n");
    const { stdout } = await type(await parked(), ["diff", "1"]);
    expect(stdout).toContain("-one\n+two\n");
    expect(existsSync(mark)).toBe(false);
  });

  test("works before the first commit, and has nothing to say of a clean tree", async () => {
    git("init", "-q");
    const scene = await parked();
    expect(await type(scene, ["diff", "1"])).toMatchObject({ exit: 0, stdout: "" });
    writeFileSync(join(dir, "a.txt"), "one\n");
    git("add", ".");
    expect((await type(scene, ["diff", "1"])).stdout).toContain("+one\n");
  });

  test("makes the text of files safe on a terminal, in colour", async () => {
    git("init", "-q");
    writeFileSync(join(dir, "a.txt"), "\u001b]0;evil\u0007\n");
    git("add", ".");
    let shown = "";
    const stdout = { write: (text: string) => void (shown += text), isTty: true, columns: 80 };
    await type(await parked(), ["diff", "1"], { stdout });
    expect(shown).toContain("+\\x1b]0;evil\\x07");
    expect(shown).toContain("\u001b[32m");
  });

  test("says clearly that there is no git tree, no directory, or another machine", async () => {
    expect(await type(await parked(), ["diff", "1"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("is not under git"),
    });
    expect(await type(await parked({ dir: join(dir, "gone") }), ["diff", "1"])).toMatchObject({ exit: 5 });
    expect(await type(await parked({ host: "there" }), ["diff", "1"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("works on there"),
    });
  });
});

describe("takeover", () => {
  test("prints what to type, and warns that a question still waits", async () => {
    const { exit, stdout, stderr } = await type(await parked(), ["takeover", "1"]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: `cd ${dir} && claude --resume abc123\n` });
    expect(stderr).toMatch(/^Note: q-\w+ is still waiting; .*\n {2}Withdraw it first: askd cancel 1\n$/);
  });

  test("quotes what a shell would read otherwise", async () => {
    const scene = await parked({ dir: "/tmp/it's a $(place)", session: "a;b" });
    expect((await type(scene, ["takeover", "1"])).stdout).toBe(
      "cd '/tmp/it'\\''s a $(place)' && claude --resume 'a;b'\n",
    );
  });

  test("with --exec runs it there, and its exit code is ours", async () => {
    const run: Child[] = [];
    const runChild = (child: Child) => {
      run.push(child);
      return Promise.resolve({ exitCode: 3, stdout: "" });
    };
    expect((await type(await parked(), ["takeover", "1", "--exec"], { runChild })).exit).toBe(3);
    expect(run).toEqual([{ argv: ["claude", "--resume", "abc123"], cwd: dir, stdio: "inherit" }]);
  });

  test("is refused while the agent works, with what to type", async () => {
    const scene = new Scene();
    await scene.startedRun({ dir, session: "abc123" });
    expect(await type(scene, ["takeover", "1"])).toMatchObject({
      exit: 6,
      stdout: "",
      stderr: expect.stringMatching(/askd logs 1 -f.*askd runs cancel 1/),
    });
  });

  test("needs a session that cannot be taken for a flag", async () => {
    expect((await type(await parked({ session: "--dangerously" }), ["takeover", "1"])).exit).toBe(2);
    expect((await type(await parked({ agent: "command" }), ["takeover", "1"])).exit).toBe(2);
  });
});

test("a word with control characters reaches a shell as it was", () => {
  const text = "a\u001b[2J'\\\n\u202eé$(x)";
  const word = quoteShellWord(text);
  for (const unsafe of ["\u001b", "\n", "\u202e"]) expect(word).not.toContain(unsafe);
  const bash = execFileSync("bash", ["--norc", "-c", `printf %s ${word}`], {
    env: { LC_ALL: "C.UTF-8", PATH: process.env["PATH"] },
  });
  expect(bash.toString("utf8")).toBe(text);
});
