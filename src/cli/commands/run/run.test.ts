import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Launch } from "../../../agents/runner/run-files.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

/** A project, and programs on PATH. */
function stage(more: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), "askd-run-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const name of ["claude", "ls", "nightly.sh"]) {
    writeFileSync(join(name === "nightly.sh" ? root : bin, name), "#!/bin/sh\n");
    chmodSync(join(name === "nightly.sh" ? root : bin, name), 0o755);
  }
  const scene = new Scene();
  const home = join(root, "home");
  const env = { ASKD_HOME: home, ASKD_CONFIG_DIR: home, PATH: [bin, "/usr/bin", "/bin"].join(delimiter), ...more };
  const run = (...argv: string[]) => type(scene, ["run", ...argv], { cwd: root, env });
  const started = async () => (await scene.engine.listRuns({ order: "newest", limit: 10 })).map(({ agent }) => agent);
  const launches = () =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((file) => basename(file) === "env.json")
      .map((file) => Launch.parse(JSON.parse(readFileSync(join(root, file), "utf8"))));
  const writeSettings = (text: string) => {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "config.toml"), text, { mode: 0o600 });
  };
  return { run, started, scene, launches, writeSettings };
}

describe("askd run", () => {
  test.each([[["Add caching"]], [["Cleanup"]], [["--agent", "claude", "ls"]]])(
    "takes words without -- for a prompt: %j",
    async (words) => {
      const { run, started } = stage();
      expect((await run(...words)).exit).toBe(0);
      expect(await started()).toEqual(["claude"]);
    },
  );

  test.each([[["--", "ls"]], [["--", "ls", "-la"]], [["--", "./nightly.sh"]]])(
    "takes words after -- for a command: %j",
    async (words) => {
      const { run, started } = stage();
      expect((await run(...words)).exit).toBe(0);
      expect(await started()).toEqual(["command"]);
    },
  );

  test.each([
    [["--", "./nightly.sh", "Kx9vQp2LmZr7"], "nightly-sh"],
    [["--", "./nightly.sh", "--key=Kx9vQp2LmZr7", "all"], "nightly-sh-key-all"],
    [["rotate Kx9vQp2LmZr7 now"], "rotate-now"],
    [["use ghp_0123456789abcdefghijABCDEFGHIJ012345"], "use"],
  ])("has no secret in the name that it makes of its words: %j", async (words, name) => {
    const { run, scene } = stage({ DB_PASSWORD: "Kx9vQp2LmZr7" });
    expect((await run(...words)).exit).toBe(0);
    expect((await scene.engine.listRuns({ order: "newest", limit: 1 })).map((each) => each.name)).toEqual([name]);
  });

  test.each([
    [["--", "claude", "-p", "x", "--max-turns", "4", "--max-budget-usd", "0.012"], { maxTurns: 4, budgetUsd: 0.012 }],
    [
      ["--max-turns", "3", "--budget", "2", "--", "claude", "-p", "x", "--max-turns", "4"],
      { maxTurns: 3, budgetUsd: 2 },
    ],
    [["--budget", "2", "--", "claude", "-p", "x", "--max-budget-usd=0.5"], { budgetUsd: 0.5 }],
  ])("counts the agent's own limits over all starts: %j", async (words, limits) => {
    const { run, launches } = stage();
    expect(await run(...words)).toMatchObject({ exit: 0 });
    expect(launches()).toMatchObject([{ args: ["-p"], options: limits }]);
  });

  test.each([
    [["ls"], "askd run -- ls"],
    [["./nightly.sh"], "askd run -- ./nightly.sh"],
    [["ls", "src"], "askd run -- ls src"],
  ])("does not guess what a program's name without -- means: %j", async (words, command) => {
    const { run, started } = stage();
    const { exit, stderr } = await run(...words);
    expect(exit).toBe(2);
    expect(stderr).toContain(command);
    expect(await started()).toEqual([]);
  });

  test("keeps the caller's environment without the secrets that the settings of askd name", async () => {
    const { run, launches, writeSettings } = stage({ BOT_TOKEN: "a-token", CI_SIGNATURE: "a-key", EDITOR: "vi" });
    writeSettings('[channels.telegram]\ntoken_env = "BOT_TOKEN"\n[hooks.ci]\nsecret_env = "CI_SIGNATURE"\n');
    expect(await run("Add caching")).toMatchObject({ exit: 0 });
    const [{ env } = { env: {} }] = launches();
    expect(env).toMatchObject({ EDITOR: "vi" });
    expect(Object.keys(env)).not.toEqual(expect.arrayContaining(["BOT_TOKEN"]));
    expect(Object.keys(env)).not.toEqual(expect.arrayContaining(["CI_SIGNATURE"]));
  });
});
