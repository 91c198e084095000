import { describe, expect, test } from "vitest";
import { instant, type Instant } from "../src/core/instant.ts";
import { MemoryStore } from "./memory-store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { findLost } from "./proof/acknowledged.ts";
import { answererOn, race } from "./proof/answer-race.ts";
import { mortalStore, withoutGuard } from "./proof/broken-store.ts";
import { liveEngine } from "./proof/live-engine.ts";
import { findBroken, readAll } from "./proof/promise.ts";
import { workload } from "./proof/workload.ts";

const ROUNDS = 10;
const now = (): Instant => instant(Date.now());

/** Two engines on one store, as two processes would be. */
async function raceOn(store: Store): Promise<string[]> {
  const engines = [liveEngine(store), liveEngine(store)];
  const { problems } = await race(liveEngine(store), engines.map(answererOn), ROUNDS);
  return [...problems, ...findBroken(await readAll(store))];
}

describe("a store that checks no versions", () => {
  test("is found by people who answer at once", async () => {
    const problems = await raceOn(withoutGuard(new MemoryStore(now)));
    expect(problems).toContain("round 1: 2 people were told that they won");
    expect(problems).toContainEqual(
      expect.stringMatching(/it is answered and its trail has the outcomes \[question.answered,question.answered\]/),
    );
  });

  test("is what the finding rests on: with versions checked there is none", async () => {
    expect(await raceOn(new MemoryStore(now))).toEqual([]);
  });
});

describe("a store that acknowledges before the disk has it", () => {
  /** Cuts the power right after every acknowledgement, and looks at the disk. */
  async function crashOn(acknowledges: "before disk" | "after disk"): Promise<{ crashes: number; lost: string[] }> {
    const { store, disk } = mortalStore(now, acknowledges);
    const found: Array<Promise<string[]>> = [];
    await workload(liveEngine(store), (done) => found.push(findLost(disk, [done])), 3);
    return { crashes: found.length, lost: (await Promise.all(found)).flat() };
  }

  test("is found by looking for what was acknowledged after a crash", async () => {
    const { lost } = await crashOn("before disk");
    expect(lost).toContainEqual(expect.stringMatching(/^lost: {"what":"answered".*it is pending$/));
  });

  test("is what the finding rests on: with the disk first nothing is lost", async () => {
    const { crashes, lost } = await crashOn("after disk");
    expect(crashes).toBeGreaterThan(20);
    expect(lost).toEqual([]);
  });
});
