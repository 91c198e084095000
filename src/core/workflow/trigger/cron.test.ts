import { describe, expect, test } from "vitest";
import { instant, type Instant } from "../../instant.ts";
import { nextDue, parseCron } from "./cron.ts";

/** The next so many times of a schedule. */
function dueTimes(text: string, zone: string, after: string, count: number): string[] {
  const cron = parseCron(text);
  const times: string[] = [];
  let at: Instant | undefined = instant(Date.parse(after));
  while (times.length < count && at) {
    at = nextDue(cron, zone, at);
    if (at) times.push(at.replace(":00.000Z", "Z"));
  }
  return times;
}

describe("a schedule", () => {
  test.each([
    ["0 */6 * * *", ["2026-01-01T06:00Z", "2026-01-01T12:00Z", "2026-01-01T18:00Z", "2026-01-02T00:00Z"]],
    ["30 9 * * mon-fri", ["2026-01-01T09:30Z", "2026-01-02T09:30Z", "2026-01-05T09:30Z"]],
    ["0 0 1,15 * *", ["2026-01-15T00:00Z", "2026-02-01T00:00Z"]],
    ["10-20/5 8 * * *", ["2026-01-01T08:10Z", "2026-01-01T08:15Z", "2026-01-01T08:20Z", "2026-01-02T08:10Z"]],
    ["0 0 * JAN SUN", ["2026-01-04T00:00Z", "2026-01-11T00:00Z"]],
    ["0 0 * * 7", ["2026-01-04T00:00Z"]],
    ["0 0 * * fri-sun", ["2026-01-02T00:00Z", "2026-01-03T00:00Z", "2026-01-04T00:00Z", "2026-01-09T00:00Z"]],
    ["0 0 13 * fri", ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z"]],
    ["0 0 29 2 *", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    ["50/5 23 31 12 *", ["2026-12-31T23:50Z", "2026-12-31T23:55Z", "2027-12-31T23:50Z"]],
    ["* * * * *", ["2026-01-01T00:01Z", "2026-01-01T00:02Z"]],
  ])("%s comes at %j", (text, times) => {
    expect(dueTimes(text, "UTC", "2026-01-01T00:00:30Z", times.length)).toEqual(times);
  });

  test("skips the years that have no February 29", () => {
    expect(dueTimes("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", 1)).toEqual(["2104-02-29T00:00Z"]);
  });

  test.each([
    ["* * * *", "a schedule has five fields (minute, hour, day, month, day of the week), and this one has 4"],
    ["", "and this one has 1"],
    ["60 * * * *", '"60" is no minute; write a number from 0 to 59'],
    ["* * 0 * *", '"0" is no day of the month'],
    ["* * * foo *", '"foo" is no month; write a number from 1 to 12, or jan to dec'],
    ["5-1 * * * *", '"5-1" ends before it begins'],
    ["*/0 * * * *", '"*/0" is no step of a minute'],
    ["1/2/3 * * * *", "is no step of a minute"],
    ["1-2-3 * * * *", '"1-2-3" is no range of a minute'],
    [", * * * *", '"" is no minute'],
    ["0 0 31 2 *", "no such month has a day 31"],
    ["0 0 30 feb *", "no such month has a day 30"],
    [`${"1,".repeat(200)}1 * * * *`, "at most 200 characters"],
  ])("%s is refused: %s", (text, message) => {
    expect(() => parseCron(text)).toThrow(message);
  });
});

describe("when clocks go forward (Berlin, 2026-03-29, 02:00 to 03:00)", () => {
  const AFTER = "2026-03-28T22:00:00Z";

  test("a fixed time that is skipped comes at that moment, once", () => {
    expect(dueTimes("30 2 * * *", "Europe/Berlin", AFTER, 2)).toEqual(["2026-03-29T01:00Z", "2026-03-30T00:30Z"]);
    expect(dueTimes("0,30 2 * * *", "Europe/Berlin", AFTER, 2)).toEqual(["2026-03-29T01:00Z", "2026-03-30T00:00Z"]);
  });

  test("every hour stays one hour apart", () => {
    expect(dueTimes("0 * * * *", "Europe/Berlin", AFTER, 4)).toEqual([
      "2026-03-28T23:00Z",
      "2026-03-29T00:00Z",
      "2026-03-29T01:00Z",
      "2026-03-29T02:00Z",
    ]);
  });

  test("a daily time keeps its hour on the clock", () => {
    expect(dueTimes("0 9 * * *", "Europe/Berlin", AFTER, 2)).toEqual(["2026-03-29T07:00Z", "2026-03-30T07:00Z"]);
    expect(dueTimes("0 9 * * *", "Europe/Berlin", "2026-03-27T10:00:00Z", 1)).toEqual(["2026-03-28T08:00Z"]);
  });
});

describe("when clocks go back (Berlin, 2026-10-25, 03:00 to 02:00)", () => {
  const AFTER = "2026-10-24T22:30:00Z";

  test("a fixed time that comes twice counts once, the first time", () => {
    expect(dueTimes("30 2 * * *", "Europe/Berlin", AFTER, 2)).toEqual(["2026-10-25T00:30Z", "2026-10-26T01:30Z"]);
  });

  test("every half hour stays half an hour apart, also in the repeated hour", () => {
    expect(dueTimes("*/30 * * * *", "Europe/Berlin", AFTER, 6)).toEqual([
      "2026-10-24T23:00Z",
      "2026-10-24T23:30Z",
      "2026-10-25T00:00Z",
      "2026-10-25T00:30Z",
      "2026-10-25T01:00Z",
      "2026-10-25T01:30Z",
    ]);
  });
});

test.each([
  ["America/New_York", "2026-03-08T00:00:00Z", "2026-03-08T07:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:30Z"],
  ["Asia/Kolkata", "2026-03-08T00:00:00Z", "2026-03-08T20:45Z"],
])("the clock of %s counts", (zone, after, first) => {
  expect(dueTimes("15 2 * * *", zone, after, 1)).toEqual([first]);
});

test("the next time is later than the last, whatever the zone", () => {
  for (const zone of ["Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca"]) {
    const times = dueTimes("*/20 1-3 * * *", zone, "2011-12-28T00:00:00Z", 60);
    expect(times).toEqual([...new Set(times)].sort());
  }
});
