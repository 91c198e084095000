import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What a channel is able to do decides which cases apply to it. */
const BY_ABILITY = /\btest\.runIf\((?:traits\.\w+|provesPeople)\)/g;
const SKIPPED = /\b(?:test|it|describe|suite|context|ctx)\s*\.\s*(?:skip|skipIf|runIf|only|todo|fails)\b/;

function read(...path: string[]) {
  return readFileSync(join(ROOT, ...path), "utf8");
}

/** The test file of a channel; those whose counterpart is a program of Debian belong to the end-to-end tests. */
function readSuite(name: string): string {
  const files = ["test", "e2e"].map((kind) => `test/channels/${name}.${kind}.ts`);
  return files.flatMap((file) => (existsSync(join(ROOT, file)) ? [read(file)] : [])).join("\n");
}

test("every channel runs the shared suite, which nothing leaves out", () => {
  const channels = readdirSync(join(ROOT, "src/channels"), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);
  expect(channels.length).toBeGreaterThanOrEqual(3);
  const without = channels.filter((name) => {
    const text = readSuite(name);
    return !/^ *channelSuite\(/m.test(text) || !text.includes(`"./channel.suite.ts"`);
  });
  expect(without).toEqual([]);
});

test("the shared suite counts its cases: at least forty apply to each channel", () => {
  const suite = read("test/channels/channel.suite.ts");
  expect(suite).toMatch(/^ {4}test\("at least forty cases apply to this channel", \(\{ task \}\) => \{$/m);
  expect(suite).toContain("toBeGreaterThan(40)");
});

/** The files of the suites of channels, of workflows and of the action. */
function listSuites(): string[] {
  const inFolders = ["test/channels", "test/workflow", "src/workflow"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const others = readdirSync(join(ROOT, "test")).filter((name) => /^action|workflow/.test(name));
  return [...inFolders, ...others.map((name) => join("test", name))].filter(
    (name) => name.endsWith(".ts") && !name.endsWith("every-channel.test.ts"),
  );
}

test("no case of a channel, of a workflow or of the action is skipped, and all are part of npm test and of .ci/run", () => {
  const files = listSuites();
  for (const name of ["test/action-issue.test.ts", "test/workflow/autofix.test.ts", "test/channels/github.test.ts"])
    expect(files).toContain(name);
  const skipping = files.filter((name) => SKIPPED.test(read(name).replaceAll(BY_ABILITY, "")));
  expect(skipping).toEqual([]);
  const calls = [
    ["test", "skip("],
    ["describe", "only("],
    ["test", "skipIf(x)("],
    ["it", "todo("],
  ]; // in parts: these skip nothing
  expect(calls.every((parts) => SKIPPED.test(parts.join(".")))).toBe(true);
  expect(JSON.parse(read("package.json"))).toMatchObject({ scripts: { test: "vitest run" } });
  expect(read(".ci/run")).toMatch(/^npm test$[^]*^ *npm run e2e$/m);
  expect(read("test/e2e/vitest.config.ts")).toContain('"test/channels/*.e2e.ts"');
  const config = read("vitest.config.ts");
  expect(config).toContain('"test/**/*.test.ts"');
  expect(config).not.toMatch(/exclude:[^\n]*(?:channels|action|workflow)/);
});
