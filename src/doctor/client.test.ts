import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENTS } from "../agents/agents.ts";
import { clientsOf, findClient } from "../setup/clients.ts";
import type { Scope } from "../agents/wiring.ts";
import { listRecords, readCopy } from "../setup/undo.ts";
import { Ward } from "../../test/ward.ts";

type Tree = Record<string, unknown>;

/** A ward where a client is installed and wired as it should be. */
async function wired(name: string, scope: Scope = "user"): Promise<Ward> {
  const ward = new Ward();
  install(ward, name);
  const client = findClient(clientsOf(AGENTS), name);
  if (!client) throw new Error(`there is no client ${name}`);
  await ward.context.wire(client, scope);
  await ward.makeStore();
  return ward;
}

function install(ward: Ward, name: string): void {
  writeFileSync(join(ward.bin, name), "#!/bin/sh\necho 2.1.325\n", { mode: 0o755 });
}

function edit(file: string, change: (tree: Record<string, Tree>) => void): void {
  const tree: Record<string, Tree> = JSON.parse(readFileSync(file, "utf8"));
  change(tree);
  writeFileSync(file, JSON.stringify(tree, undefined, 2));
}

const server = (ward: Ward): string => join(ward.home, ".claude.json");
const settings = (ward: Ward): string => join(ward.home, ".claude", "settings.json");
const entryOf = (tree: Record<string, Tree>): Tree => tree["mcpServers"]?.["askd"] as Tree;

/** The findings, the repairs of `--fix`, and the findings after them. */
async function cure(ward: Ward): Promise<{ found: string[]; fixed: string[]; left: string[] }> {
  return { found: await ward.troubles(), ...(await ward.fix()) };
}

/** One problem that is found, and put right. */
const cured = (found: RegExp, code: string): object => ({
  found: [expect.stringMatching(found)],
  fixed: [code],
  left: [],
});

describe("a client", () => {
  test.each(["claude", "codex", "gemini", "opencode"])("%s that is wired has no problems", async (name) => {
    const ward = await wired(name);
    expect(await ward.troubles()).toEqual([]);
    const said = (await ward.look()).filter(({ subject }) => subject === name).map(({ text }) => text);
    expect(said.join(", ")).toMatch(/^2\.1\.325, mcp handshake \d+ ms, 3 tools/);
  });

  test("that is not wired is no problem, and one that is not there is not shown", async () => {
    const ward = new Ward();
    install(ward, "claude");
    const found = (await ward.look()).filter(({ area }) => area === "agents");
    expect(found).toEqual([expect.objectContaining({ subject: "claude", level: "off" })]);
    expect((await new Ward().look()).filter(({ area }) => area === "agents")).toMatchObject([{ code: "client_none" }]);
  });

  test("whose calls end before the live window is found, and its limit raised", async () => {
    const ward = await wired("codex");
    const file = join(ward.home, ".codex", "config.toml");
    writeFileSync(
      file,
      `# mine\n${readFileSync(file, "utf8").replace(/tool_timeout_sec = \d+/, "tool_timeout_sec = 60 # short")}`,
    );
    const found = /^client_timeout: tool_timeout_sec is 60 s, live window is 180 s: questions would be cut off$/;
    expect(await cure(ward)).toEqual(cured(found, "client_timeout"));
    expect(readFileSync(file, "utf8")).toMatch(/^# mine\n/);
    const [record] = await listRecords(join(ward.stateDir, "init")); // what was there can be had back
    expect(record && (await readCopy(record, record.files[0]!))?.toString()).toContain("tool_timeout_sec = 60 # short");
  });

  test("with a limit of its own for calls of Claude Code is found, as progress does not extend that one", async () => {
    const ward = await wired("claude");
    edit(server(ward), (tree) => Object.assign(entryOf(tree), { timeout: 60_000 }));
    expect(await cure(ward)).toEqual(cured(/^client_timeout: timeout is 60 s/, "client_timeout"));
  });

  test("whose calls progress extends may have a short limit", async () => {
    const ward = await wired("opencode");
    const file = join(ward.home, ".config", "opencode", "opencode.json");
    edit(file, (tree) => Object.assign(tree["mcp"]?.["askd"] as Tree, { timeout: 60_000 }));
    expect(await ward.troubles()).toEqual([]);
  });

  test("without alwaysLoad is warned of, and gets it", async () => {
    const ward = await wired("claude");
    edit(server(ward), (tree) => delete entryOf(tree)["alwaysLoad"]);
    expect(await cure(ward)).toEqual(cured(/^always_load: alwaysLoad is not set/, "always_load"));
  });

  test("whose alwaysLoad somebody has turned off is left so, and told how to change it", async () => {
    const ward = await wired("claude");
    edit(server(ward), (tree) => Object.assign(entryOf(tree), { alwaysLoad: false }));
    expect(await cure(ward)).toEqual({
      found: [expect.stringContaining("always_load")],
      fixed: [expect.stringMatching(/^it was set so on purpose; change it yourself in .*\.claude\.json and/)],
      left: [expect.stringContaining("always_load")],
    });
  });

  test("without a rule that allows our tool is found, and gets it", async () => {
    const ward = await wired("claude");
    edit(settings(ward), (tree) => delete tree["permissions"]);
    expect(await cure(ward)).toEqual(cured(/^allow_missing: no rule allows mcp__askd__ask_human/, "allow_missing"));
  });

  test("without our hook is warned of, and gets it", async () => {
    const ward = await wired("claude");
    edit(settings(ward), (tree) => delete tree["hooks"]);
    expect(await cure(ward)).toEqual(
      cured(/^hook_missing: the PreToolUse and PostToolUse hook is missing/, "hook_missing"),
    );
  });

  test("may have rules and hooks in another scope than the server", async () => {
    const ward = await wired("claude", "user");
    const local = join(ward.project, ".claude", "settings.local.json");
    mkdirSync(dirname(local), { recursive: true });
    writeFileSync(local, readFileSync(settings(ward)));
    writeFileSync(settings(ward), "{}");
    expect(await ward.troubles()).toEqual([]);
  });

  test("whose hook starts a program that was moved is found, and its hook is led to this askd", async () => {
    const ward = await wired("claude");
    const text = readFileSync(settings(ward), "utf8").replaceAll(resolve("bin", "askd"), "/gone/bin/askd");
    writeFileSync(settings(ward), text);
    const [before, after, ...more] = await ward.troubles();
    expect(before).toMatch(
      /^hook_moved: the PreToolUse hook in .* starts a program that is not there: .*\/gone\/bin\/askd hook claude/,
    );
    expect([after, more]).toEqual([expect.stringContaining("hook_moved: the PostToolUse hook"), []]);
    expect((await ward.fix()).left).toEqual([]);
    expect(readFileSync(settings(ward), "utf8")).toContain(resolve("bin", "askd"));
  });

  test("whose hook is given less time than a question waits is found, and its time raised", async () => {
    const ward = await wired("claude");
    writeFileSync(settings(ward), readFileSync(settings(ward), "utf8").replace('"timeout": 600', '"timeout": 60'));
    expect(await cure(ward)).toEqual(
      cured(/^hook_timeout: the PreToolUse hook is given 1m, live window is 3m/, "hook_timeout"),
    );
  });

  test("whose server was moved is found, and led to this askd", async () => {
    const ward = await wired("claude");
    edit(server(ward), (tree) => Object.assign(entryOf(tree), { command: "/gone/bin/askd", args: ["mcp"] }));
    expect(await cure(ward)).toEqual(
      cured(/^server_moved: its settings start \/gone\/bin\/askd mcp, which is not there/, "server_moved"),
    );
  });

  test("whose server crashes at its start is found, with what it said and without its secrets", async () => {
    const ward = await wired("claude");
    const crash = 'console.error("no store; key is " + process.env.MY_API_KEY); process.exit(7)';
    const env = { MY_API_KEY: "correct-horse-battery" };
    edit(server(ward), (tree) => Object.assign(entryOf(tree), { command: process.execPath, args: ["-e", crash], env }));
    expect(await ward.troubles()).toEqual([
      "server_crash: its MCP server does not start: it ended with exit code 7: no store; key is [redacted]",
    ]);
  });

  test("whose server runs on a Node that is too old is found", async () => {
    const ward = await wired("claude");
    const node = join(ward.bin, "node");
    writeFileSync(node, "#!/bin/sh\necho v18.0.0\n", { mode: 0o755 });
    edit(server(ward), (tree) =>
      Object.assign(entryOf(tree), { command: node, args: [resolve("bin", "askd"), "mcp"] }),
    );
    expect(await ward.troubles()).toContainEqual(
      `client_node: its settings start askd with ${node} 18.0.0: askd needs 20.19 or newer`,
    );
  });

  test("whose settings cannot be read is found", async () => {
    const ward = await wired("gemini");
    writeFileSync(join(ward.home, ".gemini", "settings.json"), '{ "mcpServers": {');
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^client_settings: .*settings\.json cannot be used: line 1/),
    ]);
  });

  test("that soon forgets its sessions is warned of", async () => {
    const ward = await wired("claude");
    edit(settings(ward), (tree) => Object.assign(tree, { cleanupPeriodDays: 1 }));
    expect(await ward.troubles()).toEqual([expect.stringMatching(/^sessions_short: it deletes sessions after 1 day/)]);
  });

  test("that reaches a server by an address where nobody is is found", async () => {
    const ward = await wired("claude");
    edit(server(ward), (tree) => {
      tree["mcpServers"] = { askd: { type: "http", url: "http://127.0.0.1:2/mcp", alwaysLoad: true } };
    });
    expect(await ward.troubles()).toEqual([
      "address_wrong: nobody answers at http://127.0.0.1:2/mcp, which its settings name",
    ]);
  });
});
