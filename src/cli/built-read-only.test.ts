import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, closeSync, copyFileSync, openSync, readdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { openDatabase } from "../sqlite.ts";

const isRoot = process.getuid?.() === 0;
const env = { ASKD_NO_SERVICE: "1" };
const NOBODY = 65_534;

const storeOf = (scene: BuiltScene) => join(scene.home, "data/askd.db");

/** Makes the whole home read-only, as a disk that was mounted so. */
function mountReadOnly({ home }: BuiltScene): void {
  execFileSync("mount", ["--bind", home, home]);
  // First: what the scene does at the end needs a home that can be written.
  onTestFinished(() => void execFileSync("umount", ["-l", home]));
  execFileSync("mount", ["-o", "remount,ro,bind", home]);
}

/** Types a command as another user of this machine. */
function typeAsNobody({ home, project }: BuiltScene, ...argv: string[]): { exit: number; said: string } {
  const wrapped = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", process.execPath, BIN];
  const own = { PATH: process.env["PATH"], HOME: home, ASKD_HOME: home, ...env };
  try {
    const options = { cwd: project, env: own, encoding: "utf8" as const, stdio: "pipe" as const };
    return { exit: 0, said: execFileSync("setpriv", [...wrapped, ...argv], options) };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { exit: status, said: `${stdout}${stderr}` };
  }
}

test("doctor finds no fault in a store that is only looked at, with a log beside it or without", async () => {
  const scene = new BuiltScene();
  await scene.typeWith(env, "ask", "One?");
  const look = async (...argv: string[]) => (await scene.typeWith(env, "doctor", ...argv)).stdout.toString("utf8");
  const backup = join(scene.home, "copy.db");
  await scene.typeWith(env, "backup", backup);
  for (const said of [await look("--read-only"), await look("--store", `sqlite:${backup}`)]) {
    expect(said).toContain("WAL, sync full");
    expect(said).not.toContain("journal mode");
  }
}, 60_000);

describe.runIf(isRoot)("a store on a read-only disk", () => {
  test("can be looked at, refuses changes with the reason, and doctor says why", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?", "--timeout", "1s");
    await scene.typeWith(env, "ask", "Two?");
    mountReadOnly(scene);
    for (const argv of [["status"], ["list"], ["show", "2"], ["runs", "list"], ["audit"], ["audit", "--verify"]]) {
      const { exit, stdout, stderr } = await scene.typeWith(env, ...argv);
      expect({ argv, exit, stdout: stdout.toString("utf8") !== "", stderr }).toEqual({
        argv,
        exit: 0,
        stdout: true,
        stderr: `warning: ${storeOf(scene)} is on a read-only disk: it can be read, but nothing can be asked or answered\n`,
      });
    }
    const answered = await scene.typeWith(env, "answer", "2", "yes");
    expect(answered.exit).toBe(1);
    expect(answered.stderr).toContain(`error: ${storeOf(scene)} cannot be written: the disk is read-only`);
    const doctor = await scene.typeWith(env, "doctor");
    expect(doctor.exit).toBe(1);
    const said = doctor.stdout.toString("utf8").replaceAll(/\s+/g, " ");
    expect(said).toContain("cannot be written (EROFS): no question and no answer can be kept");
    expect(said).not.toContain("cannot be opened");
  });

  test("with changes in its log is not read without them", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "One?");
    const database = openDatabase(storeOf(scene));
    onTestFinished(() => database.close());
    database.exec("pragma wal_autocheckpoint = 0; create table later (name text)");
    expect(readdirSync(dirname(storeOf(scene)))).toContain("askd.db-wal");
    execFileSync("rm", [`${storeOf(scene)}-shm`]);
    mountReadOnly(scene);
    const { exit, stderr } = await scene.typeWith(env, "status");
    expect(exit).toBe(1);
    expect(stderr).toContain("has changes in its log that cannot be read on a read-only disk");
    expect(stderr).toContain("copy askd.db and askd.db-wal");
  });
});

describe.runIf(isRoot)("a store of another user", () => {
  test("is refused with whose it is, also by doctor", () => {
    const scene = new BuiltScene();
    chmodSync(scene.home, 0o755);
    execFileSync(process.execPath, [BIN, "ask", "One?"], {
      cwd: scene.project,
      env: { PATH: process.env["PATH"], HOME: scene.home, ASKD_HOME: scene.home, ...env },
      stdio: "pipe",
    });
    for (const mode of [0o700, 0o755]) {
      chmodSync(join(scene.home, "data"), mode);
      const { exit, said } = typeAsNobody(scene, "status");
      expect(exit).toBe(1);
      expect(said).toContain(`error: ${join(scene.home, "data")} belongs to root, and you are nobody`);
      expect(said).toContain("ASKD_URL");
      const doctor = typeAsNobody(scene, "doctor");
      expect(doctor.exit).toBe(1);
      expect(doctor.said.replaceAll(/\s+/g, " ")).toContain("belongs to root, and you are nobody");
      expect(doctor.said).not.toContain("made when the first question is asked");
    }
  });

  test("does not keep the program from starting where a folder of PATH cannot be read", () => {
    const scene = new BuiltScene();
    chmodSync(scene.home, 0o755);
    const closed = join(scene.home, "closed");
    execFileSync("mkdir", ["-p", join(closed, "bin")]);
    chmodSync(closed, 0o700);
    chownSync(scene.project, NOBODY, NOBODY);
    const wrapped = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", process.execPath, BIN];
    const said = execFileSync("setpriv", [...wrapped, "status"], {
      cwd: scene.project,
      env: { PATH: `${join(closed, "bin")}:${process.env["PATH"]}`, ASKD_HOME: scene.project, HOME: scene.project },
      encoding: "utf8",
    });
    expect(said).toContain("No runs yet.");
  });
});

test("doctor and status name the newest backup of a damaged store, and the command that restores it", async () => {
  const scene = new BuiltScene();
  for (const text of ["One?", "Two?"]) await scene.typeWith(env, "ask", text);
  await scene.typeWith(env, "backup");
  const file = storeOf(scene);
  const looked = join(scene.home, "looked.db"); // a process that has opened the store counts as its user
  copyFileSync(file, looked);
  const database = openDatabase(looked, { readOnly: true });
  const sql = "select rootpage from sqlite_schema where name = 'run_parent'";
  const page = database.prepare<{ rootpage: number }>(sql).get()?.rootpage ?? 0;
  database.close();
  const opened = openSync(file, "r+");
  writeSync(opened, Buffer.alloc(4096, 0xee), 0, 4096, (page - 1) * 4096);
  closeSync(opened);
  const backup = readdirSync(join(dirname(file), "backups"))[0] ?? "";
  const copy = join(dirname(file), "backups", backup);
  for (const argv of [["doctor"], ["status"]]) {
    const { exit, stdout } = await scene.typeWith(env, ...argv);
    expect(exit).toBe(1);
    const said = stdout.toString("utf8").replaceAll(/\s+/g, " ");
    expect(said).toContain("damaged");
    expect(said).toContain(`The newest backup is ${copy} (`);
    expect(said).toMatch(new RegExp(`askd restore ${copy}( |$)`));
  }
  const restored = await scene.typeWith(env, "restore", copy);
  expect({ exit: restored.exit, said: restored.stderr + restored.stdout }).toMatchObject({ exit: 0 });
  const after = await scene.typeWith(env, "audit", "--verify");
  expect(after.stdout.toString("utf8")).toContain("nothing is missing and nothing was changed");
});
