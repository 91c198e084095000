import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { AGENTS } from "../../src/agents/agents.ts";
import type { AgentRegistry } from "../../src/agents/registry.ts";
import { ensureMachineId } from "../../src/agents/runner/machine-id.ts";
import { openEngine } from "../../src/app.ts";
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

test("an agent with a line in the registry is run", async () => {
  const { around, root } = new SetupHome();
  const bin = join(root, "bin");
  install(bin);
  const env = { ASKD_HOME: join(root, "askd"), ASKD_NO_SERVICE: "1", PATH: `${bin}:/usr/bin:/bin` };
  const output = new PassThrough();
  const run = await type(new Scene(), ["run", "--wait", "--agent", "sample", "Add caching"], {
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
  expect({ exit: run.exit, printed: await text(output) }).toEqual({ exit: 0, printed: "heard: Add caching\n" });
});

test("every agent has its program and its settings in the docs", () => {
  const page = (name: string): string => readFileSync(join("docs", name), "utf8");
  for (const { agent, client } of AGENTS) {
    if (agent.program !== "") expect(page("run.md")).toMatch(new RegExp(`\\b${client?.title ?? agent.name}\\b`));
  }
  for (const { title } of clientsOf(AGENTS)) expect(page("init.md")).toContain(`| ${title} `);
});
