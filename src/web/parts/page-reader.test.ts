import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS, instant } from "../../core/instant.ts";
import { NOON } from "../../../test/builders.ts";
import { isZone, startOfDay, tellClock, tellDays, tellSpan } from "./page-reader.ts";
import { pickLanguage } from "../words/words.ts";

const en = { language: "en", zone: "Europe/Berlin", now: NOON } as const;
const at = (text: string) => instant(Date.parse(text));

test.each([
  [0, 1, "0s"],
  [59_000, 1, "59s"],
  [5 * HOUR_MS + 12 * MINUTE_MS, 1, "5h"],
  [5 * HOUR_MS + 12 * MINUTE_MS, 2, "5h 12m"],
  [12 * MINUTE_MS + 30_000, 2, "12m"],
  [49 * HOUR_MS, 2, "2d 1h"],
] as const)("%d ms with %d units is %s", (ms, most, words) => {
  expect(tellSpan(en, ms, most)).toBe(words);
});

test("whole days are named in words where they stand by themselves", () => {
  const [day, de] = [24 * HOUR_MS, { ...en, language: "de" } as const];
  expect([tellDays(en, day), tellDays(en, 30 * day), tellDays(en, 36 * HOUR_MS)]).toEqual([
    "1 day",
    "30 days",
    "1d 12h",
  ]);
  expect([tellDays(de, day), tellDays(de, 30 * day), tellDays(de, HOUR_MS)]).toEqual(["1 Tag", "30 Tage", "1 h"]);
});

describe("a moment", () => {
  test("is on the reader's clock, as short as it can be", () => {
    expect(tellClock(en, at("2026-01-01T13:00:00Z"))).toBe("14:00");
    expect(tellClock(en, at("2026-01-03T13:00:00Z"))).toBe("Sat 14:00");
    expect(tellClock({ ...en, language: "de" }, at("2026-02-03T13:00:00Z"))).toBe("3. Feb. 2026 14:00");
  });

  test("names its zone where the reader's is not known", () => {
    expect(tellClock({ ...en, zone: undefined }, at("2026-01-01T13:00:00Z"))).toBe("13:00 UTC");
  });
});

test("a day starts at the reader's midnight", () => {
  expect(instant(startOfDay(en))).toBe("2025-12-31T23:00:00.000Z");
  expect(instant(startOfDay({ ...en, zone: "Asia/Kolkata" }))).toBe("2025-12-31T18:30:00.000Z");
});

test.each([
  ["Europe/Berlin", true],
  ["Mars/Base", false],
  ["../../etc", false],
  ["", false],
])("%j is a zone: %s", (text, isOne) => {
  expect(isZone(text)).toBe(isOne);
});

test.each([
  [undefined, "de-DE,de;q=0.9,en;q=0.8", "de"],
  [undefined, "fr,en;q=0.5,de;q=0.7", "de"],
  [undefined, "fr", "en"],
  ["en", "de", "en"],
  ["xx", "de", "de"],
  [undefined, undefined, "en"],
])("chosen %j and accepted %j is %s", (chosen, accepted, language) => {
  expect(pickLanguage(chosen, accepted)).toBe(language);
});
