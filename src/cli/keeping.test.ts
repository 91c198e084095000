import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";
import { createDatabase } from "../../test/postgres.ts";
import { findLastBackup } from "../store/sqlite/backup.ts";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";

const BOUND_MS = 120_000;

/** A store with a question that was answered and one that waits. */
async function aStore(): Promise<BuiltScene> {
  const scene = new BuiltScene();
  await scene.type("ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached", "--name", "cache");
  await scene.type("answer", "cache", "1");
  await scene.type("ask", "JWT or cookies?", "--name", "auth");
  await scene.type("template", "add", "tests", "Yes");
  return scene;
}

describe("export and import", () => {
  test(
    "move everything to PostgreSQL and back to SQLite, where the trail is whole and what waits is answered",
    async () => {
      const scene = await aStore();
      const url = await createDatabase("built_move");
      expect(await scene.type("export", "-o", "all.ndjson")).toMatchObject({ exit: 0 });
      const file = join(scene.project, "all.ndjson");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const there = { ASKD_STORE: url };
      const imported = await scene.typeWith(there, "import", "all.ndjson");
      expect(imported.stdout.toString()).toContain(
        "✓ 2 runs, 0 people and 1 template imported; already present: 0 runs",
      );
      expect((await scene.typeWith(there, "audit", "--verify")).exit).toBe(0);
      expect((await scene.typeWith(there, "answer", "auth", "JWT")).exit).toBe(0);
      await scene.typeWith(there, "export", "-o", "back.ndjson");
      const back = { ASKD_STORE: `sqlite:${scene.home}/back.db` };
      expect((await scene.typeWith(back, "import", "back.ndjson", "--json=runs,problems")).stdout.toString()).toBe(
        '{"runs":2,"problems":[]}\n',
      );
      expect((await scene.typeWith(back, "audit", "--verify")).exit).toBe(0);
      expect((await scene.typeWith(back, "list", "--jq", '[.[].answer] | sort | join(" ")')).stdout.toString()).toBe(
        "JWT Redis\n",
      );
    },
    BOUND_MS,
  );

  test(
    "refuse a damaged file and change nothing",
    async () => {
      const scene = await aStore();
      await scene.type("export", "-o", "all.ndjson");
      const file = join(scene.project, "all.ndjson");
      writeFileSync(file, readFileSync(file, "utf8").replace("question.asked", "question.given"));
      const other = { ASKD_STORE: `sqlite:${scene.home}/other.db` };
      const { exit, stderr } = await scene.typeWith(other, "import", "all.ndjson");
      expect(exit).toBe(2);
      expect(stderr).toContain("The export is damaged: line");
      expect((await scene.typeWith(other, "list", "--json")).stdout.toString()).toBe("[]\n");
      expect((await scene.typeWith({ ASKD_URL: "http://127.0.0.1:9" }, "export")).exit).toBe(2);
    },
    BOUND_MS,
  );
});

describe("backup", () => {
  test(
    "is a whole copy, readable by its owner only, made while others write",
    async () => {
      const scene = await aStore();
      const database = join(scene.home, "data", "askd.db");
      const store = await openSqliteStore(database);
      let isOver = false;
      let written = 0;
      const writing = (async () => {
        while (!isOver)
          await store.commit({ entries: [{ kind: "usage", id: `n${(written += 1)}`, version: 0, body: {} }] });
      })();
      await until("something is written", () => written > 10);
      const { exit, stdout } = await scene.type("backup", "copy.db");
      isOver = true;
      await writing;
      await store.close();
      expect(exit).toBe(0);
      expect(stdout.toString()).toMatch(/^✓ Backed up to .*copy\.db \(\d+ kB\); verified\n$/);
      const copy = join(scene.project, "copy.db");
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      const there = { ASKD_STORE: `sqlite:${copy}` };
      expect((await scene.typeWith(there, "audit", "--verify")).exit).toBe(0);
      expect((await scene.typeWith(there, "list", "--awaiting")).stdout.toString()).toContain("JWT or cookies?");
      expect(await findLastBackup(database)).toMatchObject({ file: copy });
      expect((await scene.type("backup", "copy.db")).stderr).toContain("already exists");
      await scene.type("backup");
      expect(readdirSync(join(scene.home, "data", "backups"))).toHaveLength(1);
    },
    BOUND_MS,
  );

  test(
    "that is killed leaves nothing under its name",
    async () => {
      const scene = await aStore();
      const child = spawn(process.execPath, [join(import.meta.dirname, "../../bin/askd"), "backup", "killed.db"], {
        cwd: scene.project,
        stdio: "ignore",
        env: { PATH: process.env["PATH"], ASKD_HOME: scene.home },
      });
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      const copy = join(scene.project, "killed.db");
      // Either it never got its name, or it was whole before it was killed.
      if (existsSync(copy))
        expect((await scene.typeWith({ ASKD_STORE: `sqlite:${copy}` }, "audit", "--verify")).exit).toBe(0);
      expect((await scene.type("backup", "again.db")).exit).toBe(0);
    },
    BOUND_MS,
  );

  test(
    "of PostgreSQL needs the name of a file and a server",
    async () => {
      const scene = new BuiltScene();
      const env = { ASKD_STORE: "postgres://x@127.0.0.1:9/y" };
      const unnamed = await scene.typeWith(env, "backup");
      expect(unnamed).toMatchObject({ exit: 2, stderr: expect.stringContaining("Name a file: askd backup askd.dump") });
      const away = await scene.typeWith(env, "backup", "askd.dump");
      expect(away).toMatchObject({ exit: 3, stderr: expect.stringContaining("No PostgreSQL can be reached") });
      expect(readdirSync(scene.project)).toEqual([]);
    },
    BOUND_MS,
  );
});

test.runIf(process.getuid?.() === 0)(
  "a backup or export that finds no room or no place says where, and leaves nothing",
  async () => {
    const scene = await aStore();
    const full = join(scene.home, "full");
    mkdirSync(full);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", full]);
    try {
      for (const argv of [
        ["backup", join(full, "copy.db")],
        ["export", "-o", join(full, "all.ndjson")],
        ["backup", "/proc/copy.db"],
        ["export", "-o", "/proc/all.ndjson"],
      ]) {
        const { exit, stderr } = await scene.type(...argv);
        expect({ argv, exit, stderr }).toEqual({
          argv,
          exit: expect.toBeOneOf([1, 2]),
          stderr: expect.stringMatching(new RegExp(`^error: .*${argv.at(-1)?.split("/").at(-2)}/.*(full|ENOENT)`)),
        });
        expect(stderr).not.toContain("ASKD_DEBUG");
      }
      expect(readdirSync(full)).toEqual([]);
    } finally {
      execFileSync("umount", ["-l", full]);
    }
  },
  BOUND_MS,
);

describe("import", () => {
  test("is not for an agent in its run, who could bring in people", async () => {
    const scene = await aStore();
    const file = join(scene.project, "x.ndjson");
    expect((await scene.type("export", "-o", file)).exit).toBe(0);
    const inRun = { ASKD_RUN: "r_01jcs7z0aa8d2cmn8pqrstvwxy" };
    const refused = await scene.typeWith(inRun, "import", file);
    expect({ exit: refused.exit, said: refused.stderr }).toMatchObject({
      exit: 7,
      said: expect.stringContaining("An agent cannot maintain the store"),
    });
    expect((await scene.type("import", file)).exit).toBe(0);
  });
});

describe("migrate", () => {
  test(
    "makes and reports the schema of a store, and has nothing to do the second time",
    async () => {
      const scene = new BuiltScene();
      const check = await scene.type("migrate", "--check");
      expect({ exit: check.exit, said: check.stdout.toString() }).toEqual({
        exit: 1,
        said: "The store is at schema 0; this askd needs 5. Run: askd migrate\n",
      });
      expect((await scene.type("migrate")).stdout.toString()).toBe("✓ Created a store with schema 5\n");
      expect((await scene.type("migrate")).stdout.toString()).toBe("✓ The store is at schema 5; nothing to do\n");
      const url = await createDatabase("built_migrate");
      const there = { ASKD_STORE: url };
      expect((await scene.typeWith(there, "migrate", "--check", "--json")).stdout.toString()).toBe(
        '{"before":0,"after":0,"known":5}\n',
      );
      expect((await scene.typeWith(there, "migrate")).exit).toBe(0);
      expect((await scene.typeWith(there, "migrate", "--check")).exit).toBe(0);
    },
    BOUND_MS,
  );
});
