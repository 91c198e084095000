import { expect, test } from "vitest";
import { isOlder } from "./version.ts";

test.each([
  ["2.1.88", true],
  ["2.0.999", true],
  ["1.9.90", true],
  ["2.1.89", false],
  ["2.1.325 (Claude Code)", false],
  ["3.0.0", false],
  ["nightly", false],
  [undefined, false],
] as const)("%s is older than 2.1.89: %s", (version, expected) => {
  expect(isOlder(version, [2, 1, 89])).toBe(expected);
});
