import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { HOUR_MS } from "../core/instant.ts";
import { ServedScene } from "../../test/served.ts";
import { VERSION, Ward } from "../../test/ward.ts";

/** A process that was there and is gone. */
async function aDeadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "close");
  return child.pid ?? 0;
}

function writeWord(ward: Ward, word: object): string {
  const dir = join(ward.runtimeDir, "server");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, "server.json");
  writeFileSync(file, JSON.stringify(word), { mode: 0o600 });
  return file;
}

/** A program that listens and is not askd. */
async function aStranger(reply: string): Promise<number> {
  const server = createServer((socket) => socket.on("error", () => undefined).end(reply));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function aServer(version = VERSION): Promise<ServedScene> {
  const served = await ServedScene.start({ version });
  onTestFinished(() => served.stop());
  return served;
}

describe("a server", () => {
  test("that runs is shown with where it is and how fast", async () => {
    const ward = new Ward();
    const { port, url } = await aServer();
    writeWord(ward, { pid: process.pid, port, url });
    expect(await ward.troubles()).toEqual([]);
    const said = (await ward.look()).filter(({ area }) => area === "server").map(({ text }) => text);
    expect(said.join(", ")).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port}, \\d+ ms, clock ok$`));
  });

  test("of another version, or with another time, is found", async () => {
    const ward = new Ward();
    const { port, url } = await aServer("9.9.9");
    writeWord(ward, { pid: process.pid, port, url });
    expect(await ward.troubles()).toEqual([`server_version: the server is askd 9.9.9, this is ${VERSION}`]);
    expect(await ward.troubles({ nowMs: () => Date.now() - HOUR_MS })).toContainEqual(
      expect.stringContaining("behind the one of the server"),
    );
  });

  test("is known by its process and address alone, as a server that was found again is written down", async () => {
    const ward = new Ward();
    const { url } = await aServer();
    const file = writeWord(ward, { url, pid: process.pid });
    expect(await ward.troubles()).toEqual([]);
    await ward.fix();
    expect(existsSync(file)).toBe(true);
  });

  test("that was killed gives way to another one that answers, whose record stays", async () => {
    const ward = new Ward();
    const { url, port } = await aServer();
    const file = writeWord(ward, { pid: await aDeadPid(), url: "http://127.0.0.1:2" });
    const own = join(ward.runtimeDir, "server", `server-${process.pid}-${port}.json`);
    writeFileSync(own, JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
    expect(await ward.troubles()).toEqual([
      `stale_file: the server at http://127.0.0.1:2 is gone; the one at ${url} answers and is not found by its file`,
    ]);
    expect(await ward.fix()).toEqual({ fixed: ["stale_file"], left: [] });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ url, pid: process.pid });
    expect(existsSync(own)).toBe(true);
    expect(await ward.troubles()).toEqual([]);
  });

  test("that was killed on the same port is not taken for the one that answers there now", async () => {
    const ward = new Ward();
    const { url, port } = await aServer();
    const dead = await aDeadPid();
    const file = writeWord(ward, { pid: dead, url: "http://127.0.0.1:2" });
    for (const pid of [dead, process.pid]) {
      const own = join(ward.runtimeDir, "server", `server-${pid}-${port}.json`);
      writeFileSync(own, JSON.stringify({ url, pid }), { mode: 0o600 });
    }
    await ward.fix();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ url, pid: process.pid });
  });

  test("that died leaves a file, which is found and taken away", async () => {
    const ward = new Ward();
    const file = writeWord(ward, { pid: await aDeadPid(), port: 2, url: "http://127.0.0.1:2" });
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^stale_file: the server at .* is gone, its file is not/),
    ]);
    expect(await ward.fix()).toEqual({ fixed: ["stale_file"], left: [] });
    expect(existsSync(file)).toBe(false);
  });

  test("whose number another process has by now is told from one that runs", async () => {
    const ward = new Ward();
    writeWord(ward, { pid: process.pid, port: 2, url: "http://127.0.0.1:2" });
    expect(await ward.troubles()).toEqual([expect.stringContaining("stale_file: no askd answers at")]);
    expect((await ward.fix()).left).toEqual([]);
  });

  test("that ended while it wrote leaves a draft, which is taken away", async () => {
    const ward = new Ward();
    const dir = join(ward.runtimeDir, "server");
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, `server.json.${await aDeadPid()}`), "{", { mode: 0o600 });
    expect(await ward.fix()).toEqual({ fixed: ["stale_file"], left: [] });
  });

  test("elsewhere that is not there, or is none, is found", async () => {
    const at = (url: string) => new Ward({ store: { kind: "server", url, token: undefined } });
    expect((await at("http://127.0.0.1:2").troubles())[0]).toMatch(/^server_unreachable: .* \(ECONNREFUSED\)/);
    const port = await aStranger("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    expect((await at(`http://127.0.0.1:${port}`).troubles())[0]).toContain("is not an askd server");
  });
});

describe("the port of a server", () => {
  test("that another program has taken is found, and that program named", async () => {
    const port = await aStranger("what?");
    const [found, ...more] = await new Ward().troubles({ port });
    expect(found).toMatch(new RegExp(`^port_taken: port ${port} is taken by .*process ${process.pid}\\)`));
    expect(more).toEqual([]);
  });

  test("where another askd listens is no problem", async () => {
    const { port } = await aServer();
    expect(await new Ward().troubles({ port })).toEqual([]);
  });
});
