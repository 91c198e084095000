import { expect, test } from "vitest";
import { parseDuration, formatDuration, spellDuration } from "./duration.ts";

test.each([
  ["90s", 90_000],
  ["3m", 180_000],
  ["1h30m", 5_400_000],
  ["24h", 86_400_000],
  ["2d", 172_800_000],
  ["1.5h", 5_400_000],
  ["250ms", 250],
  ["45", 45_000],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "soon", "3 fortnights", "-1h", "1h 30", "1e9h", "367d", "h"])("%j is refused", (text) => {
  expect(() => parseDuration(text)).toThrow(/duration|longer than a year/);
});

test.each([
  [0, "0s"],
  [40_000, "40s"],
  [240_000, "4m"],
  [7_500_000, "2h 5m"],
  [18_720_000, "5h 12m"],
  [86_400_000, "1d"],
  [90_000_000, "1d 1h"],
])("%d ms is said as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [180_000, "3 minutes"],
  [60_000, "1 minute"],
  [3_600_000, "1 hour"],
  [90_000, "90 seconds"],
])("%d ms is spelled %s", (ms, text) => {
  expect(spellDuration(ms)).toBe(text);
});
