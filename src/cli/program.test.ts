import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { asTyped, findProgram } from "./program.ts";

/** A folder with the program in it, and one that is on the path. */
function place(name = "clone") {
  const root = mkdtempSync(join(tmpdir(), "askd-program-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const clone = join(root, name);
  const dir = join(root, "bin");
  for (const each of [join(clone, "bin"), dir]) mkdirSync(each, { recursive: true });
  const bin = join(clone, "bin/askd");
  writeFileSync(bin, "#!/usr/bin/env node\n");
  const find = (cwd: string, env: Record<string, string> = {}): string =>
    findProgram({ bin, cwd, platform: "linux", env: { PATH: ["/nowhere", dir].join(delimiter), ...env } });
  return { root, clone, dir, bin, find };
}

describe("the program is called by what a person can type", () => {
  test("its name, where the path leads to it by a link or a script", () => {
    const { bin, clone, dir, find } = place();
    symlinkSync(bin, join(dir, "askd"));
    expect(find(clone)).toBe("askd");
    rmSync(join(dir, "askd"));
    writeFileSync(join(dir, "askd"), '#!/bin/sh\nexec node "$basedir/global/node_modules/askd/bin/askd" "$@"\n');
    expect(find("/")).toBe("askd");
  });

  test("its file, where the path leads to another askd or to none", () => {
    const { bin, clone, dir, find } = place();
    expect([find(clone), find("/")]).toEqual(["./bin/askd", bin]);
    copyFileSync(bin, join(dir, "askd"));
    expect(find(clone)).toBe("./bin/askd");
  });

  test("its file in quotes, where a shell would take it apart", () => {
    const { bin, find } = place("a clone");
    expect(find("/")).toBe(`'${bin}'`);
  });

  test("npx, where npm started it or it lies in a project's packages", () => {
    const { bin, clone, root, find } = place();
    expect(find(clone, { npm_lifecycle_event: "npx" })).toBe("npx askd");
    const packages = join(root, "project/node_modules/.bin");
    mkdirSync(packages, { recursive: true });
    symlinkSync(bin, join(packages, "askd"));
    expect(find("/", { npm_lifecycle_event: "ask", PATH: packages })).toBe("npx askd");
    const cached = "/home/ada/.npm/_npx/1f/node_modules/askd/bin/askd";
    expect(findProgram({ bin: cached, cwd: "/", platform: "linux", env: {} })).toBe("npx askd");
  });

  test("its file as seen from where the person is, in a script of npm", () => {
    const { root, clone, find } = place();
    expect(find(clone, { npm_lifecycle_event: "start", INIT_CWD: clone })).toBe("./bin/askd");
    expect(find(clone, { npm_lifecycle_event: "start", INIT_CWD: root })).toBe("./clone/bin/askd");
  });
});

test.each([
  ["Answer it: askd answer 42", "Answer it: npx askd answer 42"],
  ["Usage: askd [command] [flags]", "Usage: npx askd [command] [flags]"],
  ["See all commands: askd --help, or askd help ids", "See all commands: npx askd --help, or npx askd help ids"],
  ["claude mcp add askd -- askd mcp", "claude mcp add askd -- npx askd mcp"],
  ["askd needs Node 20.19; this askd knows 3", "askd needs Node 20.19; this askd knows 3"],
  ["npx askd status, ./bin/askd status, /opt/askd status", "npx askd status, ./bin/askd status, /opt/askd status"],
])("%j is told as %j", (text, told) => {
  expect(asTyped(text, "npx askd")).toBe(told);
});

test("pages, hints and help name the program as it was started", async () => {
  const scene = new Scene();
  const program = "./bin/askd";
  for (const [argv, words] of [
    [["status"], 'No runs yet. Try: ./bin/askd run -- claude -p "…"'],
    [["lst"], "Did you mean: ./bin/askd list"],
    [["answer"], "Usage: ./bin/askd answer <id>"],
    [["help", "answer"], "Usage: ./bin/askd answer <id>"],
    [["ask", "Which?", "-o", "askd status"], "Answer with: ./bin/askd answer q-"],
    [["status"], 'Run: ./bin/askd answer 1 "askd status"'],
    [["show", "1"], "1. askd status\n    2. Other"],
    [["show", "1"], 'Answer with: ./bin/askd answer 1 "your response"'],
    [["claim", "1"], "Release it: ./bin/askd release 1"],
    [["user", "list"], "Add one: ./bin/askd user add"],
  ] as const) {
    const { stdout, stderr } = await type(scene, argv, { program });
    expect(`${stdout}${stderr}`).toContain(words);
  }
});
