import { expect, onTestFinished, test } from "vitest";
import { Scene } from "../scene.ts";
import { GithubServer } from "./github-server.ts";
import { REPO } from "./github-view.ts";

const WAIT = { timeout: 20_000, interval: 20 };
const POLL = /^GET .*\/issues\/comments$/;
const REACTIONS = /\/reactions$/;
/** A timer may fire a little before its time. */
const EARLY_MS = 25;

async function aService(over: Parameters<typeof GithubServer.start>[0] = {}) {
  const service = await GithubServer.start(over);
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
  const working: Array<Promise<void>> = [];
  onTestFinished(async () => {
    await scene.engine.stop();
    await Promise.all(working);
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  return { service, scene, listen: () => void working.push(scene.engine.work()) };
}

/** The time from a request to the next one of that kind. */
async function pauseAfter(service: GithubServer, shape: RegExp, next: RegExp = shape): Promise<number> {
  await expect.poll(() => service.limits.of(shape).length, WAIT).toBeGreaterThan(0);
  const [{ atMs } = { atMs: 0 }] = service.limits.of(shape);
  await expect.poll(() => service.limits.of(next).some((each) => each.atMs > atMs), WAIT).toBe(true);
  return (service.limits.of(next).find((each) => each.atMs > atMs)?.atMs ?? 0) - atMs;
}

test("a poll interval that GitHub names counts, if it is longer than the one of the settings", async () => {
  const { service, listen } = await aService();
  service.limits.plan(POLL, { headers: { "x-poll-interval": "1" } });
  listen();
  expect(await pauseAfter(service, POLL)).toBeGreaterThanOrEqual(1_000 - EARLY_MS);
});

test("after the last request of the hour nothing is looked for until the hour ends", async () => {
  const { service, listen } = await aService();
  const resetS = Math.ceil(Date.now() / 1_000) + 2;
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetS) };
  service.limits.plan(POLL, { headers });
  listen();
  await expect.poll(() => service.limits.of(POLL).length, WAIT).toBeGreaterThan(1);
  expect(service.limits.of(POLL)[1]?.atMs).toBeGreaterThanOrEqual(resetS * 1_000 - EARLY_MS);
});

test("a limit that reactions meet holds back the next look too", async () => {
  const { service, scene, listen } = await aService();
  await scene.ask({ options: ["Redis", "Memcached"] });
  await scene.pass(0);
  const headers = { "retry-after": "1" };
  service.limits.plan(REACTIONS, { status: 403, message: "You have exceeded a secondary rate limit", headers });
  listen();
  expect(await pauseAfter(service, REACTIONS, POLL)).toBeGreaterThanOrEqual(1_000 - EARLY_MS);
});

test("reactions are asked for only where a thumb can answer", async () => {
  const { service, scene, listen } = await aService();
  await scene.ask({ options: ["Redis", "Memcached", "None"] });
  await scene.ask({ question: "Which port?", options: [] });
  await scene.pass(0);
  listen();
  await expect.poll(() => service.limits.of(POLL).length, WAIT).toBeGreaterThan(4);
  expect(service.limits.of(REACTIONS)).toEqual([]);
});

test("writes follow each other with a pause", async () => {
  const { service } = await aService({ writeMs: 150 });
  const wire = { repo: REPO, issue: 123, body: "one", question: "" };
  const startedAtMs = Date.now();
  await Promise.all([1, 2, 3].map(() => service.channel.send(wire)));
  const pauses = service.limits.of(/^POST .*\/comments$/).map(({ atMs }) => atMs - startedAtMs);
  for (const [index, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThanOrEqual(index * 150 - EARLY_MS);
});

test.each([
  ["names a time", { "retry-after": "7" }, 7_000],
  ["names none", {}, 60_000],
])("a write that meets a secondary limit which %s is tried again then", async (_name, headers, waitMs) => {
  const { service } = await aService();
  const message = "You have exceeded a secondary rate limit";
  service.limits.plan(/^POST .*\/comments$/, { status: 403, message, headers });
  const wire = { repo: REPO, issue: 123, body: "one", question: "" };
  expect(await service.channel.send(wire)).toMatchObject({ ok: false, retryAfterMs: waitMs });
  expect(await service.channel.send(wire)).toMatchObject({ ok: true });
});
