import { expect, test } from "vitest";
import { HOUR_MS, Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { parseMoment } from "./time-argument.ts";

const now = Instant.parse("2026-11-15T12:00:00.000Z");
const utc = () => 0;
const kolkata = () => 5.5 * HOUR_MS;

test.each([
  ["2h", "future", utc, "2026-11-15T14:00:00.000Z"],
  ["90m", "past", utc, "2026-11-15T10:30:00.000Z"],
  ["14:00", "future", utc, "2026-11-15T14:00:00.000Z"],
  ["9:15", "future", utc, "2026-11-16T09:15:00.000Z"],
  ["9:15", "past", utc, "2026-11-15T09:15:00.000Z"],
  ["14:00", "past", utc, "2026-11-14T14:00:00.000Z"],
  ["18:30", "future", kolkata, "2026-11-15T13:00:00.000Z"],
  ["2026-11-20", "future", utc, "2026-11-20T00:00:00.000Z"],
  ["2026-11-20", "future", kolkata, "2026-11-19T18:30:00.000Z"],
  ["2026-11-20 08:00", "future", kolkata, "2026-11-20T02:30:00.000Z"],
  ["2026-11-20T08:00:30Z", "future", kolkata, "2026-11-20T08:00:30.000Z"],
  ["2026-11-20T08:00+02:00", "future", utc, "2026-11-20T06:00:00.000Z"],
] as const)("%s to the %s is read on the reader's clock", (text, toward, ahead, moment) => {
  expect(parseMoment(text, { now, ahead, toward })).toBe(moment);
});

test.each(["", "soon", "25:00", "2026-13-01", "12:60", "1h 2x"])("%j is no time", (text) => {
  expect(() => parseMoment(text, { now, ahead: utc, toward: "future" })).toThrow(Refusal);
});
