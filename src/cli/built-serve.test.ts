import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";

// The program as people start it; `npm test` builds it first.
const BIN = fileURLToPath(new URL("../../bin/askd", import.meta.url));
const children: ChildProcess[] = [];
let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-test-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

function start(env: Record<string, string>, ...argv: string[]) {
  const child = spawn(process.execPath, [BIN, ...argv], {
    env: { PATH: process.env["PATH"], ASKD_HOME: home, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  let stdout = "";
  const printed = new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.includes("\n")) resolve(stdout.trim());
    });
  });
  const ended = new Promise<{ exit: number | null; stdout: string }>((resolve) => {
    child.once("close", (exit) => resolve({ exit, stdout }));
  });
  return { child, printed, ended };
}

test("commands work against a server that was started, until it is told to end", async () => {
  const server = start({}, "serve", "--port", "0");
  const url = await server.printed;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const env = { ASKD_URL: url };
  const asker = start(env, "ask", "Which?", "-o", "a:Apple", "-o", "b:Pear", "--wait", "1m");
  let answered: { exit: number | null } = { exit: null };
  while (answered.exit !== 0) answered = await start(env, "answer", "-", "pear").ended;
  expect(await asker.ended).toEqual({ exit: 0, stdout: "b\n" });
  expect((await start(env, "audit", "--verify").ended).exit).toBe(0);
  const address = join(home, "run", "server", "server.json");
  expect(existsSync(address)).toBe(true);
  server.child.kill("SIGTERM");
  expect((await server.ended).exit).toBe(0);
  expect(existsSync(address)).toBe(false);
  expect((await start(env, "status").ended).exit).toBe(3);
  expect((await start({}, "check", "1", "--json").ended).stdout).toContain('"answer":"b"');
}, 60_000);

test("open starts the server, waits for it and prints the address", async () => {
  const at = new BuiltScene();
  expect((await at.type("config", "set", "server.port", String(await freePort()))).exit).toBe(0);
  expect((await at.type("ask", "Which?")).exit).toBe(0);
  const opened = await at.type("open", "1", "--print");
  expect(opened.stdout.toString("utf8")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/q\/[0-9a-z]+\n$/);
}, 60_000);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("a server has an address");
  return address.port;
}
