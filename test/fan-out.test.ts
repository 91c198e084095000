import { expect, test } from "vitest";
import { fanOut } from "./proof/fan-out.ts";

const STALLED = 20;

test("of many readers of live events nobody misses one, and those that take nothing are cut off", async () => {
  const { delivered, dropped, grownMb, problems } = await fanOut({ readers: 180, stalled: STALLED, events: 1_000 });
  expect(problems).toEqual([]);
  expect(delivered).toBe(180 * 1_000);
  expect(dropped).toBe(STALLED);
  // What waits for a stalled reader is at most one megabyte here; the rest is the machine's.
  expect(grownMb).toBeLessThan(400);
}, 60_000);
