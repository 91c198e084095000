import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import type { RunId } from "../../core/id.ts";
import { DAY_MS, MINUTE_MS } from "../../core/instant.ts";
import { Decider } from "../../engine/decide.ts";
import { saveLaunch, makeRunDir, runDirOf } from "./run-files.ts";
import { DailySweep, deleteOldLaunches } from "./daily-sweep.ts";

test("what a run was started with is deleted when nothing can take it up: cancelled, or ended long ago", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-sweep-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const scene = new Scene();
  const queue = async (id: RunId): Promise<RunId> => {
    const launch = { agent: "claude", program: "/bin/claude", args: [], dir: "/", env: { KEY: "x" }, options: {} };
    await saveLaunch(await makeRunDir(stateDir, id), launch);
    return id;
  };
  const ended = await scene.engine.createRun({ id: await queue(IDS.run()), giveBack: "worker" }, AGENT);
  const queued = await scene.engine.createRun({ id: await queue(IDS.run()), giveBack: "worker" }, AGENT);
  const unknown = await queue(IDS.run());
  const failed = await scene.engine.createRun({ id: await queue(IDS.run()), giveBack: "worker" }, AGENT);
  await scene.engine.startRun(failed.id, AGENT);
  const { question } = await scene.engine.ask(scene.input({ timeout: "1m" }), AGENT, { runId: failed.id });
  await scene.engine.cancelRun(ended.id, ADA);
  await scene.pass(MINUTE_MS);
  const { store, rules } = scene;
  const decider = new Decider({ store, rules, ids: IDS, now: () => scene.now });
  const isKept = (id: RunId): boolean => existsSync(join(runDirOf(stateDir, id), "env.json"));
  await deleteOldLaunches(stateDir, { store, decider });
  expect([ended.id, queued.id, unknown, failed.id].map(isKept)).toEqual([false, true, true, true]);
  await scene.pass(8 * DAY_MS);
  await deleteOldLaunches(stateDir, { store, decider });
  expect([queued.id, unknown, failed.id].map(isKept)).toEqual([true, true, false]);
  await expect(scene.engine.answer(question.id, said("1", { force: true }), ADA)).rejects.toMatchObject({
    code: "run_ended",
    message: expect.stringContaining("is deleted"),
  });
});

test("a worker that runs for long sweeps once a day", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-sweep-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const scene = new Scene();
  const { store, rules } = scene;
  const sweep = new DailySweep(stateDir, {
    store,
    decider: new Decider({ store, rules, ids: IDS, now: () => scene.now }),
  });
  await sweep.beat(scene.now);
  const { id } = await scene.engine.createRun({ id: IDS.run(), giveBack: "worker" }, AGENT);
  const launch = { agent: "claude", program: "/bin/claude", args: [], dir: "/", env: { KEY: "x" }, options: {} };
  await saveLaunch(await makeRunDir(stateDir, id), launch);
  await scene.engine.cancelRun(id, ADA);
  const isKept = () => existsSync(join(runDirOf(stateDir, id), "env.json"));
  await scene.pass(23 * 60 * MINUTE_MS);
  await sweep.beat(scene.now);
  expect(isKept()).toBe(true);
  await scene.pass(60 * MINUTE_MS);
  await sweep.beat(scene.now);
  expect(isKept()).toBe(false);
});
