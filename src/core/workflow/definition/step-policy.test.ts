import { expect, test } from "vitest";
import { findConcurrency, findItems, findRetryMs, findTimeoutMs } from "./step-policy.ts";

test.each([
  [undefined, 1, undefined],
  [2, 1, 10_000],
  [2, 2, 20_000],
  [2, 3, undefined],
  [20, 15, 600_000],
  [{ times: 3, delay: "1s", backoff: "constant" as const }, 3, 1_000],
  [{ times: 3, delay: "1s", max_delay: "3s" }, 3, 3_000],
])("with retry %j, failure %d waits %j ms", (retry, failures, ms) => {
  expect(findRetryMs({ retry }, failures)).toBe(ms);
});

test("a timeout is a duration", () => {
  expect(findTimeoutMs({ timeout: "10m" })).toBe(600_000);
  expect(findTimeoutMs({})).toBeUndefined();
});

test("for_each takes a list, as it is or from a template", () => {
  const scope = { files: ["a", "b"], name: "x" };
  expect(findItems({}, scope)).toBeUndefined();
  expect(findItems({ for_each: "{{ files }}" }, scope)).toEqual({ items: ["a", "b"], as: "item", atOnce: 1 });
  expect(findItems({ for_each: { in: ["{{ name }}", 2], as: "file", at_once: 4 } }, scope)).toEqual({
    items: ["x", 2],
    as: "file",
    atOnce: 4,
  });
  expect(() => findItems({ for_each: "{{ name }}" }, scope)).toThrow("for_each needs a list");
});

test("a concurrency key is filled; a key that names nothing keeps no runs apart", () => {
  const scope = { issueNumber: 7 };
  expect(findConcurrency({}, scope)).toBeUndefined();
  expect(findConcurrency({ concurrency: "{{ issueNumber }}" }, scope)).toEqual({ key: "7", whenBusy: "wait" });
  expect(findConcurrency({ concurrency: { key: "all", when_busy: "skip" } }, scope)).toEqual({
    key: "all",
    whenBusy: "skip",
  });
  expect(findConcurrency({ concurrency: "{{ nothing }}" }, scope)).toBeUndefined();
});
