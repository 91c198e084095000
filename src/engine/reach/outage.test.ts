import { expect, test } from "vitest";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";

/** A scene with a channel that fails for so many calls, and another one. */
function aScene(failures: number, other: { person: string | undefined }, over: Partial<Rules> = {}) {
  const failing = new Board("failing");
  const working = new Board("working");
  for (let count = 0; count < failures; count += 1) failing.failures.push({ ok: false, why: `status ${500 + count}` });
  const boards = new Map([failing, working].map((board) => [board.name, board]));
  const openChannel = (name: string) => {
    const board = boards.get(name);
    return board ? Promise.resolve(board) : Promise.reject(new Refusal("bad_input", "not configured"));
  };
  const reach = [
    { name: "failing", person: "ada", isPersonal: false },
    { name: "working", ...other, isPersonal: false },
  ];
  return { failing, working, scene: new Scene({ rules: { reach, ...over }, openChannel }) };
}

async function passMinutes(scene: Scene, minutes: number) {
  for (let count = 0; count < minutes; count += 1) await scene.pass(MINUTE_MS);
}

test("a channel counts as failing since the first failure of the streak, and no longer after a success", async () => {
  const { scene } = aScene(6, { person: undefined });
  await scene.ask({ notify: [{ channel: "failing" }] });
  await scene.pass(SECOND_MS);
  await passMinutes(scene, 5);
  const since = "2026-01-01T12:00:01.000Z";
  expect(await scene.engine.listChannels()).toMatchObject([
    { name: "failing", outage: { person: "ada", since, why: "status 500" } },
    { name: "working" },
  ]);
  expect((await scene.engine.listChannels())[1]?.outage).toBeUndefined();
  expect((await scene.engine.findTroubles()).outages).toEqual([]);
  await passMinutes(scene, 5);
  expect((await scene.engine.findTroubles()).outages).toEqual([
    { channel: "failing", person: "ada", since, why: "status 500" },
  ]);
  expect((await scene.engine.verify()).problems).toEqual([]);
  for (let attempts = 0; attempts < 2; attempts += 1) await scene.pass(2 * HOUR_MS);
  expect((await scene.engine.listChannels())[0]?.outage).toBeUndefined();
  expect((await scene.engine.findTroubles()).outages).toEqual([]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("with the first attempt after ten minutes the same person is told through another channel of theirs, once", async () => {
  const { working, scene } = aScene(100, { person: "ada" });
  await scene.ask({ notify: [{ channel: "failing" }], timeout: "200h" });
  await scene.pass(0);
  await passMinutes(scene, 9);
  expect(working.calls).toEqual([]);
  await passMinutes(scene, 11);
  expect(working.only.text).toBe(
    "⚠️ askd cannot send to failing since 12:00 UTC: status 500. Questions wait in your inbox all the same. See: askd channels",
  );
  await passMinutes(scene, 60);
  await scene.ask({ question: "And this?", notify: [{ channel: "failing" }] });
  await passMinutes(scene, 60);
  expect(working.calls).toEqual(["send"]);
});

test("ten minutes are ten minutes, however rarely a message is tried by then", async () => {
  const { working, scene } = aScene(100, { person: "ada" });
  await scene.ask({ notify: [{ channel: "failing" }], timeout: "200h" });
  await scene.pass(0);
  await passMinutes(scene, 9);
  expect(working.calls).toEqual([]);
  await passMinutes(scene, 1);
  expect(working.only.text).toContain("askd cannot send to failing");
});

test("a channel of somebody else is not told, and a shared one neither", async () => {
  for (const person of ["lena", undefined]) {
    const { working, scene } = aScene(100, { person });
    await scene.ask({ notify: [{ channel: "failing" }] });
    await scene.pass(0);
    await passMinutes(scene, 30);
    expect(working.calls).toEqual([]);
  }
});

test("a failure that is over within ten minutes tells nobody", async () => {
  const { working, scene } = aScene(3, { person: "ada" });
  await scene.ask({ notify: [{ channel: "failing" }] });
  await scene.pass(0);
  await passMinutes(scene, 30);
  expect(working.calls).toEqual([]);
});

test("in quiet hours the report waits, and if the other channel fails too, it is tried again", async () => {
  const quietHours = { general: { from: 12 * 60 + 5, to: 13 * 60, zone: "UTC" }, people: {} };
  const { working, scene } = aScene(100, { person: "ada" }, { quietHours });
  await scene.ask({ notify: [{ channel: "failing" }], risk: "high" });
  await scene.pass(0);
  await passMinutes(scene, 59);
  expect(working.calls).toEqual([]);
  working.failures.push({ ok: false, why: "status 503" });
  await passMinutes(scene, 4 * 60);
  expect(working.calls).toEqual(["send", "send"]);
  expect(working.messages.size).toBe(1);
});
