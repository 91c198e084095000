import { expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, instant, later } from "../../core/instant.ts";
import { sayAge, sayAgo, sayClock, sayMoment, spellAgo, startOfDay } from "./relative-time.ts";

const utc = (): number => 0;
const kolkata = (): number => 5.5 * HOUR_MS;
const now = instant(Date.UTC(2026, 10, 15, 12, 0));

test.each([
  [0, "0s"],
  [40 * SECOND_MS, "40s"],
  [119 * SECOND_MS, "1m"],
  [2 * HOUR_MS + 59 * MINUTE_MS, "2h"],
  [3 * DAY_MS, "3d"],
])("%i ms is said as %s", (ms, said) => expect(sayAge(ms)).toBe(said));

test("what was long ago is said with its largest unit", () => {
  expect(sayAgo(later(now, -2 * HOUR_MS), now)).toBe("2h ago");
  expect(spellAgo(later(now, -2 * HOUR_MS), now)).toBe("2 hours ago");
  expect(spellAgo(later(now, -30 * MINUTE_MS), now)).toBe("30 minutes ago");
  expect(spellAgo(later(now, -MINUTE_MS), now)).toBe("1 minute ago");
});

test("what has just been is just now, even if clocks disagree", () => {
  expect(sayAgo(now, now)).toBe("just now");
  expect(sayAgo(later(now, 5 * SECOND_MS), now)).toBe("just now");
  expect(spellAgo(later(now, 200), now)).toBe("just now");
});

test("a moment is said on the reader's clock, with the day", () => {
  expect(sayClock(later(now, 2 * HOUR_MS), now, utc)).toBe("Sun 14:00");
  expect(sayClock(later(now, 26 * HOUR_MS), now, utc)).toBe("Mon 14:00");
  expect(sayClock(later(now, 26 * HOUR_MS), now, kolkata)).toBe("Mon 19:30");
  expect(sayClock(later(now, 9 * DAY_MS), now, utc)).toBe("2026-11-24 12:00");
  expect(sayMoment(now, utc)).toBe("2026-11-15 12:00:00");
});

test("today begins at midnight on the reader's clock", () => {
  expect(startOfDay(later(now, 1_234), utc)).toBe("2026-11-15T00:00:00.000Z");
  expect(startOfDay(now, kolkata)).toBe("2026-11-14T18:30:00.000Z");
});
