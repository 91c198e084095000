import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { openSqliteStore } from "./sqlite.ts";

test("a store that was left by a crash can be shared again by all who open it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "askd-recover-"));
  const path = join(directory, "left.db");
  const first = await openSqliteStore(join(directory, "askd.db"));
  await first.commit({ runs: [aRun()] });
  // The files that a killed process leaves: the database and its log, in the middle of the work.
  for (const part of ["", "-wal"]) copyFileSync(join(directory, `askd.db${part}`), `${path}${part}`);
  await first.close();
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  const one = await openSqliteStore(path);
  const other = await openSqliteStore(path);
  const run = aRun();
  expect(await other.commit({ runs: [run] })).toMatchObject({ ok: true });
  expect(await one.findRun(run.id)).toMatchObject({ number: 2 });
  await Promise.all([one.close(), other.close()]);
  rmSync(directory, { recursive: true });
});
