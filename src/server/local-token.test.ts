import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ServedScene } from "../../test/served.ts";
import { announceServer, findAddress, serverFiles, withdrawServer } from "./local-token.ts";

/** A folder in which a server of this process number left its address. */
function leftBy(pid: number, url: string): { dir: string; file: string } {
  const dir = mkdtempSync(join(tmpdir(), "askd-run-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = serverFiles(dir).address;
  mkdirSync(dirname(file), { mode: 0o700 });
  writeFileSync(file, JSON.stringify({ pid, url }), { mode: 0o600 });
  return { dir, file };
}

async function aDeadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "close");
  return child.pid ?? 0;
}

/** An address at which nobody listens. */
async function aDeadUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

test("a server that was killed has no address any more, and its file is removed", async () => {
  const { dir, file } = leftBy(await aDeadPid(), await aDeadUrl());
  expect(await findAddress(dir)).toBeUndefined();
  expect(existsSync(file)).toBe(false);
});

test("a process that has the number of a dead server is not taken for it, and its file stays", async () => {
  const { dir, file } = leftBy(process.pid, await aDeadUrl());
  expect(await findAddress(dir)).toBeUndefined();
  expect(existsSync(file)).toBe(true);
});

test("a server that answers is found", async () => {
  const at = await ServedScene.start();
  onTestFinished(() => at.stop());
  expect(await findAddress(leftBy(process.pid, at.url).dir)).toBe(at.url);
});

test("a second server that ends, or is killed, does not hide the first", async () => {
  const first = await ServedScene.start();
  onTestFinished(() => first.stop());
  const { dir } = leftBy(await aDeadPid(), await aDeadUrl());
  const word = { pid: process.pid, url: first.url };
  await announceServer(dir, word);
  const second = { pid: process.pid, url: await aDeadUrl() };
  await announceServer(dir, second);
  await withdrawServer(dir, second);
  expect(await findAddress(dir)).toBe(first.url);
  await announceServer(dir, { pid: await aDeadPid(), url: await aDeadUrl() });
  expect(await findAddress(dir)).toBe(first.url);
  await withdrawServer(dir, word);
  expect(existsSync(serverFiles(dir).address)).toBe(false);
});
