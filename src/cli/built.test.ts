import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

// The program as people start it; `npm test` builds it first.
const BIN = fileURLToPath(new URL("../../bin/askd", import.meta.url));
const children: ChildProcess[] = [];
let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-test-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

/** A started command: what it prints as it comes, and how it ends. */
function start(...argv: string[]) {
  return startProgram(process.execPath, [BIN, ...argv]);
}

function startProgram(program: string, argv: readonly string[]) {
  const child = spawn(program, argv, {
    env: { PATH: process.env["PATH"], ASKD_HOME: home, ASKD_NO_SERVICE: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const lines: string[] = [];
  const waiting: Array<() => void> = [];
  let stdout = "";
  const hear = (line: string): void => {
    lines.push(line);
    for (const look of waiting) look();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", hear);
  const ended = new Promise<{ exit: number | null; signal: string | null; stdout: string }>((resolve) => {
    child.once("close", (exit, signal) => resolve({ exit, signal, stdout }));
  });
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = lines.map((each) => pattern.exec(each)).find((match) => match);
        if (found) resolve(found[1] ?? found[0]);
      };
      waiting.push(look);
      look();
    });
  return { child, ended, line };
}

test("an answer from another process reaches the one that waits", async () => {
  const asker = start("ask", "Which?", "-o", "a:Apple", "-o", "b:Pear", "--wait", "1m");
  const id = await asker.line(/^asked (q-\w+)/);
  expect(await start("answer", id, "pear").ended).toMatchObject({ exit: 0 });
  expect(await asker.ended).toEqual({ exit: 0, signal: null, stdout: "b\n" });
  expect((await start("check", id, "--json").ended).stdout).toContain('"status":"answered","answer":"b"');
});

test.each([
  ["no", 12, false],
  ["yes", 0, true],
])("in a shell, `&&` behind an approval that is answered %s ends with %i", async (said, exit, isDeployed) => {
  const line = `"$0" "$1" ask "Deploy to production?" --kind approval --wait 1m && touch "$2"`;
  const deployed = join(home, "deployed");
  const shell = startProgram("sh", ["-c", line, process.execPath, BIN, deployed]);
  const id = await shell.line(/^asked (q-\w+)/);
  expect(existsSync(deployed)).toBe(false);
  expect((await start("answer", id, said).ended).exit).toBe(0);
  expect((await shell.ended).exit).toBe(exit);
  expect(existsSync(deployed)).toBe(isDeployed);
});

test("pages are as wide as COLUMNS says where nothing else does", async () => {
  await start("ask", "Should the cache of the public API be Redis or Memcached?", "-q").ended;
  const { stdout } = await start("list").ended;
  expect(stdout).toContain("be Redis or Memcached?\n");
  const child = spawn(process.execPath, [BIN, "list"], { env: { ...process.env, ASKD_HOME: home, COLUMNS: "60" } });
  let narrow = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (narrow += text));
  await once(child, "close");
  expect(narrow).toMatch(/…\n$/);
});

test("a question outlives the process that asked it", async () => {
  const asker = start("ask", "Which?", "--wait", "1m");
  const id = await asker.line(/^asked (q-\w+)/);
  asker.child.kill("SIGKILL");
  expect((await asker.ended).signal).toBe("SIGKILL");
  expect((await start("check", id).ended).exit).toBe(8);
  expect((await start("answer", id, "this one").ended).exit).toBe(0);
  expect((await start("show", id).ended).stdout).toContain("this one, by ");
});

test("an interrupted ask ends as interrupted, and its question waits", async () => {
  const asker = start("ask", "Which?", "--wait", "1m");
  const id = await asker.line(/^asked (q-\w+)/);
  await asker.line(/^waiting for a person/);
  asker.child.kill("SIGINT");
  expect(await asker.ended).toEqual({ exit: 130, signal: null, stdout: "" });
  expect((await start("show", id).ended).stdout).toContain("Status: awaiting_input");
});

test("a reader that goes away is no error", async () => {
  const { child, ended } = start("--help");
  child.stdout?.destroy();
  expect((await ended).exit).toBe(0);
});

test("status and help read the everyday part of the program only", async () => {
  expect((await start("ask", "Which?").ended).exit).toBe(0);
  expect((await start("run", "--", "true").ended).exit).toBe(0);
  expect((await start("status").ended).stdout).toMatch(/Q: Which\?[^]*QUEUED:/);
  expect((await start("--help").ended).exit).toBe(0);
  expect((await start("nonsense").ended).exit).toBe(2);
  // Each start keeps the code of what it has read.
  const kept = readdirSync(join(home, "cache", "code")).map((name) => name.split("-").slice(3).join("-"));
  const often = ["--help-cli.cjs", "ask-cli.cjs", "refused-cli.cjs", "run-cli.cjs", "status-cli.cjs"];
  expect(kept.sort()).toEqual([...often, "ask-rest.cjs", "run-rest.cjs"].sort());
});
