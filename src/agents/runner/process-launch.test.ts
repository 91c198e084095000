import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claude } from "../claude/claude.ts";
import { hasProcFs } from "../process/process-identity.ts";
import { findProcessLaunch, findSessionLaunch } from "./process-launch.ts";

let bin: string;
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), "askd-started-"));
  writeFileSync(join(bin, "claude"), "#!/bin/sh\n");
  chmodSync(join(bin, "claude"), 0o755);
  writeFileSync(join(bin, "cli.js"), "");
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

test.skipIf(!hasProcFs)("what a process was started with is read word by word", async () => {
  const started = await findProcessLaunch(process.pid);
  expect(started).toMatchObject({ dir: process.cwd(), env: { PATH: process.env["PATH"] } });
  expect(started?.argv.length).toBeGreaterThan(0);
  expect(await findProcessLaunch(2 ** 30)).toBeUndefined();
});

describe("the program of a session that somebody else started", () => {
  const from = (...argv: string[]) => findSessionLaunch(claude, { argv, env: { PATH: bin }, dir: bin }, undefined);

  test.each([
    ["by its name on the path", ["claude", "-p", "x"]],
    ["by a path of its own", ["./claude", "-p", "x"]],
    ["by what runs it", ["/usr/bin/node", "./claude", "-p", "x"]],
  ])("is found %s", async (_, argv) => {
    expect(await from(...argv)).toEqual({
      agent: "claude",
      program: join(bin, "claude"),
      args: [],
      dir: bin,
      env: { PATH: bin },
    });
  });

  test.each([
    ["is gone", ["gone", "-p", "x"]],
    ["cannot be started by itself", ["/usr/bin/node", "cli.js", "-p", "x"]],
    ["comes behind options of what runs it", ["node", "--require", "x.js", "./claude", "-p", "x"]],
    ["has changed what the system shows", ["claude"]],
    ["is not shown at all", []],
  ])("is not guessed where it %s", async (_, argv) => {
    expect(await from(...argv)).toBeUndefined();
  });
});
