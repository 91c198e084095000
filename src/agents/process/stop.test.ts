import { spawn } from "node:child_process";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundle, start } from "../../../test/child.ts";
import { aRunScene, until, type RunScene } from "../../../test/run-dir.ts";
import { findAgentProcess, waitForProcessEnd } from "./process.ts";
import { findIdentity } from "./process-identity.ts";
import { listRunProcesses } from "./process-list.ts";
import { stopRun, type StopResult } from "./stop.ts";

const LOOP = "while :; do sleep 0.05; done";
const DEAF = `trap '' TERM INT HUP; echo deaf; ${LOOP}`;

let program = "";

beforeAll(async () => {
  program = await bundle("src/agents/process/stop.child.ts");
});

function stop(scene: RunScene, over: { lastEpoch?: number; graceMs?: number } = {}): Promise<StopResult> {
  return stopRun({ runId: scene.runId, runDir: scene.runDir, lastEpoch: 1, ...over });
}

/** Starts an agent and waits until its output says that it is where the test wants it. */
async function running(scene: RunScene, text: string, { epoch = 1, says = "began" } = {}): Promise<void> {
  expect(await scene.start(text, { epoch })).toMatchObject({ won: true });
  await until(`the output says ${says}`, () => scene.read(`${epoch}.out`).includes(says));
}

describe("a stop", () => {
  test("of nothing is done at once", async () => {
    const scene = await aRunScene();
    expect(await stop(scene)).toEqual({ found: false, left: [] });
    await scene.start("true");
    await waitForProcessEnd(scene.runDir, 1);
    await until("the wrapper is gone", async () => (await listRunProcesses(scene.runId)).length === 0);
    expect(await stop(scene)).toEqual({ found: false, left: [] });
  });

  test("lets an agent end by itself and keeps its exit code", async () => {
    const scene = await aRunScene();
    await running(scene, `trap 'echo bye; exit 5' TERM; echo began; ${LOOP}`);
    expect(await stop(scene)).toEqual({ found: true, left: [] });
    expect(scene.read("1.out")).toBe("began\nbye\n");
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 5 });
  });

  test("kills an agent that does not listen when its time is over", async () => {
    const scene = await aRunScene();
    await running(scene, DEAF, { says: "deaf" });
    const began = performance.now();
    expect(await stop(scene, { graceMs: 300 })).toEqual({ found: true, left: [] });
    expect(performance.now() - began).toBeGreaterThan(299);
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "dead", exitCode: undefined });
    expect(await listRunProcesses(scene.runId)).toEqual([]);
  });

  test("leaves nothing of a tool shell that has a session of its own and does not listen", async () => {
    const scene = await aRunScene();
    await running(scene, `setsid sh -c "${DEAF}" & setsid -f sh -c "${DEAF}"; echo began; ${LOOP}`);
    await until("both shells run", () => scene.read("1.out").split("deaf").length === 3);
    expect((await listRunProcesses(scene.runId)).length).toBeGreaterThanOrEqual(4);
    expect(await stop(scene)).toEqual({ found: true, left: [] });
    expect(await listRunProcesses(scene.runId)).toEqual([]);
  });

  test("finds what an agent left behind that has ended", async () => {
    const scene = await aRunScene();
    await running(scene, `setsid -f sh -c "${DEAF}"; exit 0`, { says: "deaf" });
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: 0 });
    expect(await stop(scene)).toEqual({ found: true, left: [] });
    expect(await listRunProcesses(scene.runId)).toEqual([]);
  });

  test("finds an agent whose wrapper alone was killed", async () => {
    const scene = await aRunScene();
    const started = await scene.start(`echo began; ${LOOP}`);
    if (!started.won) throw new Error("nobody else is here");
    await until("the agent is there", () => scene.read("1.out").includes("began"));
    process.kill(started.identity.pid, "SIGKILL");
    expect(await waitForProcessEnd(scene.runDir, 1)).toEqual({ state: "dead", exitCode: undefined });
    expect(await listRunProcesses(scene.runId)).not.toEqual([]);
    expect(await stop(scene)).toEqual({ found: true, left: [] });
    expect(await listRunProcesses(scene.runId)).toEqual([]);
  });

  test("kills what starts itself again and again", async () => {
    const scene = await aRunScene();
    const hydra = `trap '' TERM; echo $$; sleep 0.02; exec setsid -f sh "$0"`;
    const text = `printf '%s' "$1" >hydra; setsid -f sh ./hydra; echo began; ${LOOP}`;
    expect(await scene.start(text, { args: [hydra] })).toMatchObject({ won: true });
    await until("it has many lives", () => scene.read("1.out").split("\n").length > 5);
    expect(await stop(scene, { graceMs: 200 })).toEqual({ found: true, left: [] });
    const size = scene.read("1.out").length;
    expect(await listRunProcesses(scene.runId)).toEqual([]);
    expect(scene.read("1.out").length).toBe(size);
  });

  test("wakes nobody up: an agent that was stopped by a signal is killed too", async () => {
    const scene = await aRunScene();
    const started = await scene.start(`echo began; ${LOOP}`);
    if (!started.won) throw new Error("nobody else is here");
    process.kill(-started.identity.pid, "SIGSTOP");
    expect(await stop(scene, { graceMs: 200 })).toEqual({ found: true, left: [] });
    expect(await listRunProcesses(scene.runId)).toEqual([]);
  });
});

describe("a stop spares", () => {
  test("the processes of a run with a similar id, and a person's shell that names the run", async () => {
    const scene = await aRunScene();
    const [last = ""] = scene.runId.slice(-1);
    const others = [
      `${scene.runId}0`,
      scene.runId.slice(0, -1),
      `${scene.runId.slice(0, -1)}${last === "0" ? "1" : "0"}`,
    ];
    const envs: Array<Record<string, string>> = others.map((id) => ({ ASKD_RUN: id, ASKD_EPOCH: "1" }));
    envs.push({ NOT_ASKD_RUN: scene.runId, ASKD_EPOCH: "1" }, { X: `ASKD_RUN=${scene.runId}`, ASKD_EPOCH: "1" });
    envs.push({ ASKD_RUN: scene.runId });
    const spared = envs.map((env) => spawn("/bin/sleep", ["600"], { env, stdio: "ignore" }));
    onTestFinished(() => spared.forEach((each) => each.kill("SIGKILL")));
    await running(scene, `echo began; ${LOOP}`);
    expect(await stop(scene)).toEqual({ found: true, left: [] });
    const alive = await Promise.all(spared.map((each) => findIdentity(each.pid!)));
    expect(alive.filter((each) => each === undefined)).toEqual([]);
  });

  test("a later epoch of the same run", async () => {
    const scene = await aRunScene();
    await running(scene, `setsid -f sh -c "${DEAF}"; echo began; ${LOOP}`, { epoch: 1 });
    await running(scene, `echo began; ${LOOP}`, { epoch: 2 });
    expect(await stop(scene, { lastEpoch: 1 })).toEqual({ found: true, left: [] });
    expect(await findAgentProcess(scene.runDir, 2)).toMatchObject({ state: "alive" });
    expect(new Set((await listRunProcesses(scene.runId)).map(({ epoch }) => epoch))).toEqual(new Set([2]));
  });

  test("the process that stops, and none of those above it: an agent that starts its own worker ends with its run", async () => {
    const scene = await aRunScene();
    // The process that stops writes its result after everything above it is gone.
    const text = `setsid -f sh -c "${DEAF}"; trap '' TERM; ( "$1" "$2" "$3"; ${LOOP} ) & ${LOOP}`;
    const input = JSON.stringify({ runId: scene.runId, runDir: scene.runDir, lastEpoch: 1, graceMs: 200 });
    await scene.start(text, { args: [process.execPath, program, input] });
    await until("its result is there", () => scene.read("1.out").includes("}"));
    expect(scene.read("1.out")).toContain('{"found":true,"left":[],"isInside":true}\n');
    expect(await findAgentProcess(scene.runDir, 1)).toEqual({ state: "dead", exitCode: undefined });
    await until("it has ended too", async () => (await listRunProcesses(scene.runId)).length === 0);
  });
});

test("the processes of all runs are listed with their run and epoch", async () => {
  const [one, other] = [await aRunScene(), await aRunScene()];
  await running(one, `echo began; ${LOOP}`);
  await running(other, `echo began; ${LOOP}`, { epoch: 7 });
  const all = await listRunProcesses();
  expect(all).toEqual(expect.arrayContaining([expect.objectContaining({ runId: one.runId, epoch: 1, name: "sh" })]));
  expect(all).toEqual(expect.arrayContaining([expect.objectContaining({ runId: other.runId, epoch: 7 })]));
});

test("many stops of one run at once all end with nothing left", async () => {
  const scene = await aRunScene();
  await running(scene, `setsid -f sh -c "${DEAF}"; echo began; ${LOOP}`);
  const child = start(program, [
    JSON.stringify({ runId: scene.runId, runDir: scene.runDir, lastEpoch: 1, graceMs: 500 }),
  ]);
  const all = await Promise.all([stop(scene, { graceMs: 500 }), stop(scene, { graceMs: 500 }), child.line()]);
  expect([all[0].left, all[1].left, JSON.parse(all[2]).left]).toEqual([[], [], []]);
  expect(await listRunProcesses(scene.runId)).toEqual([]);
});
