import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene, said } from "../../../test/scene.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Rules } from "../../core/rules.ts";

// A scene begins at noon UTC.
const REACH = [{ name: "board", person: "ada", isPersonal: false }];
const NOON_UTC = { from: 11 * 60, to: 14 * 60, zone: "UTC" };

function aScene(over: Partial<Rules> = {}) {
  const board = new Board();
  return { board, scene: new Scene({ rules: { reach: REACH, ...over }, openChannel: board.open }) };
}

test("after an escalation reminders count from there, for those who have the question now", async () => {
  const { board, scene } = aScene();
  const steps = [{ after: "10h", to: ["ada"] }];
  await scene.ask({ timeout: "10h", on_timeout: { do: "escalate", steps } });
  await scene.pass(0);
  const at: number[] = [];
  for (let hour = 1; hour < 20; hour += 1) {
    const before = board.reminders.length;
    await scene.pass(HOUR_MS);
    if (board.reminders.length > before) at.push(hour);
  }
  // Five and nine hours after the ask, with the escalation, and five and nine hours after that.
  expect(at).toEqual([5, 9, 10, 15, 19]);
});

describe("quiet hours", () => {
  test.each([
    ["in general", { general: NOON_UTC, people: {} }],
    ["of the person in the settings", { general: undefined, people: { ada: NOON_UTC } }],
  ])("%s keep a message back until their end, and the delivery says so", async (_name, quietHours) => {
    const { board, scene } = aScene({ quietHours });
    const { question } = await scene.ask();
    await scene.pass(0);
    await scene.pass(90 * MINUTE_MS);
    expect(board.calls).toEqual([]);
    expect(await scene.engine.listDeliveries(question.id)).toMatchObject([
      { state: "due", waits: { why: "quiet", until: "2026-01-01T14:00:00.000Z" } },
    ]);
    await scene.pass(30 * MINUTE_MS);
    expect(board.calls).toEqual(["send"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("of a person's own win over those in the settings, in their own time zone", async () => {
    const { board, scene } = aScene({ quietHours: { general: NOON_UTC, people: { ada: NOON_UTC } } });
    await scene.engine.putPerson({ id: "ada", version: 0, groups: [], quiet: "22:00-07:00 Asia/Tokyo" }, SYSTEM);
    await scene.ask(); // 21:00 in Tokyo
    await scene.pass(0);
    expect(board.calls).toEqual(["send"]);
    await scene.pass(HOUR_MS);
    await scene.ask({ question: "And this?" });
    await scene.pass(8 * HOUR_MS);
    expect(board.calls).toEqual(["send"]);
    await scene.pass(HOUR_MS);
    expect(board.calls).toEqual(["send", "send"]);
  });

  test("of somebody else keep nothing back, and those in general hold for a shared address", async () => {
    const lena = aScene({ quietHours: { general: undefined, people: { lena: NOON_UTC } } });
    await lena.scene.ask();
    await lena.scene.pass(0);
    expect(lena.board.calls).toEqual(["send"]);
    const reach = [{ name: "board", person: undefined, isPersonal: false }];
    const shared = aScene({ reach, quietHours: { general: NOON_UTC, people: {} } });
    await shared.scene.ask();
    await shared.scene.pass(0);
    expect(shared.board.calls).toEqual([]);
  });

  test("do not keep high risk back, nor the outcome of what was sent before", async () => {
    const { board, scene } = aScene({
      quietHours: { general: { from: 12 * 60 + 5, to: 14 * 60, zone: "UTC" }, people: {} },
    });
    const { question } = await scene.ask();
    await scene.pass(0);
    await scene.pass(10 * MINUTE_MS);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(0);
    expect(board.calls).toEqual(["send", "edit"]);
    await scene.ask({ question: "Drop the table?", risk: "high" });
    await scene.pass(0);
    expect(board.calls).toEqual(["send", "edit", "send"]);
  });

  test("in which a question closes: nothing is ever sent of it", async () => {
    const { board, scene } = aScene({ quietHours: { general: NOON_UTC, people: {} } });
    const { question } = await scene.ask();
    await scene.pass(0);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(0);
    await scene.pass(3 * HOUR_MS);
    expect(board.calls).toEqual([]);
    expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "skipped" }]);
  });
});

describe("while a person is at their inbox", () => {
  test("their phone stays quiet for a minute, also at high risk, and then is told after all", async () => {
    const { board, scene } = aScene();
    await scene.engine.reportPresence(ADA);
    const { question } = await scene.ask({ risk: "high" });
    await scene.pass(0);
    for (let seconds = 0; seconds < 50; seconds += 10) {
      await scene.pass(10 * SECOND_MS);
      await scene.engine.reportPresence(ADA);
    }
    expect(board.calls).toEqual([]);
    expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "due", waits: { why: "present" } }]);
    await scene.pass(10 * SECOND_MS);
    expect(board.calls).toEqual(["send"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("who answers there is not told elsewhere", async () => {
    const { board, scene } = aScene();
    await scene.engine.reportPresence(ADA);
    const { question } = await scene.ask();
    await scene.pass(SECOND_MS);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(2 * MINUTE_MS);
    expect(board.calls).toEqual([]);
  });

  test("who leaves is told half a minute later", async () => {
    const { board, scene } = aScene();
    await scene.engine.reportPresence(ADA);
    await scene.ask();
    await scene.pass(29 * SECOND_MS);
    expect(board.calls).toEqual([]);
    await scene.pass(SECOND_MS);
    expect(board.calls).toEqual(["send"]);
  });

  test("others are told at once, and an agent is nobody's presence", async () => {
    const { board, scene } = aScene();
    await scene.engine.reportPresence({ ...ADA, id: "lena" });
    await expect(scene.engine.reportPresence(AGENT)).rejects.toMatchObject({ code: "not_permitted" });
    await scene.ask();
    await scene.pass(0);
    expect(board.calls).toEqual(["send"]);
  });
});

test("a reminder that falls due together with a change comes after it", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask({ timeout: "10h" });
  await scene.pass(0);
  board.failures.push({ ok: false, why: "status 503", retryAfterMs: 6 * HOUR_MS });
  await scene.engine.extend(question.id, HOUR_MS, ADA);
  await scene.pass(0);
  await scene.pass(5.5 * HOUR_MS);
  expect(board.calls).toEqual(["send", "edit", "edit", "remind"]);
});
