import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { AGENTS } from "../../src/agents/agents.ts";
import type { AgentRegistry } from "../../src/agents/registry.ts";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { openEngine } from "../../src/app.ts";
import { sayAgent } from "../../src/cli/view/agent-name.ts";
import { clientsOf } from "../../src/setup/clients.ts";
import { Scene } from "../scene.ts";
import { SetupHome } from "../setup-home.ts";
import { type } from "../typed.ts";
import { Ward } from "../ward.ts";
import { sampleDefinition } from "./definition.ts";

const REGISTRY: AgentRegistry = [...AGENTS, sampleDefinition];
const agents = () => Promise.resolve(REGISTRY);

/** Puts the program of the sample agent into a folder for programs: it repeats its prompt. */
function install(bin: string): void {
  mkdirSync(bin, { recursive: true });
  const script = '#!/bin/sh\n[ "$1" = --version ] && echo 1.2.3 && exit\nread -r prompt\necho "heard: $prompt"\n';
  writeFileSync(join(bin, "sample-agent"), script, { mode: 0o755 });
}

test("an agent with a line in the registry is printed by init, and nothing without it", async () => {
  const { around, root } = new SetupHome();
  const place = { homeDir: around.homeDir, cwd: around.dir, env: { ASKD_HOME: join(root, "askd") } };
  const printed = await type(new Scene(), ["init", "--print", "sample"], { ...place, agents });
  expect(printed.stderr).toBe("Sample Agent: ~/.sample/settings.json\n");
  expect(JSON.parse(printed.stdout)).toMatchObject({ servers: { askd: { command: "npx" } } });
  expect((await type(new Scene(), ["init", "--print", "sample"], place)).exit).toBe(2);
});

test("an agent with a line in the registry is completed", async () => {
  const never = () => new Promise<void>(() => undefined);
  const complete = (over: object) =>
    type(new Scene(), ["complete", "--", "run", "--agent", "s"], { pause: never, ...over });
  expect((await complete({ agents })).stdout).toBe("sample\t\n");
  expect((await complete({})).stdout).toBe("");
});

test("an agent with a line in the registry is examined by doctor", async () => {
  const ward = new Ward({ agents: REGISTRY });
  install(ward.bin);
  const isSample = ({ subject }: { subject?: string }): boolean => subject === "sample";
  expect((await ward.look()).filter(isSample)).toMatchObject([{ code: "client_unwired", level: "off" }]);
  await ward.context.wire(
    clientsOf(REGISTRY).find(({ name }) => name === "sample")!,
    "user",
  );
  expect((await ward.look()).filter(isSample)).toMatchObject([
    { code: "client", text: "1.2.3" },
    { code: "handshake" },
  ]);
});

/** Runs the sample agent to its end, and returns what it printed. */
async function runSample({ around, root }: SetupHome, ...flags: string[]) {
  const bin = join(root, "bin");
  install(bin);
  const env = { ASKD_HOME: join(root, "askd"), ASKD_NO_SERVICE: "1", PATH: `${bin}:/usr/bin:/bin` };
  const output = new PassThrough();
  const run = await type(new Scene(), ["run", "--wait", "--agent", "sample", ...flags, "Add caching"], {
    agents,
    env,
    homeDir: around.homeDir,
    cwd: around.dir,
    readFile: (path) => readFile(path, "utf8"),
    nowMs: Date.now,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    hostIn: (stateDir) => Promise.resolve(ensureMachineId(stateDir)),
    streams: () => ({ input: new PassThrough(), output }),
    openEngine: (store, rules, { stateDir = "" } = {}) =>
      openEngine({ store, rules, runs: { stateDir, env, agents: REGISTRY, askd: ["askd"], note: () => undefined } }),
  });
  output.end();
  return { exit: run.exit, printed: await text(output) };
}

const HEARD = { exit: 0, printed: "heard: Add caching\n" };

test("an agent with a line in the registry is run, within its limits", async () => {
  expect(await runSample(new SetupHome(), "--max-turns", "3")).toEqual(HEARD);
});

test("the settings of an agent with a line in the registry are copied into a working tree of its run", async () => {
  const home = new SetupHome();
  const { dir } = home.around;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: dir });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "-m", "first");
  mkdirSync(join(dir, ".sample"));
  writeFileSync(join(dir, ".sample", "settings.json"), "{}");
  expect(await runSample(home, "--worktree")).toEqual(HEARD);
  const [tree = ""] = readdirSync(join(dir, ".askd", "worktrees"));
  expect(readFileSync(join(dir, ".askd", "worktrees", tree, ".sample", "settings.json"), "utf8")).toBe("{}");
});

test("a limit that an agent cannot keep is refused with the agents of the registry that can", async () => {
  const env = { PATH: "/usr/bin:/bin" };
  const { stderr } = await type(new Scene(), ["run", "--agent", "codex", "--budget", "1", "Add caching"], {
    agents,
    env,
  });
  expect(stderr).toContain("these can be limited: Claude Code, OpenCode, Sample Agent");
});

test("every agent is shown by the name of its settings, in each of its ways", () => {
  for (const { agent, ways = [], client } of AGENTS) {
    if (!client) continue;
    for (const { name } of [agent, ...ways.map((way) => way.agent)]) expect(sayAgent(name)).toBe(client.title);
  }
});

test("every agent has its program and its settings in the docs", () => {
  const page = (name: string): string => readFileSync(join("docs", name), "utf8");
  for (const { agent, client } of AGENTS) {
    if (agent.program !== "") expect(page("run.md")).toMatch(new RegExp(`\\b${client?.title ?? agent.name}\\b`));
  }
  for (const { title } of clientsOf(AGENTS)) expect(page("init.md")).toContain(`| ${title} `);
});
