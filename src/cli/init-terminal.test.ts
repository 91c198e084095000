import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { Terminal } from "../../test/terminal.ts";

/** A home in which Codex and Gemini CLI are used, by what is on the path. */
function aHome(): { scene: BuiltScene; env: Record<string, string> } {
  const scene = new BuiltScene();
  const bin = join(scene.home, "bin");
  mkdirSync(bin);
  for (const [name, version] of Object.entries({ codex: "0.166.0", gemini: "0.61.0" })) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  }
  execFileSync("git", ["init", "-q", scene.project]);
  mkdirSync(join(scene.project, ".gemini"));
  writeFileSync(join(scene.project, ".gemini", "settings.json"), '{\n  // mine\n  "theme": "GitHub"\n}\n');
  const env = { HOME: scene.home, ASKD_HOME: scene.home, PATH: `${bin}:${process.env["PATH"]}` };
  return { scene, env };
}

test("in a terminal init shows the diff, wires, asks a real question, and its run goes on", async () => {
  const { scene, env } = aHome();
  const terminal = new Terminal(`'${process.execPath}' '${BIN}' init`, { cwd: scene.project, env });
  await terminal.shows(/Found {3}Codex 0\.166\.0, Gemini CLI 0\.61\.0[\s\S]*Go ahead\? \[Y\/n\]/);
  terminal.type("d", "Enter");
  await terminal.shows(/\/\/ mine\n-? *"theme": "GitHub"[\s\S]*\+ {2}"mcpServers": \{[\s\S]*Go ahead\?/);
  terminal.type("Y", "Enter");
  await terminal.shows(/✓ 2 agents wired[\s\S]*Test question: Is this the right terminal\?\n +1 Yes {3}2 No\n +>/);
  terminal.type("1", "Enter");
  const screen = await terminal.shows(/\[it ended with \d+\]/);
  expect(screen).toMatch(
    /✓ Answered in \d+s\. The test run resumed\.\n[\s\S]*Next: askd run[\s\S]*\[it ended with 0\]/,
  );
  expect(readFileSync(join(scene.project, ".gemini", "settings.json"), "utf8")).toContain(
    '// mine\n  "theme": "GitHub",\n',
  );

  const run = await scene.show("init-test");
  expect(run).toMatchObject({ status: "completed", humanResponse: "Yes" });
  const again = new Terminal(`'${process.execPath}' '${BIN}' init`, { cwd: scene.project, env });
  expect(await again.shows(/\[it ended with \d+\]/)).toMatch(
    /✓ 2 agents already wired\. Nothing to change\.\n\[it ended with 0\]/,
  );
});

test("a person who says no, or leaves the test question, loses nothing", async () => {
  const { scene, env } = aHome();
  const terminal = new Terminal(`'${process.execPath}' '${BIN}' init`, { cwd: scene.project, env });
  await terminal.shows(/Go ahead\? \[Y\/n\]/);
  terminal.type("n", "Enter");
  await terminal.shows(/Nothing was changed\.\n\[it ended with 2\]/);
  const other = new Terminal(`'${process.execPath}' '${BIN}' init`, { cwd: scene.project, env });
  await other.shows(/Go ahead\? \[Y\/n\]/);
  other.type("Enter");
  await other.shows(/1 Yes {3}2 No\n +>/);
  other.type("C-d");
  expect(await other.shows(/\[it ended with \d+\]/)).toMatch(/The agents are wired\.[\s\S]*\[it ended with 0\]/);
});
