import { describe, expect, test } from "vitest";
import { Database } from "./proof/place.ts";
import { listShort } from "./proof/run-list.ts";
import { playRuns } from "./proof/runs.ts";

const AT_ONCE = 6;

describe.each(Database.options)("on %s", (database) => {
  test("an answer reaches its agent once and the run ends, whoever dies between", async () => {
    // What differs between the stores is shown by every third case.
    const cases = listShort().filter((_case, index) => database === "sqlite" || index % 3 === 0);
    const outcomes = await playRuns(database, cases, { atOnce: AT_ONCE });
    expect(outcomes.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
    expect(outcomes).toHaveLength(cases.length);
  }, 300_000);
});
