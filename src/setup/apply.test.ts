import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SetupHome } from "../../test/setup-home.ts";
import { applyPlans } from "./apply.ts";
import { AGENTS } from "../agents/agents.ts";
import type { Scope } from "../agents/wiring.ts";
import { clientsOf, findClient } from "./clients.ts";
import { planGuide, planProjectFile } from "./project-file.ts";
import { isChange, planClients } from "./plan.ts";
import { recordsFor, undoRecord } from "./undo.ts";

const plans = (home: SetupHome, scope: Scope, ...names: string[]) =>
  planClients(
    names.map((name) => ({ client: findClient(clientsOf(AGENTS), name)!, scope })),
    home.around,
  );

async function undoAll(home: SetupHome) {
  const records = await recordsFor(home.history, home.around.dir);
  const undone = [];
  for (const record of records) undone.push(...(await undoRecord(record)));
  return undone;
}

/** Every file and folder below one, for comparison. */
function tree(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).toSorted((one, other) => (one < other ? -1 : 1));
}

test.each(["local", "project", "user"] as const)(
  "all clients are wired in scope %s where there was nothing, and everything goes again",
  async (scope) => {
    const home = new SetupHome();
    const before = [tree(home.around.homeDir), tree(home.around.dir)];
    const names = clientsOf(AGENTS).map(({ name }) => name);
    const applied = await applyPlans(
      [...(await plans(home, scope, ...names)), ...(await planProjectFile(home.around.dir))],
      home.at,
    );
    expect(applied.failed).toEqual([]);
    expect((await plans(home, scope, ...names)).filter(isChange)).toEqual([]);
    expect(await planProjectFile(home.around.dir)).toEqual([]);
    // Shared files name nothing of this machine.
    const texts = applied.done.map(({ file }) => readFileSync(file, "utf8")).join("");
    expect(texts.includes("/opt/askd")).toBe(scope !== "project");
    for (const one of await undoAll(home)) expect(one.is).toBe("removed");
    expect([tree(home.around.homeDir), tree(home.around.dir)]).toEqual(before);
  },
);

test("two clients that read one file share an entry", async () => {
  const home = new SetupHome();
  await applyPlans(await plans(home, "project", "claude", "copilot"), home.at);
  const { mcpServers } = JSON.parse(readFileSync(join(home.around.dir, ".mcp.json"), "utf8"));
  expect(mcpServers).toEqual({
    askd: { type: "stdio", command: "npx", args: ["-y", "askd@1.0.0", "mcp"], alwaysLoad: true, tools: ["*"] },
  });
});

test("a link stays a link, and what it leads to is changed and restored", async () => {
  const home = new SetupHome();
  const real = home.write(join(home.root, "dotfiles", "mcp.json"), '{"mcpServers":{}}');
  const link = join(home.around.dir, ".cursor", "mcp.json");
  mkdirSync(join(home.around.dir, ".cursor"));
  symlinkSync("../../dotfiles/mcp.json", link);
  await applyPlans(await plans(home, "local", "cursor"), home.at);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toContain('"askd"');
  await undoAll(home);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe('{"mcpServers":{}}');
});

test("a link to a file that is not there yet makes that file", async () => {
  const home = new SetupHome();
  mkdirSync(join(home.around.dir, ".cursor"));
  symlinkSync("../../dotfiles/mcp.json", join(home.around.dir, ".cursor", "mcp.json"));
  await applyPlans(await plans(home, "local", "cursor"), home.at);
  expect(readFileSync(join(home.root, "dotfiles", "mcp.json"), "utf8")).toContain('"askd"');
  expect(await undoAll(home)).toMatchObject([{ is: "removed" }]);
  expect(existsSync(join(home.root, "dotfiles"))).toBe(false);
});

test("mode and other names of a file stay", async () => {
  const home = new SetupHome();
  const file = home.write(join(home.around.dir, ".cursor", "mcp.json"), "{}");
  chmodSync(file, 0o640);
  const other = join(home.around.dir, "other-name.json");
  linkSync(file, other);
  await applyPlans(await plans(home, "local", "cursor"), home.at);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readFileSync(other, "utf8")).toContain('"askd"');
  const alone = home.write(join(home.around.homeDir, ".codex", "config.toml"), "");
  chmodSync(alone, 0o600);
  await applyPlans(await plans(home, "local", "codex"), home.at);
  expect(statSync(alone).mode & 0o777).toBe(0o600);
  expect(tree(home.root).filter((name) => name.endsWith(".draft"))).toEqual([]);
});

test.each([
  ["is read-only", "{}", 0o444, /read-only/],
  ["cannot be read", '{"a": ', 0o644, /line 1/],
  ["is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), 0o644, /not UTF-8/],
  ["has a name twice", '{"mcpServers": 1, "mcpServers": {}}', 0o644, /twice/],
  ["holds something else at our place", '{"mcpServers": []}', 0o644, /not a table/],
])("a file that %s is left alone, its snippet is there, and the others are done", async (_, content, mode, why) => {
  const home = new SetupHome();
  const file = home.write(join(home.around.dir, ".cursor", "mcp.json"), content);
  chmodSync(file, mode);
  const planned = await plans(home, "local", "cursor", "gemini");
  expect(planned[0]?.problem).toEqual({ why: expect.stringMatching(why), snippet: expect.stringContaining('"askd"') });
  const { done, failed } = await applyPlans(planned, home.at);
  expect({ done: done.map((plan) => plan.titles), failed }).toEqual({ done: [["Gemini CLI"]], failed: [] });
  expect(readFileSync(file).equals(Buffer.from(content))).toBe(true);
});

test("a file that changed between the plan and its writing is not written", async () => {
  const home = new SetupHome();
  const file = home.write(join(home.around.dir, ".cursor", "mcp.json"), "{}");
  const planned = await plans(home, "local", "cursor");
  home.write(file, '{"a": 1}');
  const { failed } = await applyPlans(planned, home.at);
  expect(failed).toMatchObject([{ why: expect.stringContaining("changed meanwhile") }]);
  expect(readFileSync(file, "utf8")).toBe('{"a": 1}');
});

test("what its owner set on purpose stays", async () => {
  const home = new SetupHome();
  const http = { url: "https://askd.example.com/mcp", headers: { Authorization: "Bearer ${ASKD_TOKEN}" } };
  const docker = { command: "docker", args: ["run", "-i", "askd", "mcp"], trust: false, timeout: 900_000 };
  const cursor = home.write(
    join(home.around.dir, ".cursor", "mcp.json"),
    JSON.stringify({ mcpServers: { askd: http } }),
  );
  const gemini = home.write(
    join(home.around.dir, ".gemini", "settings.json"),
    JSON.stringify({ mcpServers: { askd: docker } }),
  );
  await applyPlans(await plans(home, "local", "cursor", "gemini"), home.at);
  expect(JSON.parse(readFileSync(cursor, "utf8"))).toEqual({ mcpServers: { askd: http } });
  expect(JSON.parse(readFileSync(gemini, "utf8"))).toMatchObject({ mcpServers: { askd: docker } });
});

test("Codex may not start without the server, and a choice of the user stays", async () => {
  const home = new SetupHome();
  const file = join(home.around.homeDir, ".codex", "config.toml");
  await applyPlans(await plans(home, "local", "codex"), home.at);
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(/^required = true$/m);
  writeFileSync(file, text.replace("required = true", "required = false"));
  await applyPlans(await plans(home, "local", "codex"), home.at);
  expect(readFileSync(file, "utf8")).toMatch(/^required = false$/m);
});

test("a longer live window raises what is too short by then", async () => {
  const home = new SetupHome();
  await applyPlans(await plans(home, "local", "codex", "gemini"), home.at);
  home.around.liveWindowMs = 20 * 60_000;
  await applyPlans(await plans(home, "local", "codex", "gemini"), home.at);
  expect(readFileSync(join(home.around.homeDir, ".codex", "config.toml"), "utf8")).toContain(
    "tool_timeout_sec = 1260\n",
  );
  const settings = JSON.parse(readFileSync(join(home.around.dir, ".gemini", "settings.json"), "utf8"));
  expect(settings.mcpServers.askd.timeout).toBe(1_260_000);
  const [{ hooks }] = settings.hooks.BeforeTool;
  expect(hooks).toEqual([
    { type: "command", command: "/opt/askd/bin/askd hook gemini --standing --timeout 1230s", timeout: 1_230_000 },
  ]);
});

test("several changes are undone from the last to the first", async () => {
  const home = new SetupHome();
  const file = home.write(join(home.around.dir, ".gemini", "settings.json"), '{ "theme": "x" }');
  await applyPlans(await plans(home, "local", "gemini"), { ...home.at, now: "2026-11-16T04:00:00.000Z" });
  home.around.liveWindowMs = 20 * 60_000;
  await applyPlans(await plans(home, "local", "gemini"), { ...home.at, now: "2026-11-16T05:00:00.000Z" });
  expect(await undoAll(home)).toEqual([
    { file, is: "restored" },
    { file, is: "restored" },
  ]);
  expect(readFileSync(file, "utf8")).toBe('{ "theme": "x" }');
});

test("what was done for another project is not undone", async () => {
  const home = new SetupHome();
  await applyPlans(await plans(home, "local", "cursor"), { ...home.at, dir: "/elsewhere" });
  expect(await recordsFor(home.history, home.around.dir)).toEqual([]);
});

test("a new askd.toml that somebody wrote into stays", async () => {
  const home = new SetupHome();
  const [plan] = await planProjectFile(home.around.dir);
  await applyPlans([plan!], home.at);
  home.write(plan!.file, '[questions]\nlive_window = "5m"\n');
  expect(await undoAll(home)).toEqual([{ file: plan!.file, is: "kept" }]);
  expect(existsSync(plan!.file)).toBe(true);
});

test("copies are for nobody else", async () => {
  const home = new SetupHome();
  home.write(join(home.around.dir, ".cursor", "mcp.json"), "{}");
  await applyPlans(await plans(home, "local", "cursor"), home.at);
  const [record] = await recordsFor(home.history, home.around.dir);
  expect(statSync(record!.folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(record!.folder)) expect(statSync(join(record!.folder, name)).mode & 0o777).toBe(0o600);
});

test("the block for agents goes into a new file, which goes again", async () => {
  const home = new SetupHome();
  await applyPlans(await planGuide(home.around.dir), home.at);
  const file = join(home.around.dir, "AGENTS.md");
  expect(readFileSync(file, "utf8")).toMatch(/^<!-- askd:begin -->\n[\s\S]*ask_human[\s\S]*<!-- askd:end -->\n$/);
  expect(await undoAll(home)).toEqual([{ file, is: "removed" }]);
});

test.each([
  ["a plain file", "# Rules\n\nBe kind.\n"],
  ["one with line ends of Windows and none at its end", "# Rules\r\n\r\nBe kind."],
])("the block for agents goes into %s once, and out again when that was changed since", async (_, content) => {
  const home = new SetupHome();
  const file = home.write(join(home.around.dir, "CLAUDE.md"), content);
  await applyPlans(await planGuide(home.around.dir), home.at);
  const text = readFileSync(file, "utf8");
  expect(text.startsWith(content)).toBe(true);
  expect(text).toMatch(/<!-- askd:begin -->\r?\n[\s\S]*ask_human[\s\S]*<!-- askd:end -->\r?\n$/);
  expect(text.includes("\r\n") && /[^\r]\n/.test(text)).toBe(false);
  expect((await planGuide(home.around.dir)).filter(isChange)).toEqual([]);
  home.write(file, `${text}More.\n`);
  expect(await undoAll(home)).toEqual([{ file, is: "taken_out" }]);
  expect(readFileSync(file, "utf8")).toContain("Be kind.");
  expect(readFileSync(file, "utf8")).not.toContain("askd");
});
