import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { LOOKS } from "../../test/looking.ts";
import { openDatabase } from "../sqlite.ts";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";

const env = { ASKD_NO_SERVICE: "1" };
const FILES = ["", "-wal", "-shm"] as const;

const words = (typed: string) => typed.split(" ");
const storeOf = (scene: BuiltScene) => join(scene.home, "data/askd.db");

/** Asks, and leaves the store as a process does that is killed: what it wrote last is in the log alone. */
async function askAndCrash(scene: BuiltScene, text: string): Promise<void> {
  const file = storeOf(scene);
  const reader = openDatabase(file);
  reader.exec("begin; select count(*) from meta"); // the log cannot be emptied meanwhile
  await scene.typeWith(env, "ask", text);
  for (const end of FILES) copyFileSync(`${file}${end}`, join(scene.home, `kept${end}`));
  reader.close();
  for (const end of FILES) copyFileSync(join(scene.home, `kept${end}`), `${file}${end}`);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
}

/** Every file of a folder with its bytes and its time. */
function everythingIn(folder: string): Record<string, unknown> {
  const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    names.map((name) => {
      const file = join(folder, name);
      return [name, `${statSync(file).mtimeMs} ${readFileSync(file).toString("base64")}`];
    }),
  );
}

async function titlesIn(scene: BuiltScene, ...argv: string[]): Promise<string> {
  return (await scene.typeWith(env, "list", "--jq", '[.[].title] | sort | join(" ")', ...argv)).stdout.toString();
}

describe("restore", () => {
  test("after a crash puts the backup in place of the store and its log, and keeps both aside", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?", "--timeout", "1s");
    await scene.typeWith(env, "backup", "copy.db");
    await askAndCrash(scene, "Two?");
    const { exit, stdout } = await scene.typeWith(env, "restore", "copy.db");
    expect({ exit, said: stdout.toString() }).toMatchObject({
      exit: 0,
      said: expect.stringMatching(
        /^✓ Restored .*copy\.db: 1 run, 1 question\n {2}The store that was there is in (.*)\n {2}The trail is verified\.\n/,
      ),
    });
    const database = storeOf(scene);
    // Nothing was done by looking at it: the deadline has passed, and the question waits for the next command.
    const restored = await openSqliteStore(database, { isReadOnly: true });
    expect(await restored.countQuestions("pending")).toBe(1);
    await restored.close();
    expect(FILES.map((end) => existsSync(`${database}${end}`))).toEqual([true, false, false]);
    expect(await titlesIn(scene)).toBe("One?\n");
    expect((await scene.typeWith(env, "audit", "--verify")).exit).toBe(0);
    const aside = readdirSync(dirname(database)).find((name) => name.startsWith("askd.db.before-")) ?? "";
    expect(await titlesIn(scene, "--store", `sqlite:${join(dirname(database), aside, "askd.db")}`)).toBe("One? Two?\n");
  });

  test("is refused with the process that has the store open, for a damaged backup, and for an agent", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?");
    await scene.typeWith(env, "backup", "copy.db");
    const store = await openSqliteStore(storeOf(scene));
    const used = await scene.typeWith(env, "restore", "copy.db");
    expect({ exit: used.exit, said: used.stderr }).toMatchObject({
      exit: 1,
      said: expect.stringContaining(`process ${process.pid} (`),
    });
    expect(used.stderr).toContain("has the store open; nothing was changed\n  Stop what uses it: askd service stop");
    expect(await store.countQuestions("pending")).toBe(1);
    await store.close();
    expect(
      (await scene.typeWith({ ...env, ASKD_RUN: "r_01jcs7z0aa8d2cmn8pqrstvwxy" }, "restore", "copy.db")).exit,
    ).toBe(7);
    const copy = join(scene.project, "copy.db");
    const bytes = readFileSync(copy);
    writeFileSync(copy, bytes.subarray(0, bytes.length - 4096));
    const damaged = await scene.typeWith(env, "restore", "copy.db");
    expect({ exit: damaged.exit, said: damaged.stderr }).toMatchObject({
      exit: 1,
      said: expect.stringContaining("copy.db is damaged"),
    });
    expect(await titlesIn(scene)).toBe("One?\n");
  });
});

describe("runs that a restored store cannot go on with", () => {
  test("are listed with the way out, those of this machine and those of another", async () => {
    const scene = new BuiltScene();
    scene.program("agent.sh", "#!/bin/sh\nexit 0\n");
    expect(await scene.typeWith(env, "run", "--name", "tidy", "--", "./agent.sh")).toMatchObject({ exit: 0 });
    const copy = join(scene.home, "copies", "copy.db");
    await scene.typeWith(env, "backup", copy);
    // With the records beside it, nothing is missing; not even where this machine has lost its own.
    const [run] = readdirSync(join(scene.home, "state", "runs"));
    const launch = join(scene.home, "state", "runs", run!, "env.json");
    rmSync(launch);
    const whole = await scene.typeWith(env, "restore", copy);
    expect({ exit: whole.exit, said: whole.stdout.toString() }).toMatchObject({
      exit: 0,
      said: expect.not.stringContaining("cannot"),
    });
    expect(statSync(launch).mode & 0o777).toBe(0o600);

    const other = new BuiltScene();
    const moved = await other.typeWith(env, "restore", copy);
    expect({ exit: moved.exit, said: moved.stdout.toString() }).toMatchObject({
      exit: 0,
      said: expect.stringMatching(
        /^! #1 tidy belongs to \S+: this machine cannot go on with it: on \S+: askd worker; or where the session is: askd runs resume 1 --elsewhere$/m,
      ),
    });

    rmSync(launch);
    rmSync(`${copy}.runs`);
    const lost = await scene.typeWith(env, "restore", copy);
    expect({ exit: lost.exit, said: lost.stdout.toString() }).toMatchObject({
      exit: 0,
      said: expect.stringContaining(
        "! #1 tidy cannot continue: its launch record is no longer on this machine: askd runs cancel 1\n",
      ),
    });
  });
});

describe("looking", () => {
  test("at a backup, or with --read-only, changes no byte of it and does nothing that is due", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?", "--timeout", "1s");
    const copy = join(scene.home, "copies", "copy.db");
    await scene.typeWith(env, "backup", copy);
    await askAndCrash(scene, "Two?");
    await sleep(1_000); // the deadline has passed
    const places = [
      { folder: join(scene.home, "copies"), flags: ["--store", `sqlite:${copy}`], looks: Object.values(LOOKS).flat() },
      {
        folder: dirname(storeOf(scene)),
        flags: ["--read-only"],
        looks: ["status", "doctor", "check 1", "export"].map(words),
      },
    ];
    for (const { folder, flags, looks } of places) {
      const before = everythingIn(folder);
      const looked = looks.map(async (argv) => {
        const { stdout, stderr } = await scene.typeWith(env, ...flags, ...argv);
        expect({ argv, stderr }).toEqual({ argv, stderr: expect.not.stringContaining("read only") });
        // The schema of the settings describes deadlines.
        if (folder.endsWith("copies") && argv[0] !== "config") expect(stdout.toString()).not.toContain("timed out");
      });
      await Promise.all(looked);
      expect(everythingIn(folder)).toEqual(before);
    }
    const before = everythingIn(dirname(storeOf(scene)));
    for (const argv of [
      ["answer", "2", "yes"],
      ["restore", copy],
      ["service", "start"],
      ["backup", `${copy}.2`],
    ]) {
      const refused = await scene.typeWith(env, "--read-only", ...argv);
      expect({ argv, exit: refused.exit, said: refused.stderr }).toMatchObject({
        exit: 1,
        said: expect.stringContaining("The store was opened to be read only; nothing was changed."),
      });
    }
    expect(everythingIn(dirname(storeOf(scene)))).toEqual(before);
    expect(await titlesIn(scene)).toBe("One? Two?\n"); // what was in the log alone is there
  });
});

describe("a row that cannot be read", () => {
  test("is named by status, with an exit code and in JSON, and other commands warn of it and go on", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?");
    await scene.typeWith(env, "ask", "Two?");
    const database = openDatabase(storeOf(scene));
    database.exec("update question set body = '{' where id = (select min(id) from question)");
    database.close();
    const status = await scene.typeWith(env, "status");
    expect({ exit: status.exit, said: status.stdout.toString(), stderr: status.stderr }).toMatchObject({
      exit: 1,
      said: expect.stringMatching(/1 row cannot be read and left out: question \S+[^]*askd doctor --fix/),
      stderr: "",
    });
    expect(status.stdout.toString()).toContain("Two?");
    const json = await scene.typeWith(env, "status", "--json=unreadable");
    expect(json.exit).toBe(1);
    expect(JSON.parse(json.stdout.toString())).toEqual({ unreadable: [expect.stringMatching(/^question \S+$/)] });
    const list = await scene.typeWith(env, "list", "--jq", '[.[].title] | join(" ")');
    expect({ exit: list.exit, titles: list.stdout.toString(), said: list.stderr }).toEqual({
      exit: 0,
      titles: "Two?\n",
      said: expect.stringMatching(/^warning: question \S+ cannot be read and was left out\. .*askd doctor --fix\n$/),
    });
  });
});
