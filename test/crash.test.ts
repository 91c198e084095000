import { describe, expect, test } from "vitest";
import { crash } from "./proof/crash.ts";
import { Database } from "./proof/place.ts";

const KILLS = 10;

describe.each(Database.options)("on %s", (database) => {
  test("nothing acknowledged is lost and nothing happens twice, whenever a process is killed", async () => {
    const { problems, kills } = await crash(database, KILLS);
    expect(problems).toEqual([]);
    expect(kills).toBe(KILLS);
  }, 180_000);
});
