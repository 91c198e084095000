import { describe, expect, test } from "vitest";
import { NOON, aQuestion } from "../../../test/builders.ts";
import {
  type ClockRow,
  type ClockReading,
  CONFIRM_JUMP_MS,
  JUMP_MS,
  jumpedMs,
  updateClock,
  deadlineDelayMs,
} from "./clock-jump.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../instant.ts";
import { DEFAULT_RULES } from "../rules.ts";

const UP_MS = 5 * HOUR_MS;
const ROW: ClockRow = { boot: "b", startedAt: later(NOON, -UP_MS), past: [] };

/** A look so long after noon, by a clock that is so far ahead. */
function sight(passedMs: number, aheadMs = 0, over: Partial<ClockReading> = {}): ClockReading {
  const upMs = UP_MS + passedMs;
  return { now: later(NOON, passedMs + aheadMs), boot: "b", uptimeMs: { before: upMs, after: upMs }, ...over };
}

describe("a look at the clock", () => {
  test("that goes as real time does says nothing new", () => {
    expect(updateClock(ROW, sight(DAY_MS, SECOND_MS))).toBe(ROW);
  });

  test("is the first of its kind after the machine was started, and what was known of the clock before stays", () => {
    const doubted = { aheadMs: HOUR_MS, from: NOON, to: later(NOON, HOUR_MS), untilUptimeMs: UP_MS + CONFIRM_JUMP_MS };
    const row = updateClock({ ...ROW, doubted }, sight(DAY_MS, HOUR_MS, { boot: "c" }));
    expect(row).toMatchObject({ boot: "c", past: [{ aheadMs: HOUR_MS }] });
    expect(row.doubted).toBeUndefined();
  });

  test("of which nobody knows when it was made does not see what it cannot know", () => {
    const uptimeMs = { before: UP_MS, after: UP_MS + HOUR_MS };
    expect(updateClock(ROW, { ...sight(0), uptimeMs })).toBe(ROW);
    expect(updateClock(ROW, { ...sight(0, HOUR_MS), uptimeMs })).toBe(ROW);
    expect(updateClock(ROW, { ...sight(0, 3 * HOUR_MS), uptimeMs }).doubted?.aheadMs).toBe(2 * HOUR_MS);
  });

  test("doubts a jump until it has stayed", () => {
    const jumped = updateClock(ROW, sight(MINUTE_MS, DAY_MS));
    expect(jumped.doubted).toMatchObject({ aheadMs: DAY_MS, from: later(NOON, MINUTE_MS) });
    const stillThere = sight(MINUTE_MS + CONFIRM_JUMP_MS - SECOND_MS, DAY_MS + SECOND_MS);
    expect(updateClock(jumped, stillThere)).toBe(jumped);
    const believed = updateClock(jumped, sight(MINUTE_MS + CONFIRM_JUMP_MS, DAY_MS));
    expect(believed).toMatchObject({ past: [{ aheadMs: DAY_MS, from: later(NOON, MINUTE_MS) }] });
    expect(believed.doubted).toBeUndefined();
    expect(updateClock(believed, sight(DAY_MS, DAY_MS))).toBe(believed);
  });

  test("sees a second jump, and one that is partly put right", () => {
    const jumped = updateClock(ROW, sight(MINUTE_MS, DAY_MS));
    const again = updateClock(jumped, sight(2 * MINUTE_MS, 2 * DAY_MS));
    expect(again).toMatchObject({ doubted: { aheadMs: 2 * DAY_MS } });
    expect(again.putBackMs).toBeUndefined();
    const partly = updateClock(again, sight(3 * MINUTE_MS, HOUR_MS));
    expect(partly).toMatchObject({ doubted: { aheadMs: HOUR_MS }, putBackMs: 2 * DAY_MS - HOUR_MS });
    const right = updateClock(partly, sight(4 * MINUTE_MS));
    expect(right).toMatchObject({ past: [], putBackMs: 2 * DAY_MS });
  });

  test("believes a clock that is put back at once, and sees when that is taken back", () => {
    const back = updateClock(ROW, sight(MINUTE_MS, -HOUR_MS));
    expect(back).toMatchObject({ past: [{ aheadMs: -HOUR_MS }], putBackMs: HOUR_MS });
    const right = updateClock({ ...back, putBackMs: undefined }, sight(2 * MINUTE_MS));
    expect(right).toMatchObject({ past: [] });
    expect(right.doubted).toBeUndefined();
  });
});

describe("a deadline", () => {
  const asked = aQuestion({ askedAt: NOON, dueAt: later(NOON, 2 * HOUR_MS) });
  const jumped = updateClock(ROW, sight(MINUTE_MS, DAY_MS));
  const put = (passedMs: number, question = asked) =>
    deadlineDelayMs(question, jumped, sight(passedMs, DAY_MS), { ...DEFAULT_RULES, remindAt: [] });

  test("that only a jump made due is put off until the jump is believed, or its time has come", () => {
    expect(put(MINUTE_MS)).toBe(CONFIRM_JUMP_MS);
    expect(put(2 * MINUTE_MS)).toBe(CONFIRM_JUMP_MS - MINUTE_MS);
    const soon = aQuestion({ askedAt: NOON, dueAt: later(NOON, 3 * MINUTE_MS) });
    expect(put(MINUTE_MS, soon)).toBe(2 * MINUTE_MS);
    expect(put(3 * MINUTE_MS, soon)).toBeUndefined();
  });

  test("that was set after the jump goes by the clock", () => {
    const at = later(NOON, DAY_MS + MINUTE_MS);
    expect(put(3 * MINUTE_MS, aQuestion({ askedAt: at, dueAt: later(at, MINUTE_MS) }))).toBeUndefined();
    const steps = [{ afterMs: MINUTE_MS, to: [], channels: [] }];
    const escalated = aQuestion({
      askedAt: NOON,
      dueAt: later(at, MINUTE_MS),
      escalated: 1,
      onTimeout: { do: "escalate", steps },
    });
    expect(put(3 * MINUTE_MS, escalated)).toBeUndefined();
  });

  test("tells how much of its time was no waiting", () => {
    const believed = updateClock(jumped, sight(MINUTE_MS + CONFIRM_JUMP_MS, DAY_MS));
    expect(jumpedMs(asked, believed)).toBe(DAY_MS);
    expect(
      jumpedMs(aQuestion({ askedAt: later(NOON, DAY_MS + HOUR_MS), dueAt: later(NOON, 3 * DAY_MS) }), believed),
    ).toBe(0);
    expect(jumpedMs(aQuestion({ askedAt: NOON, dueAt: later(NOON, JUMP_MS) }), believed)).toBe(0);
  });
});
