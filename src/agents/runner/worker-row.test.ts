import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { IDS, NOON } from "../../../test/builders.ts";
import { until } from "../../../test/run-dir.ts";
import { type Instant, SECOND_MS, later } from "../../core/instant.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { type ProcessIdentity, findIdentity, readOwnIdentity } from "../process/process-identity.ts";
import { Heartbeat, hasLivingWorker, isWorkerGone } from "./worker-row.ts";

async function aRow(process: ProcessIdentity, beatAgoMs: number, host = "here") {
  const store = new MemoryStore(() => NOON);
  const id = IDS.worker();
  const body = { host, process: { ...process }, beatAt: later(NOON, -beatAgoMs) };
  await store.commit({ entries: [{ kind: "worker", id, version: 0, body }] });
  return { isHere: await hasLivingWorker(store, "here"), isGone: await isWorkerGone(store, id) };
}

test.each([
  ["beat a moment ago", 0, { isHere: true, isGone: false }],
  ["missed a beat", 8 * SECOND_MS, { isHere: true, isGone: false }],
  ["has been silent", 13 * SECOND_MS, { isHere: false, isGone: true }],
  ["beat by a clock that was put back since", -60 * SECOND_MS, { isHere: false, isGone: true }],
])("a worker that %s counts by its heartbeat, whatever its process does", async (_, agoMs, expected) => {
  expect(await aRow(await readOwnIdentity(), agoMs)).toEqual(expected);
});

test("a worker whose process is gone does not count, nor one of another machine", async () => {
  expect(await aRow({ ...(await readOwnIdentity()), born: "1" }, 0)).toEqual({ isHere: false, isGone: true });
  expect((await aRow(await readOwnIdentity(), 0, "elsewhere")).isHere).toBe(false);
});

test("a worker that was stopped does not count from that moment on, but its agents are left to it for a while", async () => {
  const child = spawn("sleep", ["60"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const process = await until("it is there", () => findIdentity(child.pid ?? 0));
  expect(await aRow(process, 0)).toEqual({ isHere: true, isGone: false });
  child.kill("SIGSTOP");
  await until("it is stopped", async () => !(await aRow(process, 0)).isHere);
  expect(await aRow(process, 0)).toEqual({ isHere: false, isGone: false });
  child.kill("SIGCONT");
  await until("it goes on", async () => (await aRow(process, 0)).isHere);
});

/** A worker that beat at noon, looked at some seconds later. */
async function isGone(process: ProcessIdentity, afterMs: number): Promise<boolean> {
  let now: Instant = NOON;
  const store = new MemoryStore(() => now);
  const id = IDS.worker();
  const body = { host: "here", process, beatAt: now };
  await store.commit({ entries: [{ kind: "worker", id, version: 0, body }] });
  now = later(now, afterMs);
  return isWorkerGone(store, id);
}

test("a worker is there while its process is, and gone with it or when it is silent", async () => {
  const own = await readOwnIdentity();
  expect(await isGone(own, 4_000)).toBe(false);
  expect(await isGone({ ...own, born: "1" }, 4_000)).toBe(true);
  expect(await isGone(own, 13_000)).toBe(true);
});

test("a worker in another container, whose process cannot be seen, is gone only when it is silent", async () => {
  const own = await readOwnIdentity();
  const elsewhere = { ...own, pid: 999_999_999, space: "pid:[1]" };
  expect(await isGone(elsewhere, 4_000)).toBe(false);
  expect(await isGone({ ...own, pid: 999_999_999, boot: "another" }, 4_000)).toBe(false);
  expect(await isGone(elsewhere, 13_000)).toBe(true);
});

test("a worker that starts two agents at the same moment beats for both", async () => {
  const store = new MemoryStore(() => NOON);
  const id = IDS.worker();
  const process = await readOwnIdentity();
  const onFailure = (error: unknown) => expect(error).toBeUndefined();
  const heartbeat = new Heartbeat({ store, id, host: "here", process, onFailure });
  onTestFinished(() => heartbeat.stop());
  await Promise.all([heartbeat.start(), heartbeat.start()]);
  expect(await isWorkerGone(store, id)).toBe(false);
});

test("a worker whose first beat was stored without a reply goes on with that row", async () => {
  const store = new MemoryStore(() => NOON);
  const id = IDS.worker();
  const process = await readOwnIdentity();
  const heartbeat = new Heartbeat({ store, id, host: "here", process, onFailure: () => undefined });
  onTestFinished(() => heartbeat.stop());
  const commit = store.commit.bind(store);
  store.commit = async (changes) => {
    store.commit = commit;
    await commit(changes);
    throw new Error("the connection was lost");
  };
  await expect(heartbeat.start()).rejects.toThrow("the connection was lost");
  await heartbeat.start();
  expect(await isWorkerGone(store, id)).toBe(false);
});

test("a worker is told of each beat that was stored", async () => {
  const store = new MemoryStore(() => NOON);
  const beats: Instant[] = [];
  const process = await readOwnIdentity();
  const onFailure = () => undefined;
  const deps = { store, id: IDS.worker(), host: "here", process, onFailure };
  const heartbeat = new Heartbeat({ ...deps, onBeat: (now) => beats.push(now) });
  onTestFinished(() => heartbeat.stop());
  await heartbeat.start();
  expect(beats).toEqual([NOON]);
});
