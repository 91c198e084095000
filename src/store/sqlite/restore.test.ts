import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { keepRun } from "../../../test/store-suite/opened.ts";
import { instant } from "../../core/instant.ts";
import { backUp } from "./backup.ts";
import { restoreSqlite } from "./restore.ts";
import { openSqliteStore } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "askd-restore-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = instant(0);

/** The runs in the store of a folder, read in a copy: a process that has opened a store counts as its user. */
async function namesIn(place: string): Promise<string[]> {
  const copy = mkdtempSync(join(folder, "copy-"));
  cpSync(place, copy, { recursive: true });
  const store = await openSqliteStore(join(copy, "askd.db"));
  const runs = await store.listRuns({ order: "oldest", limit: 10 });
  await store.close();
  return runs.map(({ name }) => name);
}

test("a restore that ends at any step leaves the old store, or none that can be used until it is done again", async () => {
  const original = join(folder, "original", "askd.db");
  const backup = join(folder, "backup.db");
  const store = await openSqliteStore(original);
  await keepRun(store, { name: "kept" });
  await backUp(original, backup, { at });
  await keepRun(store, { name: "later" });
  await store.close();
  const steps: string[] = [];
  for (let end = 0; end === 0 || end <= steps.length; end += 1) {
    const place = join(folder, String(end));
    const database = join(place, "askd.db");
    mkdirSync(place, { mode: 0o700 });
    copyFileSync(original, database);
    let count = 0;
    const onStep = (step: string) => {
      if (end === 0) steps.push(step);
      else if ((count += 1) === end) throw new Error(`ends when it has ${step}`);
    };
    const restoring = restoreSqlite({ database, backup, at, onStep });
    if (end === 0) await restoring;
    else await expect(restoring).rejects.toThrow(steps[end - 1]);
    const found = await namesIn(place).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "store_unusable", hint: expect.stringContaining("askd restore") });
      return undefined;
    });
    if (end === 0) expect(found).toEqual(["kept"]);
    else if (found) expect(found).toEqual(["kept", "later"]);
    await restoreSqlite({ database, backup, at });
    expect(await namesIn(place)).toEqual(["kept"]);
  }
  expect(steps).toEqual(["copied", "marked", "prepared", "moved askd.db", "named"]);
});
