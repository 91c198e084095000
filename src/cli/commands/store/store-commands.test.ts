import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { openSqliteStore } from "../../../store/sqlite/sqlite.ts";

test("migrate --check fails on a store that a newer askd has changed, and so does migrate", async () => {
  const findSchema = () => Promise.resolve({ schema: 9, known: 7 });
  for (const argv of [["migrate", "--check"], ["migrate"]]) {
    const { exit, stdout } = await type(new Scene(), argv, { findSchema });
    expect(exit).toBe(1);
    expect(stdout).toContain("The store is at schema 9; this askd knows 7. Update askd");
  }
});

test("export and backup write over no store, no database and no device, whatever is forced", async () => {
  const dir = mkdtempSync(join(tmpdir(), "askd-export-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [store, other] = [join(dir, "askd.db"), join(dir, "other.db")];
  for (const file of [store, other]) await (await openSqliteStore(file)).close();
  symlinkSync(store, join(dir, "link"));
  const env = { ASKD_HOME: dir, ASKD_STORE: `sqlite:${store}` };
  const words = [readFileSync(store), readFileSync(other)];
  const own = "belongs to the store itself";
  for (const [file, why, ofBackup = why] of [
    [store, own],
    [join(dir, "link"), own],
    [`${store}-wal`, own],
    [other, "is a database", "already exists"],
    ["/dev/null", "is no file"],
  ]) {
    const exported = await type(new Scene(), ["export", "-o", `${file}`, "--force"], { env });
    expect([exported.exit, exported.stderr]).toEqual([2, expect.stringContaining(`${file} ${why}`)]);
    const backedUp = await type(new Scene(), ["backup", `${file}`], { env });
    expect([backedUp.exit, backedUp.stderr]).toEqual([2, expect.stringContaining(`${file} ${ofBackup}`)]);
  }
  expect([readFileSync(store), readFileSync(other)]).toEqual(words);
});

test("export overwrites a file only with --force", async () => {
  const dir = mkdtempSync(join(tmpdir(), "askd-export-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "all.ndjson");
  const scene = new Scene();
  await scene.ask();
  writeFileSync(file, "mine", { mode: 0o644 });
  const refused = await type(scene, ["export", "-o", file]);
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain(`${file} already exists; nothing was changed`);
  expect(refused.stderr).toContain("--force");
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect((await type(scene, ["export", "-o", file, "--force"])).exit).toBe(0);
  expect(readFileSync(file, "utf8")).toContain('"kind":"end"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["all.ndjson"]);
});

test("import takes a file that nobody signed only if that is asked for", async () => {
  const dir = mkdtempSync(join(tmpdir(), "askd-import-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "all.ndjson");
  const scene = new Scene();
  await scene.ask({ timeout: "1h" });
  expect((await type(scene, ["export", "-o", file])).exit).toBe(0);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const end = { ...(JSON.parse(lines.at(-1)!) as Record<string, unknown>), key: undefined, signature: undefined };
  // Nothing in the trail tells how often a job was tried.
  const edited = lines.slice(0, -1).map((line) => line.replace(/"tries":\d/, '"tries":3'));
  writeFileSync(file, `${[...edited, JSON.stringify(end)].join("\n")}\n`);
  const other = new Scene();
  const refused = await type(other, ["import", file]);
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain("The export is not signed; nothing was imported");
  expect(refused.stderr).toContain(`askd import ${file} --unsigned`);
  expect(await other.store.listRuns({ order: "oldest", limit: 1 })).toEqual([]);
  const taken = await type(other, ["import", file, "--unsigned"]);
  expect(taken.stdout).toContain("! The file is not signed");
  expect(await other.store.listRuns({ order: "oldest", limit: 2 })).toHaveLength(1);
});
