import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { until } from "../../../test/run-dir.ts";
import { runStepProgram } from "./step-program.ts";

const env = { PATH: process.env["PATH"] ?? "" };

function aFolder() {
  const dir = mkdtempSync(join(tmpdir(), "askd-program-"));
  onTestFinished(() => removeFolder(dir));
  return dir;
}

/** Runs a script of Node to its end. */
async function node(script: string, { input, signal }: { input?: string; signal?: AbortSignal } = {}) {
  const argv = [process.execPath, "-e", script];
  return runStepProgram({ argv, dir: aFolder(), env, input, signal: signal ?? new AbortController().signal });
}

test("a program gets its input and returns its output and exit code", async () => {
  const script = "process.stdin.pipe(process.stdout); process.stderr.write('why'); process.exitCode = 3";
  expect(await node(script, { input: "hello" })).toEqual({ exitCode: 3, stdout: "hello", stderr: "why" });
});

test("of a long output the last 64 kB are kept", async () => {
  const { stdout } = await node("process.stdout.write('a'.repeat(300000) + 'the end')");
  expect(stdout).toHaveLength(64 * 1024);
  expect(stdout.endsWith("aathe end")).toBe(true);
});

test("a program that is not there ends with 127, and is named", async () => {
  const argv = ["/nowhere/at-all"];
  const { signal } = new AbortController();
  expect(await runStepProgram({ argv, dir: aFolder(), env, signal })).toEqual({
    exitCode: 127,
    stdout: "",
    stderr: "There is no program /nowhere/at-all",
  });
});

test("an abort ends the program and what it started, and its output so far is kept", async () => {
  const dir = aFolder();
  const file = join(dir, "pid");
  const stop = new AbortController();
  // The shell waits for a child that ignores the end of its parent.
  const argv = ["sh", "-c", `echo first; sleep 600 & echo $! > ${file}; wait`];
  const running = runStepProgram({ argv, dir, env, signal: stop.signal });
  await until("it has started another", async () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  stop.abort();
  expect(await running).toEqual({ exitCode: 128 + 15, stdout: "first\n", stderr: "" });
  const pid = Number(readFileSync(file, "utf8"));
  await until("what it started is gone", async () => !isThere(pid));
});

test("a program is not started after an abort", async () => {
  await expect(node("process.exit(0)", { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
