import { mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../remove-folder.ts";
import { programFile } from "./install.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(homedir(), ".askd-e2e-"));
  mkdirSync(join(root, "project"));
});
afterEach(() => removeFolder(root));

function type(...argv: string[]): Promise<{ exit: number | null; stdout: string; stderr: string }> {
  const path = [dirname(programFile("claude")), process.env["PATH"]].join(":");
  const child = spawn(process.execPath, [resolve("bin", "askd"), ...argv], {
    cwd: join(root, "project"),
    env: { PATH: path, HOME: root, ASKD_HOME: root, ASKD_LIVE_WINDOW: "1s" },
    timeout: 100_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  return new Promise((done) => child.once("close", (exit) => done({ exit, stdout, stderr })));
}

test("doctor --probe claude measures the program itself, and keeps what it found", async () => {
  const { exit, stdout, stderr } = await type("doctor", "--probe", "claude", "--max", "55s", "--json");
  expect(exit === 0 ? "measured" : `${stdout}${stderr}`).toBe("measured");
  expect(JSON.parse(stdout)).toMatchObject({
    agent: "claude",
    profile: {
      version: "2.1.325",
      client: { name: "claude-code", version: "2.1.325" },
      is_offered: true,
      held_ms: expect.any(Number),
    },
    measurements: expect.arrayContaining([expect.objectContaining({ what: "progress extends that limit" })]),
  });
  expect(stderr).toContain("claude: tool offered without alwaysLoad …");
  const kept: Record<string, unknown> = JSON.parse(readFileSync(join(root, "state/clients/claude.json"), "utf8"));
  expect(kept).toMatchObject({ agent: "claude", isOffered: true });
  expect(readdirSync(join(root, "state"))).toEqual(["clients"]); // nothing of the trials is left
});
