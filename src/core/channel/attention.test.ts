import { describe, expect, test } from "vitest";
import { NOON } from "../../../test/builders.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../instant.ts";
import { type Attention, addRing, attentionUse, collectUntil, holdForDigest, releaseHeld } from "./attention.ts";

const NONE: Attention = { rings: [], held: [] };
const FREE = { perMinute: 5, perHour: undefined, digestMs: undefined };

/** The attention after messages at these times after noon. */
function after(...ms: number[]): Attention {
  return ms.reduce((attention, each, index) => addRing(attention, { at: later(NOON, each), about: `q${index}` }), NONE);
}

describe("messages are collected", () => {
  test("never before the first", () => {
    expect(collectUntil(NONE, { perMinute: 5, perHour: 1, digestMs: HOUR_MS }, NOON)).toBeUndefined();
  });

  test("when five came within a minute, until the minute of the first is over", () => {
    const four = after(0, 1, 2, 3).rings.length;
    expect(four).toBe(4);
    expect(collectUntil(after(0, 1, 2, 3), FREE, later(NOON, 4))).toBeUndefined();
    expect(collectUntil(after(0, 1, 2, 3, 4), FREE, later(NOON, 5))).toBe(later(NOON, MINUTE_MS));
    expect(collectUntil(after(0, 1, 2, 3, 4), FREE, later(NOON, MINUTE_MS))).toBeUndefined();
  });

  test("for as long as the person prefers after each message", () => {
    const rules = { perMinute: 5, perHour: undefined, digestMs: 15 * MINUTE_MS };
    expect(collectUntil(after(0), rules, later(NOON, SECOND_MS))).toBe(later(NOON, 15 * MINUTE_MS));
    expect(collectUntil(after(0), rules, later(NOON, 15 * MINUTE_MS))).toBeUndefined();
  });

  test("beyond the budget of an hour, until one of its interruptions is an hour old", () => {
    const rules = { perMinute: 5, perHour: 3, digestMs: undefined };
    const minutes = [0, 10, 20].map((minute) => minute * MINUTE_MS);
    expect(collectUntil(after(...minutes.slice(0, 2)), rules, later(NOON, 15 * MINUTE_MS))).toBeUndefined();
    expect(collectUntil(after(...minutes), rules, later(NOON, 30 * MINUTE_MS))).toBe(later(NOON, HOUR_MS));
    expect(collectUntil(after(...minutes), rules, later(NOON, HOUR_MS))).toBeUndefined();
  });

  test("over a day of a message every minute the budget is never exceeded", () => {
    const rules = { perMinute: 5, perHour: 4, digestMs: undefined };
    let attention = NONE;
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      const now = later(NOON, minute * MINUTE_MS);
      if (collectUntil(attention, rules, now) === undefined)
        attention = addRing(attention, { at: now, about: `q${minute}` });
      expect(attentionUse("ada", attention, rules, now).lastHour).toBeLessThanOrEqual(4);
    }
    expect(attention.rings.length).toBe(4 * 24);
  });
});

test("one question in several channels is one interruption", () => {
  const once = addRing(NONE, { at: NOON, about: "q" });
  expect(addRing(once, { at: later(NOON, SECOND_MS), about: "q" }).rings).toHaveLength(1);
  expect(addRing(once, { at: later(NOON, HOUR_MS), about: "q" }).rings).toHaveLength(2);
});

test("a delivery is held once, and released", () => {
  const held = holdForDigest(holdForDigest(NONE, { id: "d1", channel: "board" }), { id: "d1", channel: "board" });
  expect(held.held).toEqual([{ id: "d1", channel: "board" }]);
  expect(releaseHeld(held, ["d1"]).held).toEqual([]);
});
