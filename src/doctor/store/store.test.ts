import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import pg from "pg";
import { HOUR_MS, MINUTE_MS, instant } from "../../core/instant.ts";
import { openDatabase } from "../../sqlite.ts";
import { backUp } from "../../store/sqlite/backup.ts";
import { MIGRATIONS } from "../../store/sqlite/schema.ts";
import { findSchema } from "../../store/postgres/migrate.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { Ward } from "../../../test/ward.ts";
import { checkBlockingTransaction } from "./inspect.ts";

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string): number => statSync(path).mode & 0o777;

function change(file: string, sql: string): void {
  const database = openDatabase(file);
  database.exec(sql);
  database.close();
}

async function asOwner(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

describe("a store in a file", () => {
  test("that was not made yet is no problem, and is not made by looking", async () => {
    const ward = new Ward();
    expect(await ward.troubles()).toEqual([]);
    expect(statSync(ward.file, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("that is as it should be has no problems and says what keeps it", async () => {
    const ward = new Ward();
    await ward.makeStore();
    const found = await ward.look();
    expect(found.filter(({ level }) => level !== "ok" && level !== "off")).toEqual([]);
    const said = found.filter(({ area }) => area === "store").map(({ text }) => text);
    expect(said.join(", ")).toMatch(/^sqlite 3\.\d+\.\d+, WAL, sync full, writable, [\d.]+ [GT]B free$/);
  });

  test("whose clock jumped says so for a day", async () => {
    const ward = new Ward();
    await ward.makeStore();
    const at = (ms: number) => instant(Date.now() + ms);
    const jump = { aheadMs: 24 * HOUR_MS, from: at(-24 * HOUR_MS), to: at(-MINUTE_MS) };
    const row = { boot: "b", startedAt: at(-9 * HOUR_MS), past: [] };
    const keep = (body: Record<string, unknown>, id: string) =>
      ward.withStore((store) => store.commit({ entries: [{ kind: "clock", id, version: 0, body }] }));
    await keep({ ...row, doubted: { ...jump, untilUptimeMs: 1 } }, "atlas");
    await keep({ ...row, past: [{ ...jump, aheadMs: -HOUR_MS }] }, "build");
    await keep({ ...row, past: [{ ...jump, to: at(-25 * HOUR_MS) }] }, "calm");
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^clock_jumped: the clock of atlas jumped ahead by 1d: deadlines .+ wait [89]m more/),
      expect.stringMatching(/^clock_jumped: the clock of build was put back by 1h: earlier questions/),
    ]);
  });

  test("that others can read is found and closed", async () => {
    const ward = new Ward();
    await ward.makeStore();
    chmodSync(dirname(ward.file), 0o755);
    chmodSync(ward.file, 0o644);
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^store_open: .*\/data \(and askd\.db\) is open to other users/),
    ]);
    expect(modeOf(ward.file)).toBe(0o644); // looking changes nothing
    expect(await ward.fix()).toEqual({ fixed: ["store_open"], left: [] });
    expect([modeOf(ward.file), modeOf(dirname(ward.file))]).toEqual([0o600, 0o700]);
  });

  test("whose folder others can read, but which holds other things too, is left alone while its files are private", async () => {
    const ward = new Ward();
    await ward.makeStore();
    writeFileSync(join(dirname(ward.file), "README.md"), "");
    chmodSync(dirname(ward.file), 0o755);
    expect(await ward.troubles()).toEqual([]);
    chmodSync(dirname(ward.file), 0o777);
    expect(await ward.troubles()).toEqual([expect.stringContaining("store_open")]);
  });

  test("that was backed up says when, and says so when the backup is gone", async () => {
    const ward = new Ward();
    await ward.makeStore();
    const copy = join(dirname(ward.file), "backups", "copy.db");
    await backUp(ward.file, copy, { at: instant(Date.now() - 2 * HOUR_MS) });
    expect(await ward.look()).toContainEqual(expect.objectContaining({ code: "backup", text: "last backup 2h ago" }));
    rmSync(copy);
    expect(await ward.troubles()).toEqual([
      expect.stringMatching(/^backup_gone: the last backup, made 2h ago, is no longer at/),
    ]);
  });

  test("that a newer askd has changed is named as such", async () => {
    const ward = new Ward();
    await ward.makeStore();
    change(ward.file, "update meta set schema = 99, writable_by = 99");
    expect(await ward.troubles()).toEqual([expect.stringMatching(/^newer_schema: a newer askd has changed the store/)]);
  });

  test("that is no store is named as such", async () => {
    const ward = new Ward();
    mkdirSync(dirname(ward.file), { mode: 0o700 });
    writeFileSync(ward.file, "Dear diary, ".repeat(1000), { mode: 0o600 });
    expect(await ward.troubles()).toEqual([`store_unusable: ${ward.file} is not an askd store.`]);
  });

  test("that keeps no log ahead of its writes is found", async () => {
    const ward = new Ward();
    mkdirSync(dirname(ward.file), { mode: 0o700 });
    writeFileSync(ward.file, "", { mode: 0o600 });
    change(ward.file, MIGRATIONS.map(({ sql }) => sql).join("\n"));
    expect(await ward.troubles()).toEqual([expect.stringContaining("not_durable: sqlite")]);
  });

  test.runIf(isRoot)("on a full disk is found", async () => {
    const ward = new Ward();
    const disk = dirname(ward.file);
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", disk]);
    // Lazily: the driver for older versions of Node lets go of a closed file when its statements are collected.
    onTestFinished(() => void execFileSync("umount", ["-l", disk]));
    await ward.makeStore();
    expect(() => writeFileSync(join(disk, "askd.ballast"), Buffer.alloc(4_000_000), { mode: 0o600 })).toThrow("ENOSPC");
    expect(await ward.troubles()).toContainEqual(expect.stringMatching(/^disk_full: .* is full \(\d+ \w+ free\)/));
  });

  test.runIf(isRoot)("on a read-only disk is found", async () => {
    const ward = new Ward();
    await ward.makeStore();
    const disk = dirname(ward.file);
    execFileSync("mount", ["--bind", disk, disk]);
    onTestFinished(() => void execFileSync("umount", ["-l", disk]));
    execFileSync("mount", ["-o", "remount,ro,bind", disk]);
    expect(await ward.troubles()).toContainEqual(expect.stringContaining("cannot be written (EROFS)"));
  });
});

describe("a store in PostgreSQL", () => {
  test("that is as it should be has no problems, and a clock an hour off is found", async () => {
    const url = await createDatabase("doctor_store");
    const ward = new Ward({ store: { kind: "postgres", url } });
    await ward.makeStore();
    const found = await ward.look();
    expect(found.filter(({ level }) => level === "problem" || level === "warning")).toEqual([]);
    const said = found.filter(({ area }) => area === "store").map(({ text }) => text);
    expect(said.join(", ")).toMatch(/^postgres 1\d[.\d]*, synchronous_commit on, \d+ ms, clock ok, writable/);
    expect(await ward.troubles({ nowMs: () => Date.now() - HOUR_MS })).toEqual([
      expect.stringMatching(/^clock_off: this machine's clock is (59m|1h) behind the one of the database/),
    ]);
    expect(await ward.troubles({ nowMs: () => Date.now() + HOUR_MS })).toEqual([
      expect.stringMatching(/clock is (59m|1h) ahead of/),
    ]);
  });

  test("that a newer askd has changed, that can lose answers, or that is not there is found", async () => {
    const url = await createDatabase("doctor_sick");
    const ward = new Ward({ store: { kind: "postgres", url } });
    await ward.makeStore();
    await asOwner(
      url,
      "update meta set schema = 99, writable_by = 99",
      "alter database doctor_sick set synchronous_commit = off",
    );
    expect(await ward.troubles()).toEqual([
      expect.stringContaining("newer_schema"),
      expect.stringMatching(/^not_durable: postgres .* synchronous_commit off/),
    ]);
    await asOwner(url, "alter database doctor_sick set default_transaction_read_only = on");
    expect(await ward.troubles()).toContainEqual(
      expect.stringMatching(/^store_read_only: postgres .* takes no writes/),
    );
    const gone = new URL(url);
    gone.pathname = "/doctor_nowhere";
    const [missing] = await ward.troubles({ store: { kind: "postgres", url: gone.href } });
    expect(missing).toMatch(/^store_unreachable: PostgreSQL at .* has no database "doctor_nowhere"/);
  });

  test("that is not made yet is no problem where it can be made, and is not made by looking", async () => {
    const url = await createDatabase("doctor_new");
    const ward = new Ward({ store: { kind: "postgres", url } });
    expect(await ward.troubles()).toEqual([]);
    expect((await ward.look()).map(({ text }) => text).join(", ")).toContain("tables made at the next use");
    expect((await findSchema(url)).schema).toBe(0);
    await asOwner(url, "create role doctor_guest login", "revoke create on schema public from public");
    const guest = new URL(url);
    guest.username = "doctor_guest";
    const found = await new Ward({ store: { kind: "postgres", url: guest.href } }).look();
    await asOwner(url, "drop role doctor_guest");
    expect(found).toContainEqual(
      expect.objectContaining({
        code: "store_unusable",
        level: "problem",
        text: expect.stringContaining("does not permit this user to create the tables"),
        fix: expect.stringContaining("grant create on schema"),
      }),
    );
  });

  test("that somebody's open transaction holds up is found, with whose it is", () => {
    expect(checkBlockingTransaction({ pid: 4711, ms: 5 * MINUTE_MS })).toMatchObject([
      { code: "feed_held", level: "warning", text: expect.stringContaining("process 4711") },
    ]);
  });
});
