import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS } from "../../test/builders.ts";
import { Scene } from "../../test/scene.ts";
import type { RunId } from "../core/id.ts";
import { keepLaunch, makeRunDir, runDirOf } from "./run-files.ts";
import { sweepRuns } from "./sweep.ts";

test("what an ended run was started with is taken away when nobody did so, and only that", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "askd-sweep-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const scene = new Scene();
  const queue = async (id: RunId): Promise<RunId> => {
    const launch = { agent: "claude", program: "/bin/claude", args: [], dir: "/", env: { KEY: "x" }, options: {} };
    await keepLaunch(await makeRunDir(stateDir, id), launch);
    return id;
  };
  const ended = await scene.engine.createRun({ id: await queue(IDS.run()), giveBack: "worker" }, AGENT);
  const queued = await scene.engine.createRun({ id: await queue(IDS.run()), giveBack: "worker" }, AGENT);
  const unknown = await queue(IDS.run());
  await scene.engine.cancelRun(ended.id, ADA);
  await sweepRuns(stateDir, scene.store);
  const isKept = (id: RunId): boolean => existsSync(join(runDirOf(stateDir, id), "env.json"));
  expect([ended.id, queued.id, unknown].map(isKept)).toEqual([false, true, true]);
});
