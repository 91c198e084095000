import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { openDatabase } from "../sqlite.ts";

const PAGE = 4096;
const env = { ASKD_NO_SERVICE: "1" };

function storeOf(scene: BuiltScene): string {
  const file = join(scene.home, "data/askd.db");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

/** Where a table or an index begins. */
function pageOf(name: string, file: string): number {
  const database = openDatabase(file, { readOnly: true });
  try {
    const sql = "select rootpage from sqlite_schema where name = ?";
    return database.prepare<{ rootpage: number }>(sql).get(name)?.rootpage ?? 0;
  } finally {
    database.close();
  }
}

/** The output and exit codes of status, verify and doctor. */
async function lookAt(scene: BuiltScene) {
  const typed = [];
  for (const argv of [["status"], ["audit", "--verify"], ["doctor"]]) {
    const { exit, stdout, stderr } = await scene.typeWith(env, ...argv);
    typed.push({ exit, said: `${stdout.toString("utf8")}${stderr}` });
  }
  return typed;
}

describe("a damaged store", () => {
  test("is found by status, verify and doctor, with the way back", async () => {
    const scene = new BuiltScene();
    for (const text of ["One?", "Two?", "Three?"]) await scene.typeWith(env, "ask", text);
    const file = storeOf(scene);
    const page = pageOf("run_parent", file); // an index that none of these commands reads for itself
    const opened = openSync(file, "r+");
    writeSync(opened, Buffer.alloc(PAGE, 0xee), 0, PAGE, (page - 1) * PAGE);
    closeSync(opened);
    for (const { exit, said } of await lookAt(scene)) {
      expect(exit).toBe(1);
      expect(said).toContain("damaged");
      expect(said).toContain("docs/backup.md");
    }
    const json = await scene.typeWith(env, "status", "--json=damage");
    expect(JSON.parse(json.stdout.toString("utf8")).damage.length).toBeGreaterThan(0);
  });

  test("is named with its newest backup by every command that meets the damage", async () => {
    const scene = new BuiltScene();
    for (const text of ["One?", "Two?", "Three?"]) await scene.typeWith(env, "ask", text);
    const file = storeOf(scene);
    expect((await scene.typeWith(env, "backup")).exit).toBe(0);
    const whole = readFileSync(file);
    const commands = [
      ["status"],
      ["audit", "--verify"],
      ["audit"],
      ["show", "3"],
      ["answer", "2", "yes"],
      ["ask", "Four?"],
      ["export", "-o", join(scene.home, "all.jsonl")],
      ["backup", join(scene.home, "more.db")],
    ];
    const page = pageOf("event", file);
    for (const argv of commands) {
      writeFileSync(file, whole);
      const opened = openSync(file, "r+");
      writeSync(opened, Buffer.alloc(200, 0xee), 0, 200, (page - 1) * PAGE);
      closeSync(opened);
      const { exit, stdout, stderr } = await scene.typeWith(env, ...argv);
      const said = `${stdout.toString("utf8")}${stderr}`;
      const names = { damage: /damaged/.test(said), backup: /newest backup is \S+ \(.* old\)/.test(said) };
      expect({ argv, exit, ...names, restores: said.includes("askd restore ") }).toEqual({
        argv,
        exit: 1,
        damage: true,
        backup: true,
        restores: true,
      });
    }
  }, 60_000);

  test("that was cut off is refused by every command, and not filled up", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?");
    const file = storeOf(scene);
    const size = statSync(file).size - 2 * PAGE;
    truncateSync(file, size);
    for (const { exit, said } of await lookAt(scene)) {
      expect(exit).toBe(1);
      expect(said).toMatch(/askd\.db\s+is damaged/);
    }
    expect((await scene.typeWith(env, "ask", "Two?")).exit).toBe(1);
    expect(statSync(file).size).toBe(size);
  });
});

describe("a file in the place of the store", () => {
  test("that is empty is refused by every command, and stays empty", async () => {
    const scene = new BuiltScene();
    const file = storeOf(scene);
    writeFileSync(file, "", { mode: 0o600 });
    for (const { exit, said } of await lookAt(scene)) {
      expect(exit).toBe(1);
      expect(said).toContain("is empty; an askd store never is");
    }
    expect((await scene.typeWith(env, "ask", "One?")).exit).toBe(1);
    expect(statSync(file).size).toBe(0);
  });

  test("that is another program's is refused by every command, and left as it is", async () => {
    const scene = new BuiltScene();
    const file = storeOf(scene);
    const database = openDatabase(file);
    database.exec("create table song (name text)");
    database.close();
    const before = readFileSync(file);
    for (const { exit, said } of await lookAt(scene)) {
      expect(exit).toBe(1);
      expect(said).toMatch(/askd\.db\s+is not an askd\s+store/);
    }
    expect((await scene.typeWith(env, "ask", "One?")).exit).toBe(1);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});
