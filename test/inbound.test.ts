import { describe, expect, test } from "vitest";
import { Database } from "./proof/place.ts";
import { forge } from "./proof/reach/forge.ts";
import { shuffle } from "./proof/reach/shuffle.ts";

describe.each(Database.options)("on %s", (database) => {
  test("an act of a person counts once, in whatever order and however often two listeners are brought it", async () => {
    expect(await shuffle(database, 30, 6)).toEqual({ actions: 30, deliveries: 180, answers: 30, problems: [] });
  });

  test("no altered, invented or repeated reply changes a question, and true ones are taken afterwards", async () => {
    const { brought, problems } = await forge(database, 190);
    expect(problems).toEqual([]);
    expect(Object.values(brought).every((count) => count === 10)).toBe(true);
    expect(Object.keys(brought)).toHaveLength(19);
  });
});
