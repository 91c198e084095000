import { beforeAll, expect, test } from "vitest";
import { bundle, start } from "../../test/child.ts";
import { Database, openStore, withPlace } from "../../test/proof/place.ts";
import { verify } from "./trail/verify.ts";

const WRITERS = 2;
const TIMES = 8;

let program = "";

beforeAll(async () => {
  program = await bundle("src/engine/trail/verify.child.ts");
});

test.each(Database.options)("two processes that write while %s is verified raise no false alarm", async (database) => {
  await withPlace(database, async (place) => {
    const store = await openStore(place); // before the others, which then find its tables
    const writers = Array.from({ length: WRITERS }, () => start(program, [JSON.stringify(place)]));
    try {
      for (const writer of writers) expect(await writer.line()).toBe("writes");
      const events = new Set<number>(); // a different number means that somebody wrote since the last look
      while (events.size < TIMES) {
        const verified = await verify(store);
        expect(verified.problems).toEqual([]);
        events.add(verified.events);
      }
      for (const writer of writers) writer.say("stop");
      for (const writer of writers) expect(Number(await writer.line())).toBeGreaterThan(1);
      const { problems, seals } = await verify(store);
      expect(problems).toEqual([]);
      expect(seals).toBeGreaterThan(0);
    } finally {
      for (const writer of writers) writer.process.kill("SIGKILL");
      await store.close();
    }
  });
});
