import fc from "fast-check";
import { expect, test } from "vitest";
import { epochMs, instant } from "./instant.ts";

test("a moment is written as the platform writes it, whatever was written before", () => {
  const YEAR_9999_MS = 253_402_300_799_999;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: YEAR_9999_MS }), { minLength: 1 }), (moments) => {
      for (const ms of moments) {
        expect(instant(ms)).toBe(new Date(ms).toISOString());
        expect(epochMs(instant(ms))).toBe(ms);
      }
    }),
  );
});

test("parts of a millisecond are left out", () => {
  expect(instant(1999.9)).toBe("1970-01-01T00:00:01.999Z");
});

test("what is no moment is refused", () => {
  expect(() => instant(Number.NaN)).toThrow(RangeError);
});
