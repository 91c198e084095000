import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What a channel is able to do decides which cases apply to it. */
const BY_ABILITY = /\btest\.runIf\((?:traits\.\w+|provesPeople)\)/g;
/** Clocks that are put forward, and the only message of a board: they leave nothing out. */
const OTHER_USES = /\b(?:\w*[sS]cene|stage|first)\.skip\(|\b(?:board|boards\.\w+|working)\.only\b/g;
/** Ways to leave cases out: at the end of any chain, as an option, given to the case, by a computed name. */
const SKIPPED = [
  /\.\s*(?:skip|skipIf|runIf|only|todo|fails)\b/,
  /\b(?:skip|only|todo|fails)\s*[:,}(]/,
  /\b(?:test|it|describe|suite)\s*\??\.?\s*\[/,
];
const TEXT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** Says whether a file may leave cases out. A use that is none of the known ones is one too many rather than too few. */
function mayLeaveOut(text: string): boolean {
  const code = text.replaceAll(TEXT, '""').replaceAll(BY_ABILITY, "").replaceAll(OTHER_USES, "");
  return SKIPPED.some((way) => way.test(code));
}

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

/** The folders of everything that reaches people, and of workflows. */
const FOLDERS = [
  "test/channels",
  "test/workflow",
  "src/channels",
  "src/workflow",
  "src/cli/commands/workflow",
  "src/core/channel",
  "src/core/workflow",
  "src/engine/reach",
];

/** The files with cases of channels, of workflows and of the action. */
function listSuites(): string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const others = ["test", "test/e2e"].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => /action|workflow|approval|away|escalation|fan-out|groups|inbound|late-reply|reach/.test(name))
      .map((name) => join(folder, name)),
  );
  return [...inFolders, ...others]
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith("every-channel.test.ts"))
    .filter((name) => /\b(?:test|it|describe)\b[^;]*from "vitest"/.test(read(name)));
}

test.each([
  "test.skip(",
  "it.todo(",
  "describe.only(",
  "test.skipIf(x)(",
  "test.concurrent.skip(",
  "test.each([1]).skip(",
  "test.extend({}).only(",
  "case.skip(",
  'test("a", ({ skip }) => skip())',
  'test("a", { skip: true }, run)',
  'test("a", { only: isAlone }, run)',
  'test["skip"]("a", run)',
  "const { skip } = test;",
  "test\n  .skip(",
  "test.runIf(isRoot)(",
  "task.context.skip()",
])("a case that is left out by %j is found", (text) => {
  expect(mayLeaveOut(text)).toBe(true);
});

test.each(["test.runIf(traits.hasStatuses)(", "scene.skip(1);", 'say("skip()")', "expect(board.only.text).toBe(1)"])(
  "%j leaves nothing out",
  (text) => {
    expect(mayLeaveOut(text)).toBe(false);
  },
);

test("no case of a channel, of a workflow or of the action is skipped, and all are part of npm test and of .ci/run", () => {
  const files = listSuites();
  for (const name of [
    "test/action-issue.test.ts",
    "test/workflow/autofix.test.ts",
    "test/channels/github.test.ts",
    "test/channels/channel.suite.ts",
    "test/e2e/action-crash.e2e.ts",
    "src/channels/github/markdown.test.ts",
  ])
    expect(files).toContain(name);
  expect(files.filter((name) => mayLeaveOut(read(name)))).toEqual([]);
  expect(JSON.parse(read("package.json"))).toMatchObject({ scripts: { test: "vitest run" } });
  expect(read(".ci/run")).toMatch(/^npm test$[^]*^ *npm run e2e$/m);
  expect(read("test/e2e/vitest.config.ts")).toContain('"test/channels/*.e2e.ts"');
  const config = read("vitest.config.ts");
  expect(config).toContain('"test/**/*.test.ts"');
  expect(config).not.toMatch(/exclude:[^\n]*(?:channels|action|workflow)/);
});
