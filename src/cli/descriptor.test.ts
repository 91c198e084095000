import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isTerminal, writeTo } from "./process.ts";

const BIN = fileURLToPath(new URL("../../bin/askd", import.meta.url));

function aFile(): { path: string; descriptor: number } {
  const dir = mkdtempSync(join(tmpdir(), "askd-descriptor-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "out");
  return { path, descriptor: openSync(path, "w") };
}

test("all of a text is written, in order, before anything else happens", () => {
  const { path, descriptor } = aFile();
  const long = "ä€😀\n".repeat(100_000);
  writeTo(descriptor, long, () => expect.unreachable());
  writeTo(descriptor, "end\n", () => expect.unreachable());
  closeSync(descriptor);
  expect(readFileSync(path, "utf8") === `${long}end\n`).toBe(true);
});

test("what is no terminal is none: a file, no device of one, nothing at all", () => {
  const { descriptor } = aFile();
  expect(isTerminal(descriptor)).toBe(false);
  closeSync(descriptor);
  expect(isTerminal(descriptor)).toBe(false);
  const nothing = openSync("/dev/null", "w");
  expect(isTerminal(nothing)).toBe(false);
  closeSync(nothing);
});

test("a reader that goes away in the middle is no error", async () => {
  const child = spawn("/bin/sh", ["-c", `"$0" "$1" help ask | head -c 1; echo`, process.execPath, BIN], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdout.resume();
  await new Promise((resolve) => child.once("close", resolve));
  expect(stderr).toBe("");
});
