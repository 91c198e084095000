import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";
import { instant } from "../core/instant.ts";

const env = { ASKD_NO_SERVICE: "1" };

/** Has the seal of the hour fall due now. */
async function makeSealDue(scene: BuiltScene): Promise<void> {
  const store = await openSqliteStore(join(scene.home, "data/askd.db"));
  await store.commit({ scheduled: [{ key: "seal", kind: "seal", dueAt: instant(Date.now() - 1000), tries: 0 }] });
  await store.close();
}

test("the file that the settings name gets the seals, and a failure is shown until it is put right", async () => {
  const scene = new BuiltScene();
  const folder = join(scene.home, "elsewhere");
  const file = join(folder, "seals.ndjson");
  expect((await scene.typeWith(env, "config", "set", "audit.anchor_file", file)).exit).toBe(0);
  expect((await scene.typeWith(env, "ask", "Which port?")).exit).toBe(0);
  await makeSealDue(scene);
  expect((await scene.typeWith(env, "list")).exit).toBe(0);
  const status = await scene.typeWith(env, "status", "--json=failing");
  expect(JSON.parse(status.stdout.toString("utf8")).failing).toMatchObject([
    { kind: "seal", why: `seal 1 was not written to ${file}: ENOENT` },
  ]);
  const doctor = await scene.typeWith(env, "doctor");
  expect(doctor.stdout.toString("utf8").replaceAll(/\s+/g, " ")).toContain("the seal failed");
  mkdirSync(folder);
  await makeSealDue(scene);
  expect((await scene.typeWith(env, "list")).exit).toBe(0);
  expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(1);
  const after = await scene.typeWith(env, "status", "--json=failing");
  expect(JSON.parse(after.stdout.toString("utf8")).failing).toEqual([]);
  expect((await scene.typeWith(env, "audit", "--verify", "--against", file)).exit).toBe(0);
  rmSync(join(scene.home, "data"), { recursive: true });
  await scene.typeWith(env, "ask", "Which port?");
  expect((await scene.typeWith(env, "audit", "--verify")).exit).toBe(0);
  expect((await scene.typeWith(env, "audit", "--verify", "--against", file)).exit).toBe(1);
});

test("a project cannot have seals written anywhere", async () => {
  const scene = new BuiltScene();
  writeFileSync(join(scene.project, "askd.toml"), `[audit]\nanchor_file = "${scene.home}/evil"\n`);
  const { exit, stderr } = await scene.typeWith(env, "ask", "Which port?");
  expect(exit).toBe(2);
  expect(stderr).toContain("A project may not set audit.anchor_file");
});
