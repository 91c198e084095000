import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { hasProcFs } from "../agents/process/process-identity.ts";
import { until } from "../../test/run-dir.ts";

/** Starts the stand-in for Claude Code as a person would, with our hook in its settings, and lets it run to its end. */
async function startByHand(at: BuiltScene): Promise<number | null> {
  const agent = at.program(
    "claude",
    `#!/usr/bin/env node\nimport(${JSON.stringify(resolve("test/agents/claude.mjs"))});\n`,
  );
  const folder = join(at.home, "play");
  mkdirSync(folder);
  const command = [process.execPath, BIN, "hook", "claude", "--hold", "1s"].join(" ");
  const hooks = { PreToolUse: [{ matcher: "AskUserQuestion", hooks: [{ type: "command", command, timeout: 60 }] }] };
  const settings = join(at.home, "settings.json");
  writeFileSync(settings, JSON.stringify({ hooks }));
  const own = { PATH: process.env["PATH"], HOME: at.home, ASKD_HOME: at.home };
  // Without this variable it cannot even begin: only the session's own environment has it.
  const env = { ...own, STAND_IN: JSON.stringify({ folder }) };
  const child = spawn(agent, ["-p", "--settings", settings, "--model", "opus"], {
    cwd: at.project,
    env,
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin?.end("Add caching.");
  return new Promise((done) => child.once("close", done));
}

test.skipIf(!hasProcFs)(
  "a session that a person started is parked by its hook and resumed by a worker with the environment that it had",
  async () => {
    const at = new BuiltScene();
    expect(await startByHand(at)).toBe(0);
    expect(await at.show("1")).toMatchObject({ status: "awaiting_input", agent: "claude" });
    const answered = await at.type("answer", "1", "Memcached");
    expect(answered.stdout.toString()).toContain("Resuming with Claude Code. Follow: askd logs 1 -f");
    const run = await until("the run is complete", async () => {
      const shown = await at.show("1");
      return shown["status"] === "completed" ? shown : undefined;
    });
    const out = readFileSync(join(at.home, "state", "runs", String(run["id"]), "1.out"), "utf8");
    expect(out).toContain('\\"Which cache should I use?\\"=\\"Memcached\\"');
    const starts = readFileSync(join(at.home, "play", "journal"), "utf8").match(/"is":"start"/g);
    expect(starts).toHaveLength(2);
  },
  60_000,
);
