import { mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { bundle, start, type Child } from "../../../test/child.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "../store.ts";
import { keepRun } from "../../../test/store-suite/opened.ts";

let program = "";
let directory = "";
let path = "";
const children: Child[] = [];
const stores: Store[] = [];

beforeAll(async () => {
  program = await bundle("src/store/sqlite/sqlite.child.ts");
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "askd-process-"));
  path = join(directory, "home", "askd.db");
});

afterEach(async () => {
  for (const child of children.splice(0)) child.process.kill("SIGKILL");
  await Promise.all(stores.splice(0).map((store) => store.close()));
  rmSync(directory, { recursive: true });
});

/** Another process that has been told to do these things. */
async function another(...commands: string[]): Promise<Child> {
  const child = start(program, [path]);
  children.push(child);
  expect(await child.line()).toBe("ready");
  for (const command of commands) await tell(child, command);
  return child;
}

async function tell(child: Child, command: string): Promise<string> {
  child.say(command);
  return child.line();
}

async function open(): Promise<Store> {
  const store = await openSqliteStore(path);
  stores.push(store);
  return store;
}

test("six processes can be the first to open a store at once", async () => {
  const six = await Promise.all(Array.from({ length: 6 }, () => another()));
  expect(await Promise.all(six.map((child) => tell(child, "open")))).toEqual(Array(6).fill("opened"));
  const asked = await Promise.all(six.map(async (child) => JSON.parse(await tell(child, "ask"))));
  expect(new Set(asked.map(({ number }) => number)).size).toBe(6);
  expect(await (await open()).countQuestions("pending")).toBe(6);
});

test("nobody else can read the files, whatever the umask", async () => {
  await another("open", "ask");
  const modeOf = (file: string): number => statSync(file).mode & 0o777;
  const files = [path, `${path}-wal`, `${path}-shm`, join(dirname(path), "askd.wake")];
  expect(files.map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o600]);
  expect(modeOf(dirname(path))).toBe(0o700);
});

test("while another process has the write lock the loop goes on and the commit waits", async () => {
  const store = await open();
  const child = await another();
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 5);
  await tell(child, "lock 1000");
  const began = performance.now();
  expect(await store.commit({ runs: [aRun()] })).toMatchObject({ ok: true });
  const waited = performance.now() - began;
  clearInterval(timer);
  expect(waited).toBeGreaterThan(500);
  // A wait inside the driver would let none through; a busy machine still lets many.
  expect(ticks).toBeGreaterThan(20);
});

test("a commit of another process is heard of at once", async () => {
  const store = await open();
  const child = await another("open");
  const delays: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const heard = new Promise<{ ids: ReadonlySet<string>; at: number }>((resolve) => {
      const stop = store.onChange(({ questions }) => {
        stop();
        resolve({ ids: questions, at: Date.now() });
      });
    });
    const { id, at } = JSON.parse(await tell(child, "ask"));
    const { ids, at: heardAt } = await heard;
    expect([...ids]).toEqual([id]);
    delays.push(heardAt - at);
  }
  // Without the touched file it would be 125 ms on average. The least says what the store can do on a busy machine.
  expect(Math.min(...delays)).toBeLessThan(50);
});

test("a commit whose writer died before it could wake others is heard of too", async () => {
  const store = await open();
  await keepRun(store);
  const heard = new Promise((resolve) => store.onChange(resolve));
  const child = await another();
  await tell(child, "sql update meta set attempt = attempt + 1");
  expect(await heard).toEqual({ questions: new Set(), dueAt: undefined });
});

test("what a killed process committed is there for the next, which looks for damage first", async () => {
  const child = await another("open", "ask", "ask");
  child.process.kill("SIGKILL");
  await child.exited;
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  expect(await (await open()).countQuestions("pending")).toBe(2);
});

test("a file that was damaged before the crash is not used", async () => {
  const child = await another("open");
  for (let count = 0; count < 30; count += 1) await tell(child, "ask");
  await tell(child, "sql pragma wal_checkpoint(truncate)");
  await tell(child, "ask");
  child.process.kill("SIGKILL");
  await child.exited;
  const file = openSync(path, "r+");
  for (let page = 8; page < 30; page += 1) writeSync(file, Buffer.alloc(200, 0xee), 0, 200, page * 4096);
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringMatching(/damaged/),
  });
});
