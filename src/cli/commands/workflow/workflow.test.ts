import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ADA } from "../../../../test/builders.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { WorkflowStage } from "../../../../test/workflow/stage.ts";
import { exportStore } from "../../../engine/trail/export.ts";
import { checkQueue } from "../../../doctor/queue.ts";
import { importLines } from "../../../engine/trail/import.ts";
import { STARTERS } from "../../../workflow/starter/starters.ts";

let base: string;
let project: string;
let folder: string;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "askd-workflow-"));
});
afterAll(() => rmSync(base, { recursive: true }));
beforeEach(() => {
  project = mkdtempSync(join(base, "project-"));
  mkdirSync(join(project, ".git"));
  folder = join(project, ".askd", "workflows");
});

const PLAIN = "name: plain\nsteps:\n  - { id: one, tool: shell, input: { argv: [ls] } }\n";

function write(name: string, text: string) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Types a command in a folder of the project. */
async function typed(argv: readonly string[], cwd = project, env: Record<string, string> = {}) {
  const writeFile = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return Promise.resolve();
  };
  return type(new Scene(), ["workflow", ...argv], { cwd, homeDir: base, writeFile, env });
}

/** The place of settings with this text. */
function settings(text: string) {
  const dir = mkdtempSync(join(base, "settings-"));
  writeFileSync(join(dir, "config.toml"), text, { mode: 0o600 });
  return { ASKD_CONFIG_DIR: dir };
}

describe("askd workflow init", () => {
  test("offers the starting points", async () => {
    const { exit, stdout } = await typed(["init"]);
    expect(exit).toBe(0);
    for (const name of Object.keys(STARTERS)) expect(stdout).toMatch(new RegExp(`^${name} +\\w`, "m"));
    const json = await typed(["init", "--json=name"]);
    expect(JSON.parse(json.stdout)).toEqual(Object.keys(STARTERS).map((name) => ({ name })));
  });

  test.each(Object.keys(STARTERS))("writes %s, which is valid", async (name) => {
    const { stdout, exit } = await typed(["init", name]);
    expect({ stdout, exit }).toMatchObject({ exit: 0, stdout: expect.stringContaining(`askd workflow graph ${name}`) });
    expect(readFileSync(join(folder, `${name}.yml`), "utf8")).toMatch(
      /^# yaml-language-server: \$schema=https:\S+\/workflow\.schema\.json\n/,
    );
    const env = settings('[mcp_servers.code]\ncommand = ["code"]\n');
    expect(await typed(["validate"], project, env)).toMatchObject({ exit: 0, stderr: "" });
    expect((await typed(["graph", name])).exit).toBe(0);
  });

  test("keeps a file that is there, unless it is forced", async () => {
    write("autofix.yml", PLAIN);
    expect(await typed(["init", "autofix"])).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining("Replace it: askd workflow init autofix --force"),
    });
    expect(readFileSync(join(folder, "autofix.yml"), "utf8")).toBe(PLAIN);
    expect((await typed(["init", "autofix", "--force"])).exit).toBe(0);
    expect(readFileSync(join(folder, "autofix.yml"), "utf8")).toContain("name: autofix");
  });

  test("suggests the name that was meant", async () => {
    expect(await typed(["init", "autofx"])).toMatchObject({ exit: 5, stderr: expect.stringContaining("autofix?") });
  });
});

describe("askd workflow validate", () => {
  test("names file, line and column, and exits with 2", async () => {
    write("good.yml", PLAIN);
    write("bad.yml", PLAIN.replace("plain", "bad").replace("tool", "tol"));
    expect(await typed(["validate"])).toEqual({
      exit: 2,
      stdout: "✓ plain, 1 step\n",
      stderr: "error: .askd/workflows/bad.yml:3:16: There is no key tol here\n  Did you mean tool?\n",
    });
    const { stdout, exit } = await typed(["validate", "--json"]);
    expect(exit).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: null, hash: null, problems: [{ level: "error", line: 3, column: 16, hint: "Did you mean tool?" }] },
      { name: "plain", steps: 1, problems: [], hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  test("checks the files that are named, wherever they are", async () => {
    writeFileSync(join(project, "draft.yml"), PLAIN);
    expect(await typed(["validate", "draft.yml"])).toMatchObject({ exit: 0, stdout: "✓ plain, 1 step\n" });
    expect(await typed(["validate", "nothing.yml"])).toMatchObject({
      exit: 2,
      stderr: "error: nothing.yml: There is no such file\n",
    });
  });

  test("warns of a tool that looks mistyped, as an MCP server may have it", async () => {
    write("w.yml", PLAIN.replace("shell", "shel"));
    expect(await typed(["validate"])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("warning: .askd/workflows/w.yml:3:22: there is no tool shel"),
    });
  });

  test("refuses a key that the input of a tool does not have, in handlers too", async () => {
    const handler = "on_failure: { tool: http, input: { uri: 'https://example.com', json: {} } }\n";
    write("w.yml", `${PLAIN.replace("[ls] }", "[ls], bogus: 1 }")}${handler}`);
    expect(await typed(["validate"])).toMatchObject({
      exit: 2,
      stderr: [
        "error: .askd/workflows/w.yml:3:50: The input of shell has no bogus\n  There are: argv, command, dir, env, stdin\n",
        "error: .askd/workflows/w.yml:4:36: The input of http has no uri\n  Did you mean url?\n",
      ].join(""),
    });
  });

  test("refuses a secret that the settings do not allow, and so does approve", async () => {
    write("plain.yml", PLAIN.replace(/input: \{/, 'input: { env: { TOK: "{{ secrets.MYSEC }}" },'));
    const env = settings('[workflows]\nsecrets = ["MYSECRET"]\n');
    expect(await typed(["validate"], project, env)).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /plain\.yml:3:\d+: workflows\.secrets does not allow MYSEC\n {2}Did you mean secrets\.MYSECRET\?/,
      ),
    });
    expect(await typed(["approve", "plain"], project, env)).toMatchObject({ exit: 2 });
    const { stderr } = await typed(["validate"]);
    expect(stderr).toContain('[workflows] secrets = ["MYSEC"]');
    expect(await typed(["validate"], project, settings('[workflows]\nsecrets = ["MYSEC"]\n'))).toMatchObject({
      exit: 0,
    });
  });

  test("warns of a tool that nothing can have without MCP servers", async () => {
    write("w.yml", PLAIN.replace("shell", "measure_it"));
    expect(await typed(["validate"])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("w.yml:3:22: there is no tool measure_it in askd, and the settings have no MCP"),
    });
    const env = settings('[mcp_servers.code]\ncommand = ["code"]\n');
    expect(await typed(["validate"], project, env)).toMatchObject({ exit: 0, stderr: "" });
  });

  test.each([
    [
      "name: w\nbudget: { per_run: 5 }\nsteps:\n  - { id: fix, tool: agent, input: { agent: codex, prompt: Do } }\n",
      "w.yml:2:9",
    ],
    ["name: w\nsteps:\n  - { id: fix, tool: agent, input: { agent: mine, prompt: Do, budget: 2 } }\n", "w.yml:3:71"],
  ])("refuses a budget for an agent whose cost is not known", async (text, place) => {
    write("w.yml", text);
    const { exit, stderr } = await typed(["validate"]);
    expect({ exit, stderr }).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`${place}: A budget cannot be kept`),
    });
    write("w.yml", text.replace(/codex|mine/, "claude"));
    expect((await typed(["validate"])).exit).toBe(0);
  });

  test("refuses links, large files and two files with one name", async () => {
    write("a.yml", PLAIN);
    write("b.yml", PLAIN);
    write("large.yml", `name: ${"x".repeat(300_000)}`);
    symlinkSync("/etc/hostname", join(folder, "link.yml"));
    const { stderr, exit } = await typed(["validate"]);
    expect(exit).toBe(2);
    expect(stderr).toContain(".askd/workflows/b.yml:1:1: ");
    expect(stderr).toContain("has a workflow of the same name, plain");
    expect(stderr).toContain(".askd/workflows/large.yml: The file has 300006 bytes");
    expect(stderr).toContain(".askd/workflows/link.yml: This is not a plain file");
  });

  test("says what to do if there are none", async () => {
    expect(await typed(["validate"])).toMatchObject({ exit: 5, stderr: expect.stringContaining("askd workflow init") });
  });
});

describe("askd workflow list and graph", () => {
  test("list the workflows of the project, also from a folder in it", async () => {
    expect((await typed([])).stdout).toBe("No workflows yet. Start with one: askd workflow init autofix\n");
    write("autofix.yml", STARTERS["autofix"]?.text ?? "");
    write("plain.yml", PLAIN);
    const inner = join(project, "src");
    mkdirSync(inner);
    expect((await typed(["list"], inner)).stdout).toBe(
      "autofix  label auto-fix, schedule 0 */6 * * * UTC\nplain    by hand\n",
    );
    expect(JSON.parse((await typed(["list", "--json=name,steps"])).stdout)).toEqual([
      { name: "autofix", steps: ["analyze", "check_confidence", "apply_fix", "run_checks", "create_pr"] },
      { name: "plain", steps: ["one"] },
    ]);
  });

  test("warn of a workflow whose file was changed or removed since it was approved", async () => {
    write("plain.yml", PLAIN);
    const scene = new Scene();
    const typeHere = (...argv: string[]) => type(scene, ["workflow", ...argv], { cwd: project, homeDir: base });
    expect((await typeHere("approve", "plain")).exit).toBe(0);
    expect((await typeHere("list")).stderr).toBe("");
    write("plain.yml", PLAIN.replace("ls", "rm"));
    const warning =
      /^warning: The file of the workflow plain was changed or removed .*: askd workflow approve plain\n$/;
    expect((await typeHere("list")).stderr).toMatch(warning);
    rmSync(join(folder, "plain.yml"));
    expect((await typeHere("list")).stderr).toMatch(warning);
  });

  test("show a picture of the steps", async () => {
    write("autofix.yml", STARTERS["autofix"]?.text ?? "");
    expect((await typed(["graph", "autofix"])).stdout).toBe(
      [
        "autofix",
        "● label auto-fix, schedule 0 */6 * * * UTC",
        "│",
        "├─ analyze: analyze_issue → analysis",
        "│",
        "├─ check_confidence: post_question, waits for an answer, if analysis.confidence < 80",
        "│  └ answered → apply_fix",
        "│  └ timeout → on_timeout",
        "│  └ skipped → apply_fix",
        "│",
        "├─ apply_fix: apply_code_fix",
        "│",
        "├─ run_checks: run_checks",
        "│",
        "├─ create_pr: github_create_pr",
        "■ completed; skipped after a timeout",
        "",
        "on_timeout",
        "│",
        "├─ on_timeout: update_github_issue",
        "",
      ].join("\n"),
    );
    const { edges } = JSON.parse((await typed(["graph", "autofix", "--json"])).stdout) as { edges: unknown[] };
    expect(edges).toContainEqual({ from: "check_confidence", to: "apply_fix", when: "answered" });
  });

  test("show branches inside their step, and words in place of lines for screen readers", async () => {
    write("release-approval.yml", STARTERS["release-approval"]?.text ?? "");
    const { stdout } = await typed(["graph", "release-approval"]);
    expect(stdout).toContain("├─ verify: at the same time\n│  │\n│  ├─ tests: shell\n│  │\n│  ├─ audit: shell\n");
    const spoken = await typed(["graph", "release-approval", "--ax-screen-reader"]);
    expect(spoken.stdout).toContain("step: verify: at the same time\n  step: tests: shell\n");
    expect(spoken.stdout).not.toMatch(/[│├●■]/);
  });

  test("name the workflow that was meant, and one that has mistakes", async () => {
    write("plain.yml", PLAIN);
    write("bad.yml", "name: bad\n");
    expect(await typed(["graph", "plian"])).toMatchObject({ exit: 5, stderr: expect.stringContaining("plain?") });
    expect(await typed(["graph", "bad"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("See them: askd workflow validate"),
    });
  });
});

/** A store that has imported a run of a workflow that nobody approved there. */
async function aStageWithImportedRun(): Promise<WorkflowStage> {
  const [stage, here] = [new WorkflowStage(), new WorkflowStage({ seed: "here" })];
  const workflow = await stage.approve(PLAIN);
  await stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  const lines: string[] = [];
  await exportStore(stage.store, { version: "1", hasSecrets: true }, async (text) => void lines.push(text));
  await importLines(here.store, Readable.from(lines), ADA);
  return here;
}

test("askd workflow show says why an imported run does not begin", async () => {
  const here = await aStageWithImportedRun();
  await here.doDue();
  const scene = new Scene({ store: () => here.store });
  const { stdout } = await type(scene, ["workflow", "show", "1"]);
  expect(stdout).toMatch(/is queued \(.*not approved here.*: askd workflow approve plain\)/);
  const json = await type(scene, ["workflow", "show", "1", "--json=reason"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ reason: expect.stringContaining("not approved here") });
});

test("askd workflow show says that an imported run needs the approval of its older definition", async () => {
  const here = await aStageWithImportedRun();
  await here.approve(`${PLAIN}description: newer\n`);
  await here.doDue();
  const scene = new Scene({ store: () => here.store });
  const { stdout } = await type(scene, ["workflow", "show", "1"]);
  expect(stdout).toMatch(
    /began with another version of its workflow than the one approved here.*file as it was then.*askd workflow approve plain/,
  );
  expect(stdout).toContain("askd workflow cancel 1");
  const nothing = {
    agents: [],
    env: {},
    doDue: async () => {},
    startWorker: async () => false,
    release: async () => {},
  };
  const findings = await checkQueue(here.store, { host: "here", ...nothing });
  expect(findings.map(({ text }) => text).join()).toContain("began with another version of its workflow");
  await here.approve(PLAIN);
  await here.approve(`${PLAIN}description: newer\n`); // the older approval stays valid
  await here.pass(30_000);
  expect(here.ran).toHaveLength(1);
});

describe("askd workflow approve", () => {
  const CODE = `[mcp_servers.code]\ncommand = ["${process.execPath}", "${resolve("test/workflow/code-tools.mjs")}"]\n`;
  const use = (...tools: string[]) =>
    `name: use\nsteps:\n${tools.map((tool) => `  - { id: ${tool.replace(".", "_")}, tool: ${tool} }\n`).join("")}`;

  test.each([
    ["no MCP server", "", "There is no tool measure_it in askd, and the settings have no MCP server"],
    ["one without it", CODE, "There is no tool measure_it in askd, and no MCP server of the settings has it"],
  ])("refuses a tool that nothing has, with %s", async (_name, text, message) => {
    write("use.yml", use("shell", "measure_it"));
    const { exit, stderr } = await typed(["approve", "use"], project, settings(text));
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining(message) });
  });

  test("takes tools that the servers have, and warns if one cannot be asked", async () => {
    write("use.yml", use("run_checks", "code.run_checks"));
    expect(await typed(["approve", "use"], project, settings(CODE))).toMatchObject({ exit: 0 });
    write("use.yml", use("measure_it"));
    const away = settings(`${CODE}[mcp_servers.away]\ncommand = ["/nowhere/at-all"]\n`);
    expect(await typed(["approve", "use"], project, away)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("these MCP servers do not start: away"),
    });
  });
});
