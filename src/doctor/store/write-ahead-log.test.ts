import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle, start } from "../../../test/child.ts";
import { Ward } from "../../../test/ward.ts";
import { aRun, anEvent } from "../../../test/builders.ts";
import { rmSync } from "node:fs";
import { checkLog } from "./write-ahead-log.ts";

let program = "";
beforeAll(async () => {
  program = await bundle("src/store/sqlite/sqlite.child.ts");
});
afterAll(() => rmSync(program, { force: true }));

test("a log that a reading process keeps from beginning anew is found, with that process", async () => {
  const ward = new Ward();
  await ward.makeStore();
  const reader = start(program, [ward.file]);
  try {
    await reader.line();
    reader.say("sql begin; select count(*) from run");
    expect(await reader.line()).toBe("done");
    await ward.withStore(async (store) => {
      const run = aRun();
      await store.commit({ runs: [run], events: [anEvent({ runId: run.id })] });
      expect(await checkLog(ward.context)).toEqual([]); // it is small yet
      expect(await checkLog(ward.context, { largeBytes: 1 })).toMatchObject([
        {
          code: "log_held",
          level: "warning",
          text: expect.stringMatching(new RegExp(`has grown to .*process ${reader.process.pid} \\(`)),
          fix: expect.stringContaining(`kill ${reader.process.pid}`),
        },
      ]);
    });
  } finally {
    reader.process.kill("SIGKILL");
    await reader.exited;
  }
});
