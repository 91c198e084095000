import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN } from "../built.ts";
import { hookInput } from "../hooks.ts";
import { TestProxy } from "../proxy.ts";
import { until } from "../run-dir.ts";

/** More than a command tries at once: whoever only tries for a moment has given up by then. */
const LONG = 6;

/** A command that runs. */
interface Typed {
  child: ChildProcess;
  said: { stdout: string; stderr: string };
  ended: Promise<{ exit: number | null; stdout: string; stderr: string }>;
}

const children: ChildProcess[] = [];
let home = "";
let proxy: TestProxy;
let server: Typed;
let env: Record<string, string>;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "askd-proxy-"));
  proxy = await TestProxy.start();
  writeFileSync(join(home, "proxy.pem"), proxy.certificate);
  await serve();
  const own = { ASKD_HOME: join(home, "server"), ASKD_NO_SERVICE: "1" };
  const made = await type(own, "token", "create", "--scope", "human", "--subject", "ada").ended;
  env = {
    ASKD_HOME: join(home, "client"),
    ASKD_URL: proxy.url,
    ASKD_TOKEN: made.stdout.trim(),
    NODE_EXTRA_CA_CERTS: join(home, "proxy.pem"),
  };
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await proxy.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function type(own: Record<string, string>, ...argv: string[]): Typed {
  return typeInto("", own, ...argv);
}

/** The same with something on stdin. */
function typeInto(input: string, own: Record<string, string>, ...argv: string[]): Typed {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, ...own },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  children.push(child);
  const said = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  const ended = new Promise<{ exit: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (exit) => resolve({ exit, ...said }));
  });
  return { child, said, ended };
}

/** Starts the server behind the proxy, where it was before. */
async function serve(): Promise<void> {
  const own = { ASKD_HOME: join(home, "server"), ASKD_NO_SERVICE: "1" };
  const argv = ["serve", "--port", String(proxy.target), "--behind-proxy", "--name", proxy.name];
  server = type(own, ...argv);
  const url = await until("the server listens", () => /http\S+/.exec(server.said.stdout)?.[0]);
  proxy.target = Number(new URL(url).port);
}

async function kill(): Promise<void> {
  server.child.kill("SIGKILL");
  await server.ended;
}

/** The server goes away for longer than a command tries at once, and comes back. */
async function restart(): Promise<void> {
  await kill();
  await proxy.turnsAway(LONG);
  await serve();
}

const asked = (typed: Typed): Promise<string> =>
  until("the question is asked", () => /asked (q-\w+)/.exec(typed.said.stderr)?.[1]);

test("ask --wait outlives a restart of the server behind a proxy", async () => {
  const asker = type(env, "ask", "Which?", "-o", "a:Apple", "-o", "b:Pear", "--wait", "5m");
  const id = await asked(asker);
  await until("it waits", () => asker.said.stderr.includes("waiting for a person"));
  await restart();
  expect(await type(env, "answer", id, "pear").ended).toMatchObject({ exit: 0 });
  expect(await asker.ended).toMatchObject({ exit: 0, stdout: "b\n" });
});

test("ask --wait hands over an answer that came just before the server went away", async () => {
  proxy.loseReply((request) => request.startsWith("GET") && request.includes("/wait"));
  const asker = type(env, "ask", "Which?", "--wait", "5m");
  const id = await asked(asker);
  expect(await type(env, "answer", id, "Redis").ended).toMatchObject({ exit: 0 });
  expect(await asker.ended).toMatchObject({ exit: 0, stdout: "Redis\n" });
});

test("watch and status --watch outlive a restart of the server behind a proxy", async () => {
  const watcher = type(env, "watch", "--type", "question.asked", "--limit", "1");
  await until("it watches", () => watcher.said.stderr.includes("Watching"));
  const status = type(env, "status", "--watch", "--short");
  await until("the status is shown", () => status.said.stdout !== "");
  await restart();
  expect(await type(env, "ask", "Which?").ended).toMatchObject({ exit: 0 });
  expect(await watcher.ended).toMatchObject({ exit: 0, stdout: expect.stringContaining("Which?") });
  expect(watcher.said.stderr).toContain("The server cannot be reached");
  await until("the status has it", () => status.said.stdout.includes("?1"));
  status.child.kill("SIGINT");
  expect((await status.ended).exit).toBe(130);
});

test("MCP over stdio outlives a restart of the server behind a proxy, while it holds and before it is asked", async () => {
  const client = new Client({ name: "test-client", version: "1" });
  const transport = new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp"], env, stderr: "ignore" });
  await client.connect(transport);
  const call = (question: string) => client.callTool({ name: "ask_human", arguments: { question } });
  const held = call("Which?");
  const own = { ASKD_HOME: join(home, "server"), ASKD_NO_SERVICE: "1" };
  await until("the question is asked", async () => (await type(own, "check", "1").ended).exit === 8);
  await restart();
  expect(await type(env, "answer", "1", "Redis").ended).toMatchObject({ exit: 0 });
  expect((await held).structuredContent).toMatchObject({ status: "answered" });
  await kill();
  const next = call("And then?");
  await proxy.turnsAway(LONG);
  await serve();
  await until("the question is asked", async () => (await type(own, "answer", "-", "stop").ended).exit === 0);
  expect((await next).structuredContent).toMatchObject({ status: "answered" });
  await client.close();
});

test("ask --wait and a hook that begin while the server restarts behind a proxy ask once it is back", async () => {
  await kill();
  const asker = type(env, "ask", "Which?", "--wait", "5m");
  const input = JSON.stringify(hookInput("claude-2.1.325-question", { cwd: home }));
  const headless = { CLAUDE_CODE_SESSION_ATTENDED: "0", CLAUDE_CODE_ENTRYPOINT: "sdk-cli" };
  const hook = typeInto(input, { ...env, ...headless }, "hook", "claude", "--hold", "1m");
  await proxy.turnsAway(3 * LONG);
  await serve();
  const id = await asked(asker);
  expect(await type(env, "answer", id, "Redis").ended).toMatchObject({ exit: 0 });
  expect(await asker.ended).toMatchObject({ exit: 0, stdout: "Redis\n" });
  const own = { ASKD_HOME: join(home, "server"), ASKD_NO_SERVICE: "1" };
  await until("the hook has asked", async () => (await type(own, "answer", "-", "1").ended).exit === 0);
  expect(await hook.ended).toMatchObject({ exit: 0, stdout: expect.stringContaining("allow") });
});

test("while a proxy replies in its place, status and answer say what is so and end with 3", async () => {
  const { stdout: id } = await type(env, "ask", "Which?").ended;
  await kill();
  for (const status of [502, 503, 504] as const) {
    proxy.status = status;
    const typed = await Promise.all(
      [["status"], ["answer", id.trim(), "Redis"]].map((argv) => type(env, ...argv).ended),
    );
    for (const { exit, stderr } of typed) {
      expect(exit).toBe(3);
      expect(stderr).toContain(`error: The server at ${proxy.url} is away: the proxy before it replied ${status}`);
      expect(stderr).toContain("Try again in a moment");
    }
  }
});

test("an answer whose reply the proxy lost is recorded once and said to be", async () => {
  const { stdout: id } = await type(env, "ask", "Which?").ended;
  proxy.loseReply((request) => request.startsWith("POST") && request.endsWith("/answer"));
  const answered = await type(env, "answer", id.trim(), "Redis").ended;
  expect(answered).toMatchObject({ exit: 0, stdout: expect.stringContaining("Answer recorded") });
  expect(proxy.turnedAway).toHaveLength(1);
  const { stdout } = await type(env, "audit", "1", "--json").ended;
  const types = [...stdout.matchAll(/"type":\s*"(question\.\w+)"/g)].map(([, name]) => name);
  expect(types.filter((name) => name !== "question.asked")).toEqual(["question.answered"]);
});

test("a change that may not be repeated is not, and whoever made it is told so", async () => {
  const { stdout: id } = await type(env, "ask", "Which?").ended;
  expect(await type(env, "answer", id.trim(), "Redis").ended).toMatchObject({ exit: 0 });
  proxy.loseReply((request) => request.startsWith("POST") && request.endsWith("/tokens"));
  const made = await type(env, "token", "create", "--scope", "agent", "--subject", "ci").ended;
  expect(made.stderr).toContain("it is not known whether it did what it was asked");
  expect(made.exit).toBe(3);
  expect(proxy.turnedAway).toHaveLength(1);
});
