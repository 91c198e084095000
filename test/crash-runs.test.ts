import { describe, expect, test } from "vitest";
import { Database } from "./proof/place.ts";
import { listShort, playRuns } from "./proof/runs.ts";

const AT_ONCE = 6;
const RECLAIMED_MS = 25_000;

describe.each(Database.options)("on %s", (database) => {
  test("an answer reaches its agent once and the run ends, whoever dies between", async () => {
    const cases = listShort();
    const outcomes = await playRuns(database, cases, { atOnce: AT_ONCE });
    expect(outcomes.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
    expect(outcomes.filter(({ reclaimMs = 0 }) => reclaimMs > RECLAIMED_MS)).toEqual([]);
    expect(outcomes).toHaveLength(cases.length);
  }, 180_000);
});
