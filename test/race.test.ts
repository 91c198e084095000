import { describe, expect, test } from "vitest";
import { raceProcesses } from "./proof/process-race.ts";
import { Database } from "./proof/place.ts";

const ROUNDS = 5;

describe.each(Database.options)("on %s", (database) => {
  test("of 200 people in 8 processes who answer at once one wins and the others are told who", async () => {
    const { answers, problems } = await raceProcesses(database, ROUNDS);
    expect(problems).toEqual([]);
    expect(answers).toBe(ROUNDS * 200);
  }, 120_000);
});
