import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { instant } from "../../core/instant.ts";
import { openDatabase } from "../../sqlite.ts";
import { IDS, aContent, aRun } from "../../../test/builders.ts";
import { prepareCommit } from "../prepare.ts";
import { Connection } from "./connection.ts";
import { isNetworkFileSystem } from "./store-files.ts";
import { MIGRATIONS, migrate } from "./schema.ts";
import { SqliteWriter } from "./write.ts";
import { openSqliteStore } from "./sqlite.ts";
import { keep, keepRun } from "../../../test/store-suite/opened.ts";

const isRoot = process.getuid?.() === 0;
let directory = "";
let path = "";
const mounts: string[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "askd-file-"));
  path = join(directory, "askd.db");
});

afterEach(() => {
  // Lazily: the driver for older versions of Node lets go of a closed file when its statements are collected.
  for (const mounted of mounts.splice(0)) execFileSync("umount", ["-l", mounted]);
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true });
});

function mountSmallDisk(): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", directory]);
  mounts.push(directory);
}

/** Permissions do not stop root, so the directory becomes a read-only view of itself. */
function mountReadOnly(place: string): void {
  execFileSync("mount", ["--bind", place, place]);
  mounts.push(place);
  execFileSync("mount", ["-o", "remount,ro,bind", place]);
}

test("a file that is no database is named and left alone", async () => {
  writeFileSync(path, "Dear diary, ".repeat(1000));
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: "store_unusable",
    message: `${path} is not an askd store.`,
    hint: expect.stringContaining("--store"),
  });
  expect(statSync(path).size).toBe(12_000);
});

test.runIf(platform() === "linux")("a place where the system keeps its own files is refused at once", async () => {
  await expect(openSqliteStore("/proc/askd/store/askd.db")).rejects.toMatchObject({ code: "store_unusable" });
});

test("a place where no directory can be is refused with what to do", async () => {
  writeFileSync(join(directory, "file"), "");
  const below = join(directory, "file", "askd.db");
  await expect(openSqliteStore(below)).rejects.toMatchObject({ code: "store_unusable", hint: expect.any(String) });
});

test("a read-only directory is refused", async () => {
  const below = join(directory, "home");
  await (await openSqliteStore(join(below, "askd.db"))).close();
  if (isRoot) mountReadOnly(below);
  else for (const file of [join(below, "askd.db"), below]) chmodSync(file, 0o500);
  const opening = openSqliteStore(join(below, "askd.db")).then((store) => store.commit({ runs: [aRun()] }));
  await expect(opening).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringMatching(/read-only|opened/),
  });
});

test.each([
  ["a folder with a name of 300 characters", "n".repeat(300)],
  ["many folders, 600 characters together", Array(6).fill("n".repeat(100)).join("/")],
])("a path that is too long, by %s, is said to be", async (_what, below) => {
  await expect(openSqliteStore(join(directory, below, "askd.db"))).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringContaining("The path of the store is too long"),
    hint: expect.stringContaining("at most 500 bytes"),
  });
});

test("a directory of ours is closed to others, one with other things in it is left as it is", async () => {
  chmodSync(directory, 0o755);
  await (await openSqliteStore(path)).close();
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  const project = join(directory, "project");
  mkdirSync(project);
  writeFileSync(join(project, "README.md"), "");
  chmodSync(project, 0o755);
  await (await openSqliteStore(join(project, "askd.db"))).close();
  expect(statSync(project).mode & 0o777).toBe(0o755);
  expect(statSync(join(project, "askd.db")).mode & 0o777).toBe(0o600);
  chmodSync(project, 0o777);
  await expect(openSqliteStore(join(project, "askd.db"))).rejects.toMatchObject({ hint: `chmod 700 ${project}` });
});

test("network file systems are known by their number", () => {
  const [nfs, smb2, cifs, ext4, tmpfs, overlay] = [0x6969, 0xfe534d42, 0xff534d42, 0xef53, 0x01021994, 0x794c7630];
  expect([nfs, smb2, cifs, cifs | 0].every(isNetworkFileSystem)).toBe(true);
  expect([ext4, tmpfs, overlay].some(isNetworkFileSystem)).toBe(false);
});

test("a full disk refuses the commit whole, and the next goes through when there is room", async () => {
  const connection = await Connection.open(path, { check: false, isNew: true });
  await migrate(connection);
  const writer = new SqliteWriter(connection);
  const commit = (text: string): Promise<unknown> => {
    const contents = [{ hash: IDS.outcome(), content: aContent(text) }];
    const batch = [prepareCommit({ runs: [aRun()], contents })];
    return connection.transact(() => writer.write(batch, instant(0)));
  };
  const { page_count } = connection.database.prepare<{ page_count: number }>("pragma page_count").get()!;
  connection.database.exec(`pragma max_page_count = ${page_count + 5}`);
  await expect(commit("x".repeat(100_000))).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringMatching(/full/),
  });
  expect(connection.database.prepare("select count(*) as count from run where number > 0").get()).toEqual({ count: 0 });
  expect(await commit("short")).toMatchObject([{ ok: true }]);
  connection.database.exec("pragma max_page_count = 100000");
  expect(await commit("x".repeat(100_000))).toMatchObject([{ ok: true }]);
  connection.close();
});

test.runIf(isRoot)("nothing acknowledged is lost when a real disk fills, and space that returns is used", async () => {
  mountSmallDisk();
  const ballast = join(directory, "askd.ballast");
  writeFileSync(ballast, Buffer.alloc(500_000));
  const store = await openSqliteStore(path);
  const content = aContent("x".repeat(30_000));
  let kept = 0;
  const fill = async (): Promise<void> => {
    for (;;) kept += (await keep(store, { runs: [aRun()], contents: [{ hash: IDS.outcome(), content }] })).ok ? 1 : 0;
  };
  await expect(fill()).rejects.toMatchObject({ code: "store_unusable", message: expect.stringMatching(/full/) });
  expect(await store.listRuns({ order: "oldest", limit: 1000 })).toHaveLength(kept);
  rmSync(ballast);
  await keepRun(store);
  await store.close();
  const again = await openSqliteStore(path);
  expect(await again.listRuns({ order: "oldest", limit: 1000 })).toHaveLength(kept + 1);
  await again.close();
});

test("a program that is too old for a store stops writing at once and cannot open it again", async () => {
  const store = await openSqliteStore(path);
  const run = await keepRun(store);
  const newer = openDatabase(path);
  newer.exec("update meta set schema = 99, writable_by = 99");
  newer.close();
  expect(await store.commit({ runs: [aRun()] })).toEqual({ ok: false, why: "newer_schema" });
  expect(await store.findRun(run.id)).toEqual(run);
  await store.close();
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: "newer_schema",
    hint: expect.stringContaining("npm"),
  });
});

test("a newer program adds to an older store, and the older one goes on where it may", async () => {
  const store = await openSqliteStore(path);
  const run = await keepRun(store);
  const connection = await Connection.open(path, { check: false });
  const next = { sql: "alter table run add column hue text", writableBy: 1 };
  await migrate(connection, [...MIGRATIONS, next]);
  await migrate(connection, [...MIGRATIONS, next]);
  expect(connection.database.prepare("select schema, hue from meta, run").get()).toEqual({
    schema: MIGRATIONS.length + 1,
    hue: null,
  });
  connection.close();
  await keep(store, { runs: [{ ...run, status: "completed" }] });
  await store.close();
  const again = await openSqliteStore(path);
  expect(await again.findRun(run.id)).toMatchObject({ status: "completed" });
  await again.close();
});
