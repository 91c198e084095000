import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SetupHome } from "../../test/setup-home.ts";
import { applyPlans } from "./apply.ts";
import { AGENTS } from "../agents/agents.ts";
import { clientsOf, findClient, findClients } from "./clients.ts";
import { inspect } from "./inspect.ts";
import { planClients } from "./plan.ts";

const client = (name: string) => findClient(clientsOf(AGENTS), name)!;

test("clients are found by their program, with its version, or by their settings", async () => {
  const home = new SetupHome();
  const bin = join(home.root, "bin");
  const program = home.write(join(bin, "codex"), "#!/bin/sh\necho codex-cli 0.166.0\n");
  chmodSync(program, 0o755);
  home.write(join(home.around.homeDir, ".cursor", "x"), "");
  const found = await findClients(clientsOf(AGENTS), { ...home.around, env: { PATH: `${bin}:/usr/bin:/bin` } });
  expect(found.map(({ client: { name }, ...rest }) => ({ name, ...rest }))).toEqual([
    { name: "codex", program, version: "0.166.0" },
    { name: "cursor", home: join(home.around.homeDir, ".cursor") },
  ]);
});

test("nothing is found in settings that do not name askd", async () => {
  const home = new SetupHome();
  home.write(join(home.around.dir, ".gemini", "settings.json"), '{"mcpServers": {"x": {"command": "x"}}}');
  expect(await inspect(client("gemini"), home.around)).toEqual([]);
});

test("what init wrote is current, and programs that are not there are said to be missing", async () => {
  const home = new SetupHome();
  await applyPlans(await planClients([{ client: client("claude"), scope: "local" }], home.around), home.at);
  const [findings, ...others] = await inspect(client("claude"), home.around);
  expect(others).toEqual([]);
  expect(findings).toMatchObject({
    scope: "local",
    isCurrent: true,
    isOwnCommand: true,
    alwaysLoad: true,
    problems: [],
    serverCommand: ["/opt/askd/bin/askd", "mcp"],
    serverExists: false,
    timeoutMs: 1_800_000,
    isTimeoutSet: false,
    missingHooks: [],
    allowRules: { wanted: expect.arrayContaining(["mcp__askd__ask_human"]), missing: [] },
    hooks: [
      { event: "PreToolUse", matcher: "AskUserQuestion", exists: false, timeoutMs: 600_000 },
      { event: "PostToolUse", exists: false, timeoutMs: undefined },
    ],
  });
});

test("what is old, short or missing is told", async () => {
  const home = new SetupHome();
  const node = process.execPath;
  const bin = home.write(join(home.root, "old dir", "askd"), "");
  const entry = { command: node, args: [bin, "mcp"], timeout: 30_000 };
  home.write(join(home.around.dir, ".mcp.json"), JSON.stringify({ mcpServers: { askd: entry } }));
  const command = `'${node}' '${bin}' hook claude`;
  const hooks = { PreToolUse: [{ matcher: "AskUserQuestion", hooks: [{ type: "command", command }] }] };
  home.write(
    join(home.around.dir, ".claude", "settings.json"),
    JSON.stringify({ hooks, permissions: { allow: ["mcp__askd__ask_human"] } }),
  );
  const [findings] = await inspect(client("claude"), home.around);
  expect(findings).toMatchObject({
    scope: "project",
    isCurrent: false,
    alwaysLoad: false,
    serverExists: true,
    timeoutMs: 30_000,
    allowRules: { missing: ["mcp__askd__check_answer", "mcp__askd__cancel_question"] },
    hooks: [{ command, exists: true }],
    missingHooks: ["PostToolUse"],
  });
});

test("a file that cannot be read is a finding", async () => {
  const home = new SetupHome();
  const file = home.write(join(home.around.homeDir, ".codex", "config.toml"), "[[[");
  expect(await inspect(client("codex"), home.around)).toMatchObject([{ file, problems: [{ file }], isCurrent: false }]);
});

test("a server by address is known by its address", async () => {
  const home = new SetupHome();
  const url = "https://askd.example.com/mcp";
  home.write(
    join(home.around.homeDir, ".gemini", "settings.json"),
    JSON.stringify({ mcpServers: { askd: { httpUrl: url } } }),
  );
  expect(await inspect(client("gemini"), home.around)).toMatchObject([
    { scope: "user", serverUrl: url, serverCommand: undefined },
  ]);
});
