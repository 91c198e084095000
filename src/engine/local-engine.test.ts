import { expect, test } from "vitest";
import { instant } from "../core/instant.ts";
import { StoreClock } from "./local-engine.ts";

/** A machine whose clock is an hour behind that of its store. */
function aClock() {
  const at = { machineMs: 1_000_000, aheadMs: 3_600_000, asked: 0 };
  const clock = new StoreClock(
    () => at.machineMs,
    async () => {
      at.asked += 1;
      return instant(at.machineMs + at.aheadMs);
    },
  );
  return { at, clock };
}

test("the store's time is asked for once, and then known", async () => {
  const { at, clock } = aClock();
  expect(await clock.checked()).toBe(instant(4_600_000));
  at.machineMs += 59_000;
  expect(await clock.checked()).toBe(instant(4_659_000));
  expect(at.asked).toBe(1);
});

test.each([
  ["a minute has passed", 61_000],
  ["the machine's clock was put back", -1_000],
])("it is asked for again when %s", async (_when, passedMs) => {
  const { at, clock } = aClock();
  await clock.checked();
  at.machineMs += passedMs;
  at.aheadMs = 60_000;
  expect(await clock.checked()).toBe(instant(at.machineMs + 60_000));
  expect(at.asked).toBe(2);
});

test("who heard it elsewhere need not be asked", async () => {
  const { at, clock } = aClock();
  clock.sync(instant(5_000_000));
  expect([await clock.checked(), at.asked]).toEqual([instant(5_000_000), 0]);
});
