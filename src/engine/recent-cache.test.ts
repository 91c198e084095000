import { expect, test } from "vitest";
import { RecentCache } from "./recent-cache.ts";

test("the latest are remembered, and what is older than twice as many is not", () => {
  const recent = new RecentCache<number>(10);
  for (let n = 0; n < 100; n += 1) {
    recent.set(`${n}`, n);
    for (let latest = Math.max(0, n - 9); latest <= n; latest += 1) expect(recent.get(`${latest}`)).toBe(latest);
    expect(recent.get(`${n - 20}`)).toBeUndefined();
  }
});

test("a value that is set again is the one remembered", () => {
  const recent = new RecentCache<string>(2);
  recent.set("a", "old");
  recent.set("b", "");
  recent.set("a", "new");
  recent.set("c", "");
  expect(recent.get("a")).toBe("new");
});

test("what is deleted or cleared is forgotten, however long ago it was set", () => {
  const recent = new RecentCache<number>(1);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.delete("a");
  expect(recent.get("a")).toBeUndefined();
  recent.clear();
  expect(recent.get("b")).toBeUndefined();
});
