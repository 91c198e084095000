import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

/** A project, and programs on PATH. */
function stage() {
  const root = mkdtempSync(join(tmpdir(), "askd-run-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const name of ["claude", "ls", "nightly.sh"]) {
    writeFileSync(join(name === "nightly.sh" ? root : bin, name), "#!/bin/sh\n");
    chmodSync(join(name === "nightly.sh" ? root : bin, name), 0o755);
  }
  const scene = new Scene();
  const env = { ASKD_HOME: join(root, "home"), PATH: [bin, "/usr/bin", "/bin"].join(delimiter) };
  const run = (...argv: string[]) => type(scene, ["run", ...argv], { cwd: root, env });
  const started = async () => (await scene.engine.listRuns({ order: "newest", limit: 10 })).map(({ agent }) => agent);
  return { run, started };
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
});
