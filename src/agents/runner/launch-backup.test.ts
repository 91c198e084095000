import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AGENT } from "../../../test/builders.ts";
import { aRunScene } from "../../../test/run-dir.ts";
import { Scene } from "../../../test/scene.ts";
import { waitForProcessEnd } from "../process/process.ts";
import { backUpLaunches, launchesBeside, requireLaterStartsEnded, restoreLaunches } from "./launch-backup.ts";
import { findKeptLaunch, makeRunDir, saveLaunch } from "./run-files.ts";

const SECRET = { PATH: "/bin", DEPLOY_SECRET: "hunter2" };

function aFolder(): string {
  const root = mkdtempSync(join(tmpdir(), "askd-launches-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return root;
}

async function aLaunch(dir: string) {
  const files = await aRunScene();
  const launch = { agent: "command", program: "/bin/sh", args: ["-c", "exit 0"], dir, env: SECRET, options: {} };
  await saveLaunch(files.runDir, launch);
  return { files, launch, stateDir: join(files.dir, "state") };
}

test("launch records beside a backup are private, and put back where they are missing only", async () => {
  const folder = aFolder();
  const { files, launch, stateDir } = await aLaunch(folder);
  const backup = join(folder, "askd.dump");
  expect(await backUpLaunches(stateDir, backup)).toBe(1);
  expect(statSync(launchesBeside(backup)).mode & 0o777).toBe(0o600);

  const emptied = join(folder, "state");
  expect(await restoreLaunches(backup, emptied)).toBe(1);
  const runDir = await makeRunDir(emptied, files.runId);
  expect(await findKeptLaunch(runDir)).toEqual(launch);
  expect(statSync(join(runDir, "env.json")).mode & 0o777).toBe(0o600);
  expect(await restoreLaunches(backup, emptied)).toBe(0);
  expect(await restoreLaunches(join(folder, "older.db"), emptied)).toBe(0); // without records
});

test("a broken record is left out of a backup, and broken records beside one are refused", async () => {
  const folder = aFolder();
  const { files, stateDir } = await aLaunch(folder);
  const backup = join(folder, "askd.db");
  writeFileSync(join(files.runDir, "env.json"), "half");
  expect(await backUpLaunches(stateDir, backup)).toBe(0);
  expect(existsSync(launchesBeside(backup))).toBe(false);
  writeFileSync(launchesBeside(backup), '{"run_id": "r_1');
  await expect(restoreLaunches(backup, join(folder, "state"))).rejects.toMatchObject({
    code: "bad_input",
    message: `${launchesBeside(backup)} is damaged; nothing was changed`,
  });
});

test("a restore is refused while an agent lives that was started after the backup; its files stay", async () => {
  const { files, stateDir } = await aLaunch(aFolder());
  const scene = new Scene();
  await scene.engine.createRun({ id: files.runId, agent: "command", host: "here", giveBack: "worker" }, AGENT);
  const go = join(files.dir, "go");
  const started = await files.start(`while [ ! -e ${go} ]; do sleep 0.05; done`, { epoch: 2 });
  const pid = started.won ? started.identity.pid : 0;
  await expect(requireLaterStartsEnded(stateDir, scene.store)).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringContaining(`is still running (process ${pid}); nothing was changed`),
    hint: expect.stringContaining(`kill -- -${pid}`),
  });
  writeFileSync(go, "");
  await waitForProcessEnd(files.runDir, 2);
  const before = files.read("2.pid");
  await requireLaterStartsEnded(stateDir, scene.store);
  expect(readFileSync(join(files.runDir, "2.pid"), "utf8")).toBe(before);
});
