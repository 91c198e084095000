import { expect, test } from "vitest";
import { DAY_MS, Instant, MINUTE_MS, epochMs, instant } from "../instant.ts";
import { parseQuietHours, quietUntil } from "./quiet-hours.ts";

const at = (text: string) => Instant.parse(text);
const hours = (text: string) => {
  const { from = 0, to = 0, zone = "UTC" } = parseQuietHours(text) ?? {};
  return { from, to, zone };
};
const untilOf = (text: string, now: string) => quietUntil(hours(text), at(now));

test.each([
  ["22:00-07:00 Europe/Berlin", { from: 1320, to: 420, zone: "Europe/Berlin" }],
  [" 9:05 - 17:30 ", { from: 545, to: 1050, zone: undefined }],
  ["22:00-07:00 Europe/Berln", undefined],
  ["22:00-07:00 Europe/Berlin please", undefined],
  ["22-7", undefined],
  ["24:00-07:00", undefined],
  ["", undefined],
])("%j is read as hours and a zone, or not at all", (text, parsed) => {
  expect(parseQuietHours(text)).toEqual(parsed);
});

test.each([
  // In winter Berlin is an hour ahead of UTC: the night is 21:00-06:00 UTC.
  ["22:00-07:00 Europe/Berlin", "2026-01-15T20:59:59.999Z", undefined],
  ["22:00-07:00 Europe/Berlin", "2026-01-15T21:00:00.000Z", "2026-01-16T06:00:00.000Z"],
  ["22:00-07:00 Europe/Berlin", "2026-01-16T05:59:59.999Z", "2026-01-16T06:00:00.000Z"],
  ["22:00-07:00 Europe/Berlin", "2026-01-16T06:00:00.000Z", undefined],
  // In summer two.
  ["22:00-07:00 Europe/Berlin", "2026-07-15T20:00:00.000Z", "2026-07-16T05:00:00.000Z"],
  // Hours within a day; the other side of the date line; a half-hour zone.
  ["12:00-13:00 UTC", "2026-01-15T12:30:00.000Z", "2026-01-15T13:00:00.000Z"],
  ["12:00-13:00 UTC", "2026-01-15T13:30:00.000Z", undefined],
  ["22:00-07:00 Pacific/Auckland", "2026-01-15T09:30:00.000Z", "2026-01-15T18:00:00.000Z"],
  ["22:00-07:00 Asia/Kolkata", "2026-01-15T17:00:00.000Z", "2026-01-16T01:30:00.000Z"],
  // Nothing is not the whole day.
  ["08:00-08:00 UTC", "2026-01-15T08:00:00.000Z", undefined],
])("%s holds at %s until %s", (text, now, until) => {
  expect(untilOf(text, now)).toBe(until);
});

test.each([
  // 2026-03-29 in Berlin: after 01:59 (UTC 00:59) comes 03:00; 2026-10-25: 02:00-02:59 comes twice, until UTC 01:00.
  ["the night with the jump is an hour shorter", "22:00-07:00", "2026-03-28T21:00:00.000Z", "2026-03-29T05:00:00.000Z"],
  ["the night with the extra hour is longer", "22:00-07:00", "2026-10-24T20:00:00.000Z", "2026-10-25T06:00:00.000Z"],
  ["an end that is skipped is at the jump", "22:00-02:30", "2026-03-29T00:30:00.000Z", "2026-03-29T01:00:00.000Z"],
  ["an end that comes twice is the second", "22:00-02:30", "2026-10-25T00:10:00.000Z", "2026-10-25T01:30:00.000Z"],
  ["also between the two", "22:00-02:30", "2026-10-25T00:45:00.000Z", "2026-10-25T01:30:00.000Z"],
  ["a beginning that is skipped is at the jump", "02:30-07:00", "2026-03-29T01:00:00.000Z", "2026-03-29T05:00:00.000Z"],
  ["a beginning that comes twice is the first", "02:30-07:00", "2026-10-25T00:30:00.000Z", "2026-10-25T06:00:00.000Z"],
])("when the clocks change, %s", (_name, text, now, until) => {
  expect(untilOf(`${text} Europe/Berlin`, now)).toBe(until);
});

test.each(["2026-01-01", "2026-03-28", "2026-07-01", "2026-10-24"])(
  "from %s on, it is quiet exactly when a clock on the wall says so",
  (day) => {
    const wall = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Europe/Berlin",
      hourCycle: "h23",
      hour: "2-digit",
      minute: "2-digit",
    });
    const start = epochMs(at(`${day}T00:00:00.000Z`));
    for (let ms = start; ms < start + 3 * DAY_MS; ms += 31 * MINUTE_MS) {
      const clock = wall.format(ms);
      const isNight = clock >= "22:00" || clock < "07:00";
      const until = quietUntil(hours("22:00-07:00 Europe/Berlin"), instant(ms));
      expect([clock, until !== undefined]).toEqual([clock, isNight]);
      if (until !== undefined) expect(wall.format(epochMs(until))).toBe("07:00");
    }
  },
);
