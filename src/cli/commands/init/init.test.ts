import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { SetupHome } from "../../../../test/setup-home.ts";
import { type Typed, type } from "../../../../test/typed.ts";
import type { ProcessWorld } from "../../process.ts";

/** Types init in a project of a home; nobody can be asked unless lines are given. */
function init(
  home: SetupHome,
  argv: readonly string[],
  lines?: string[],
  over: Partial<ProcessWorld> = {},
): Promise<Typed> {
  const isTty = lines !== undefined;
  const stdin = { isTty, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(lines?.shift()) };
  let stderr = "";
  const { homeDir, dir } = home.around;
  return type(new Scene(), ["init", ...argv], {
    homeDir,
    cwd: dir,
    stdin,
    self: ["/nowhere/askd"],
    env: { ASKD_HOME: join(home.root, "askd"), PATH: "/usr/bin:/bin" },
    readFile: (path) => Promise.resolve(readFileSync(path, "utf8")),
    ...(isTty && { stderr: { write: (text: string) => void (stderr += text), isTty, columns: 80 } }),
    ...over,
  }).then((typed) => ({ ...typed, stderr: typed.stderr + stderr }));
}

/** A project that Cursor and Codex are used in. */
function aProject(): SetupHome {
  const home = new SetupHome();
  home.write(join(home.around.homeDir, ".codex", "config.toml"), 'model = "x" # mine\n');
  home.write(join(home.around.homeDir, ".cursor", "mcp.json"), "{}");
  mkdirSync(join(home.around.dir, ".git"));
  home.write(join(home.around.dir, ".git", "HEAD"), "ref: refs/heads/main\n");
  home.write(join(home.around.dir, ".git", "config"), '[remote "origin"]\n\turl = git@example.com:acme/api.git\n');
  return home;
}

test("init shows what it found and would change, and without a person it needs --yes", async () => {
  const home = aProject();
  const { exit, stdout, stderr } = await init(home, []);
  expect(exit).toBe(2);
  expect(stdout).toBe(`askd 0.0.0

Found   Codex (by its settings), Cursor (by its settings)
Repo    acme/api (git)

Will change
  ~/.codex/config.toml  + mcp_servers.askd, tool_timeout_sec 300 (all projects)
  .cursor/mcp.json      + mcpServers.askd
  askd.toml             new

Files in the project name askd on this machine. For files to commit: askd init --scope project

`);
  expect(stderr).toContain("askd init --yes");
  expect(readFileSync(join(home.around.homeDir, ".codex", "config.toml"), "utf8")).toBe('model = "x" # mine\n');
});

test("init --yes wires, says how to test and to undo, and does nothing the second time", async () => {
  const home = aProject();
  const { exit, stdout } = await init(home, ["--yes"]);
  expect(exit).toBe(0);
  expect(stdout).toContain("✓ 2 agents wired. Comments and formatting kept. Undo: askd init --undo\n");
  expect(stdout).toContain('Test it: askd ask "Ready?" -o Yes -o No');
  const text = readFileSync(join(home.around.homeDir, ".codex", "config.toml"), "utf8");
  // A program that will not stay where it is would leave a dead path behind: the version is pinned instead.
  expect(text).toMatch(
    /^model = "x" # mine\n\n\[mcp_servers\.askd\]\ncommand = "npx"\nargs = \["-y", "askd@0\.0\.0", "mcp"\]\n/,
  );
  const again = await init(home, ["--yes"]);
  expect(again).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("✓ 2 agents already wired. Nothing to change.\n"),
  });

  const undone = await init(home, ["--undo"]);
  expect(undone).toEqual({
    exit: 0,
    stderr: "",
    stdout: "✓ askd.toml is gone again\n✓ .cursor/mcp.json is gone again\n✓ ~/.codex/config.toml is as it was\n",
  });
  expect(readFileSync(join(home.around.homeDir, ".codex", "config.toml"), "utf8")).toBe('model = "x" # mine\n');
  expect(await init(home, ["--undo"])).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining("has changed nothing"),
  });
});

test("init --undo is not shown beforehand, and puts nothing back when asked to", async () => {
  const home = aProject();
  await init(home, ["--yes", "--client", "cursor"]);
  const { exit, stderr } = await init(home, ["--undo", "--dry-run"]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining("--undo has no preview")]);
  expect(existsSync(join(home.around.dir, ".cursor"))).toBe(true);
});

test("an agent may neither wire agents nor undo that; it may look", async () => {
  const home = aProject();
  await init(home, ["--yes", "--client", "cursor"]);
  const inRun = { env: { ASKD_HOME: join(home.root, "askd"), ASKD_RUN: "r_01m7s0jz6m1c4ptp44yjbchg5p" } };
  for (const argv of [["--yes", "--client", "codex"], ["--undo"]]) {
    const { exit, stderr } = await init(home, argv, undefined, inRun);
    expect({ argv, exit, stderr }).toEqual({
      argv,
      exit: 7,
      stderr: expect.stringContaining("An agent may not change"),
    });
  }
  expect((await init(home, ["--dry-run"], undefined, inRun)).exit).toBe(0);
  expect(existsSync(join(home.around.dir, ".cursor"))).toBe(true);
  expect(readFileSync(join(home.around.homeDir, ".codex", "config.toml"), "utf8")).toBe('model = "x" # mine\n');
});

test("init asks, shows the diff, and leaves everything as it is when told no", async () => {
  const home = aProject();
  const { exit, stdout, stderr } = await init(home, ["--client", "codex"], ["d", "what?", "n"]);
  expect(exit).toBe(2);
  expect(stdout).toContain(' model = "x" # mine\n+\n+[mcp_servers.askd]\n');
  expect(stderr).toMatch(/(?:Show the diff\? \[d\] {2}Go ahead\? \[Y\/n\] ){3}Nothing was changed\./);
  expect(existsSync(join(home.around.dir, "askd.toml"))).toBe(false);
});

test("init --dry-run prints a diff and writes nothing", async () => {
  const home = aProject();
  const { exit, stdout } = await init(home, ["--dry-run", "--client", "cursor"]);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^--- \/dev\/null\n\+\+\+ \.cursor\/mcp\.json\n@@ -0,0 \+1,\d+ @@\n\+\{\n/);
  expect(existsSync(join(home.around.dir, ".cursor"))).toBe(false);
});

test("init --json says the same to programs", async () => {
  const home = aProject();
  home.write(join(home.around.dir, ".cursor", "mcp.json"), "{");
  const { exit, stdout } = await init(home, ["--yes", "--json"]);
  expect(exit).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    scope: "local",
    clients: [{ name: "codex", program: null }, { name: "cursor" }],
    files: [
      { file: join(home.around.homeDir, ".codex", "config.toml"), status: "change", problem: null },
      { status: "left_alone", problem: expect.stringContaining("line 1"), snippet: expect.stringContaining("askd") },
      { status: "create" },
    ],
    written: [join(home.around.homeDir, ".codex", "config.toml"), join(home.around.dir, "askd.toml")],
  });
});

test("a file that cannot be changed is named with what to put into it, and the others are done", async () => {
  const home = aProject();
  home.write(join(home.around.dir, ".cursor", "mcp.json"), "{");
  const { exit, stdout } = await init(home, ["--yes"]);
  expect(exit).toBe(1);
  expect(stdout).toContain("✓ 1 agent wired.");
  expect(stdout).toContain(
    "✗ .cursor/mcp.json was left as it is: line 1: close brace expected\n  Put this into it by hand:\n    {\n",
  );
});

test("init --scope project pins what everybody can start, and says what it means", async () => {
  const home = aProject();
  const { stdout } = await init(home, ["--yes", "--scope", "project", "--client", "claude"]);
  expect(stdout).toContain("Each of your team approves the server once");
  expect(readFileSync(join(home.around.dir, ".mcp.json"), "utf8")).toContain('"askd@0.0.0"');
});

test.each([
  ["a client that nobody knows", ["--client", "emacs"], 2, /Choose from: claude, codex/],
  ["a scope that is none", ["--scope", "team"], 2, /local, project, user/],
  ["too many words", ["claude"], 2, /is too much/],
  ["a snippet that is none", ["--print", "emacs"], 2, /claude-desktop.*generic/],
])("init refuses %s", async (_, argv, exit, why) => {
  const typed = await init(aProject(), argv);
  expect(typed.exit).toBe(exit);
  expect(typed.stderr).toMatch(why);
});

test("init finds nobody and says what to type", async () => {
  const { exit, stderr } = await init(new SetupHome(), ["--yes"]);
  expect(exit).toBe(5);
  expect(stderr).toContain("askd init --client claude|codex");
});

test.each(["antigravity", "claude-desktop", "cline", "kilo", "kimi", "kiro", "windsurf", "generic", ""])(
  "init --print %s shows what to write by hand",
  async (name) => {
    const { exit, stdout, stderr } = await init(new SetupHome(), name === "" ? ["--print"] : ["--print", name]);
    expect(exit).toBe(0);
    const [servers] = Object.values(JSON.parse(stdout) as Record<string, Record<string, object>>);
    expect(JSON.stringify(servers?.["askd"])).toContain('"askd@0.0.0","mcp"');
    expect(stderr).toMatch(/~\/|MCP/);
  },
);

test("init --print grok shows TOML", async () => {
  const { stdout } = await init(new SetupHome(), ["--print", "grok"]);
  expect(stdout).toMatch(/^\[mcp_servers\.askd\]\ncommand = "npx"\n/);
});
