import { expect, test } from "vitest";
import { WritePace } from "./write-pace.ts";

test("a write far back in the line is refused, and each of those gets a time of its own", async () => {
  const pace = new WritePace(6_000, () => 1_000);
  const hurried = new AbortController();
  expect(await pace.waitForTurn()).toBeUndefined();
  const second = pace.waitForTurn(hurried.signal).catch(() => "waits");
  expect(await pace.waitForTurn()).toBe(18_000);
  expect(await pace.waitForTurn()).toBe(24_000);
  hurried.abort();
  expect(await second).toBe("waits");
});
