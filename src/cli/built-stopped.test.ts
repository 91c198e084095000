import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";
import { instant } from "../core/instant.ts";
import { openDatabase } from "../sqlite.ts";

/** Asks once, and ends when it is started again with the answer; writes down every start and what it was told. */
const AGENT = `#!/bin/sh
echo start >>starts
if [ -n "$ASKD_ANSWER_FILE" ]; then cat "$ASKD_ANSWER_FILE" >>told; exit 0; fi
echo '<<ASK_HUMAN>> {"question":"Redis or Memcached?","options":["Redis","Memcached"]} <</ASK_HUMAN>>'
`;

/** When a worker was last heard of. */
function lastBeat(scene: BuiltScene, pid: number): string {
  const database = openDatabase(join(scene.home, "data/askd.db"), { readOnly: true });
  try {
    const sql = "select body ->> '$.beatAt' as at from entry where kind = 'worker' and body ->> '$.process.pid' = ?";
    return database.prepare<{ at: string }>(sql).get(pid)?.at ?? "";
  } finally {
    database.close();
  }
}

function count(scene: BuiltScene, file: string, text: RegExp): number {
  return readFileSync(join(scene.project, file), "utf8").match(text)?.length ?? 0;
}

async function aParkedRun(): Promise<{ scene: BuiltScene; worker: number }> {
  const scene = new BuiltScene();
  await scene.type("run", "--", scene.program("agent", AGENT));
  await scene.state("1", "waiting_input");
  const [worker] = scene.workers();
  if (worker === undefined) throw new Error("no worker was started");
  return { scene, worker };
}

describe("a worker that was stopped", () => {
  test("is not waited for: an answer starts another one, and nothing happens twice when it goes on", async () => {
    const { scene, worker } = await aParkedRun();
    process.kill(worker, "SIGSTOP");
    const answered = await scene.type("answer", "1", "Dragonfly");
    expect(answered).toMatchObject({ exit: 0 });
    await scene.state("1", "completed");
    expect(scene.workers()).toHaveLength(2);
    process.kill(worker, "SIGCONT");
    const continuedAt = instant(Date.now());
    await until("it beats again", () => lastBeat(scene, worker) > continuedAt);
    const typed = await scene.type("worker", "--idle", "0s");
    expect(typed.stderr).toContain("A worker of this store is already running");
    expect(count(scene, "starts", /start/g)).toBe(2);
    expect(count(scene, "told", /Dragonfly/g)).toBe(1);
    expect(await scene.type("audit", "--verify")).toMatchObject({ exit: 0 });
  });

  test("does not keep `askd worker` from working, nor run from starting one", async () => {
    const { scene, worker } = await aParkedRun();
    process.kill(worker, "SIGSTOP");
    const run = await scene.type("run", "--", "/bin/sh", "-c", "echo fine");
    expect(run.stderr).toContain("started the askd worker in the background");
    await scene.state("2", "completed");
    process.kill(worker, "SIGKILL");
    const others = scene.workers().filter((pid) => pid !== worker);
    expect(others).toHaveLength(1);
    // The lock passes to the one that is left, so that no third one comes.
    await until("the other worker has the lock", async () => {
      const { stderr } = await scene.type("worker", "--idle", "0s");
      return stderr.includes("already running");
    });
  });

  test("is ended by `service stop`", async () => {
    const { scene, worker } = await aParkedRun();
    process.kill(worker, "SIGSTOP");
    const stopped = await scene.type("service", "stop");
    expect(stopped.stderr).toContain(`✓ Stopped the worker (process ${worker})`);
    expect(scene.workers()).toEqual([]);
  });
});

describe("a worker that was killed", () => {
  /** A command that looks notices it when nothing has happened for ten seconds. */
  const noticed = (scene: BuiltScene, ...argv: string[]) =>
    until("the loss is noticed", async () => (await scene.type(...argv)).stderr.includes("The worker of #1 was gone"));

  test("is replaced by a command that looks: an answered run goes on", async () => {
    const { scene, worker } = await aParkedRun();
    process.kill(worker, "SIGKILL");
    await scene.typeWith({ ASKD_NO_SERVICE: "1" }, "answer", "1", "Dragonfly");
    await noticed(scene, "status");
    await scene.state("1", "completed");
    expect(count(scene, "told", /Dragonfly/g)).toBe(1);
  });

  test("is replaced by a command that looks: a run whose agent has ended since is completed", async () => {
    const scene = new BuiltScene();
    await scene.type("run", "--", "/bin/sh", "-c", "touch begun; sleep 2");
    await until("the agent runs", () => existsSync(join(scene.project, "begun")));
    for (const worker of scene.workers()) process.kill(worker, "SIGKILL");
    await noticed(scene, "show", "1");
    await scene.state("1", "completed");
    expect(scene.workers()).toHaveLength(1);
  });
});
