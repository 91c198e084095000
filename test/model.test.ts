import { describe, expect, test } from "vitest";
import { SharedClock, model } from "./proof/model.ts";
import { createDatabase } from "./postgres.ts";
import { memoryTwin, postgresTwin, sqliteTwin, type Twin } from "./proof/twin.ts";

/** Counts the sequences on which all of them agree. */
async function countAgreed(open: (clock: SharedClock) => Array<Promise<Twin>>, sequences: number): Promise<number> {
  const clock = new SharedClock();
  const twins = await Promise.all(open(clock));
  try {
    return (await model(twins, clock, sequences)).sequences;
  } finally {
    await Promise.all(twins.map((twin) => twin.close()));
  }
}

describe("whatever people, agents and time do", () => {
  test("SQLite keeps what memory keeps, and every promise holds", async () => {
    expect(await countAgreed(({ now }) => [memoryTwin(now), sqliteTwin(now)], 100)).toBe(100);
  }, 120_000);

  test("PostgreSQL keeps what memory keeps, and every promise holds", async () => {
    const url = await createDatabase(`model_${process.pid}`);
    expect(await countAgreed(({ now }) => [memoryTwin(now), postgresTwin(url)], 15)).toBe(15);
  }, 120_000);
});
