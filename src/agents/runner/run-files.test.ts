import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IDS } from "../../../test/builders.ts";
import {
  BrokenRunFile,
  findKeptLaunch,
  deleteLaunch,
  saveLaunch,
  listEpochs,
  makeRunDir,
  runDirOf,
  startDirOf,
  writeStartFiles,
  type Launch,
} from "./run-files.ts";

const LAUNCH: Launch = {
  agent: "claude",
  program: "/usr/bin/claude",
  args: ["--model", "x"],
  prompt: "Add a cache\nwith “quotes”",
  dir: "/repo",
  env: { HOME: "/home/ada", LANG: "de" },
  options: { maxTurns: 3 },
};

function aStateDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-files-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

const aRunDir = (): Promise<string> => makeRunDir(aStateDir(), IDS.run());

test("the directory of a run is its user's alone", async () => {
  const stateDir = aStateDir();
  const runId = IDS.run();
  const dir = await makeRunDir(stateDir, runId);
  expect(dir).toBe(runDirOf(stateDir, runId));
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(await makeRunDir(stateDir, runId)).toBe(dir);
  chmodSync(dir, 0o755);
  await expect(makeRunDir(stateDir, runId)).rejects.toThrow(BrokenRunFile);
});

test("a link in place of the directory is not followed", async () => {
  const stateDir = aStateDir();
  const runId = IDS.run();
  await makeRunDir(stateDir, IDS.run());
  symlinkSync(aStateDir(), runDirOf(stateDir, runId));
  await expect(makeRunDir(stateDir, runId)).rejects.toThrow(BrokenRunFile);
});

test("what starts a run is kept once, for this user only, without the caller's tokens", async () => {
  const dir = await aRunDir();
  const own = { ASKD_TOKEN: "a", ASKD_RUN: "r_x", ASKD_EPOCH: "3", ASKD_CALLBACK_SECRET: "whsec_x", ASKD_HOME: "/x" };
  expect(await saveLaunch(dir, { ...LAUNCH, env: { ...LAUNCH.env, ...own } })).toBe(true);
  expect(await saveLaunch(dir, { ...LAUNCH, prompt: "another" })).toBe(false);
  expect(await findKeptLaunch(dir)).toEqual({ ...LAUNCH, env: { ...LAUNCH.env, ASKD_HOME: "/x" } });
  expect(statSync(join(dir, "env.json")).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["env.json"]);
});

test.each(["", "{", "[]", '{"agent":"claude"}', JSON.stringify({ ...LAUNCH, program: "claude" })])(
  "a launch that reads %j is a failure that names the file",
  async (text) => {
    const dir = await aRunDir();
    writeFileSync(join(dir, "env.json"), text);
    await expect(findKeptLaunch(dir)).rejects.toThrow(BrokenRunFile);
    await expect(findKeptLaunch(dir)).rejects.toThrow(/env\.json is broken: /);
  },
);

test("epochs are listed in the order of their numbers", async () => {
  const dir = await aRunDir();
  for (const name of ["10.out", "9.out", "1.out", "2.pid", "x.out", "1.out.draft"]) writeFileSync(join(dir, name), "");
  expect(await listEpochs(dir, "out")).toEqual([1, 9, 10]);
});

test.each(["../x", "a/b", ".hidden", ""])("an agent cannot have a file named %j", async (name) => {
  const dir = await aRunDir();
  await expect(writeStartFiles(startDirOf(dir, 1), [{ name, text: "" }])).rejects.toThrow(/no name/);
  expect(readdirSync(dir)).toEqual([]);
});

test("a late worker replaces no files of another epoch", async () => {
  const dir = await aRunDir();
  await writeStartFiles(startDirOf(dir, 2), [{ name: "settings.json", text: "of the second start" }]);
  await writeStartFiles(startDirOf(dir, 1), [{ name: "settings.json", text: "of the first, which comes late" }]);
  expect(readFileSync(join(startDirOf(dir, 2), "settings.json"), "utf8")).toBe("of the second start");
  expect(readFileSync(join(startDirOf(dir, 1), "settings.json"), "utf8")).toBe("of the first, which comes late");
});

test("when a run ends its output stays and what may be secret goes", async () => {
  const dir = await aRunDir();
  await saveLaunch(dir, LAUNCH);
  await writeStartFiles(startDirOf(dir, 1), [{ name: "settings.json", text: "{}" }]);
  for (const name of ["1.pid", "1.out", "1.err", "1.exit"]) writeFileSync(join(dir, name), "");
  await deleteLaunch(dir);
  expect(readdirSync(dir).sort()).toEqual(["1.err", "1.exit", "1.out", "1.pid"]);
  expect(await findKeptLaunch(dir)).toBeUndefined();
});
