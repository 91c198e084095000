import fc from "fast-check";
import { expect, test } from "vitest";
import { percentileRank } from "./tally.ts";

test("a rank is what sorting would put there", () => {
  const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer()), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(values, fc.constantFrom(0, 0.1, 0.5, 0.9, 1), (numbers, part) => {
      const sorted = Float64Array.from(numbers).sort();
      const expected = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
      expect(percentileRank(Float64Array.from(numbers), part)).toBe(expected);
    }),
  );
});

test.each([
  ["equal", () => 7],
  ["rising", (index: number) => index],
  ["falling", (index: number) => -index],
  ["in two halves", (index: number) => (index * 50_021) % 100_003],
])("many values that are %s are no more work than others", (_name, valueAt) => {
  const values = Float64Array.from({ length: 100_000 }, (_, index) => valueAt(index));
  const sorted = Float64Array.from(values).sort();
  expect(percentileRank(values, 0.9)).toBe(sorted[89_999]);
});
