import { describe, expect, test } from "vitest";
import { ADA, AGENT, IDS } from "../../test/builders.ts";
import { beat } from "../../test/machines.ts";
import { Scene, said } from "../../test/scene.ts";
import { claimRun } from "../core/run/run-ownership.ts";
import type { Run } from "../core/run/run.ts";
import { MINUTE_MS } from "../core/instant.ts";
import { Decider } from "./decide.ts";

const OLD = "build-7~3fa91c";
const NEW = "build-8~77aa01";

/** The jobs of runs, and the machines that do them. */
async function runJobs(scene: Scene): Promise<string[]> {
  const jobs = (await scene.store.listJobs(10)).filter(({ host }) => host !== undefined);
  return jobs.map(({ kind, host }) => `${kind} ${host}`).sort();
}

describe.each(["local", "remote"] as const)("a run that goes on elsewhere by a %s engine", (engines) => {
  const aScene = (): Scene => {
    Scene.engines = engines;
    const scene = new Scene();
    Scene.engines = "local";
    return scene;
  };

  /** A run of a machine that asked and was parked there. */
  async function parked(scene: Scene, session?: string): Promise<Run> {
    const { id } = await scene.startedRun({ host: OLD, ...(session !== undefined && { session }) });
    await scene.engine.ask(scene.input(), AGENT, { runId: id });
    await beat(scene.store, OLD);
    return scene.engine.endRun(id, { status: "completed" }, AGENT);
  }

  async function answered(scene: Scene): Promise<Run> {
    const { pendingId } = await parked(scene);
    if (!pendingId) throw new Error("it asks nothing");
    return (await scene.engine.answer(pendingId, said("1"), ADA)).run;
  }

  test("is refused while its machine is there, with when it was heard of", async () => {
    const scene = aScene();
    const run = await answered(scene);
    await scene.pass(MINUTE_MS);
    await expect(scene.engine.resumeRun(run.id, ADA, { host: NEW })).rejects.toMatchObject({
      code: "not_pending",
      message: "Run #1 belongs to build-7, which sent its last heartbeat 1m ago",
    });
    expect(await scene.engine.findRun(run.id)).toMatchObject({ host: OLD, epoch: run.epoch });
  });

  test("belongs to the new machine once the old one was silent for a minute, and its resume job with it", async () => {
    const scene = aScene();
    const run = await answered(scene);
    await scene.pass(MINUTE_MS + 1);
    const moved = await scene.engine.resumeRun(run.id, ADA, { host: NEW });
    expect(moved).toMatchObject({ host: NEW, status: "resuming", epoch: run.epoch + 1, owes: run.owes });
    expect(await runJobs(scene)).toEqual([`resume ${NEW}`]);
    const { event } = (await scene.engine.readChain(run.id)).at(-1) ?? {};
    expect(event).toMatchObject({ type: "run.resuming", by: ADA, detail: { moved_from: OLD, moved_to: NEW } });
    expect((await scene.engine.verify()).problems).toEqual([]);
    await expect(scene.engine.resumeRun(run.id, ADA, { host: NEW })).rejects.toMatchObject({ code: "bad_input" });
  });

  test("and still waits for a person goes on there when it is answered", async () => {
    const scene = aScene();
    const run = await parked(scene);
    await scene.pass(MINUTE_MS + 1);
    const moved = await scene.engine.resumeRun(run.id, ADA, { host: NEW });
    expect(moved).toMatchObject({ host: NEW, status: "awaiting_input", pendingId: run.pendingId });
    await scene.engine.answer(run.pendingId ?? IDS.question(), said("1"), ADA);
    expect(await runJobs(scene)).toEqual([`resume ${NEW}`]);
  });

  test("and whose agent was there when it asked waits for its answer without it", async () => {
    const scene = aScene();
    const { id } = await scene.engine.createRun({ agent: "claude", host: OLD, giveBack: "worker" }, AGENT);
    const decider = new Decider({ store: scene.store, ids: IDS, rules: scene.rules, now: () => scene.now });
    await decider.changeRun(id, ADA, (read, at) => claimRun(read, { worker: IDS.worker() }, at));
    const { question } = await scene.engine.ask(scene.input({ timeout: "2h" }), AGENT, { runId: id });
    await beat(scene.store, OLD);
    await scene.pass(MINUTE_MS + 1);
    const moved = await scene.engine.resumeRun(id, ADA, { host: NEW });
    expect(moved).toMatchObject({ host: NEW, status: "awaiting_input", pendingId: question.id, starts: 0 });
    const { event } = (await scene.engine.readChain(id)).at(-1) ?? {};
    expect(event).toMatchObject({ type: "run.parked", detail: { moved_from: OLD, moved_to: NEW } });
    expect(await runJobs(scene)).toContain(`stop ${OLD}`);
    const due = (await scene.store.listJobs(10)).map(({ key }) => key);
    expect(due).toContain(`clock:${question.id}`);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("is refused where another run there has its session", async () => {
    const scene = aScene();
    const run = await parked(scene, "s-1");
    await scene.startedRun({ host: NEW, session: "s-1" });
    await scene.pass(MINUTE_MS + 1);
    await expect(scene.engine.resumeRun(run.id, ADA, { host: NEW })).rejects.toMatchObject({
      code: "key_reused",
      message: "The session of #1 belongs to #2 on this machine",
    });
  });

  test("and was being worked on is started anew there, and ended on the old machine if that is ever back", async () => {
    const scene = aScene();
    const run = await answered(scene);
    const decider = new Decider({ store: scene.store, ids: IDS, rules: scene.rules, now: () => scene.now });
    const worker = IDS.worker();
    const taken = await decider.changeRun(run.id, ADA, (read, at) => claimRun(read, { worker }, at));
    await scene.pass(MINUTE_MS + 1);
    const moved = await scene.engine.resumeRun(run.id, ADA, { host: NEW });
    expect(moved).toMatchObject({ host: NEW, status: "resuming", epoch: taken.epoch + 1 });
    expect(moved.worker).toBeUndefined();
    expect(await runJobs(scene)).toEqual([`resume ${NEW}`, `stop ${OLD}`]);
  });
});

test("who was faster than the move keeps the run", async () => {
  const scene = new Scene();
  const { id } = await scene.engine.createRun({ agent: "claude", host: OLD, giveBack: "worker" }, AGENT);
  const decider = new Decider({ store: scene.store, ids: IDS, rules: scene.rules, now: () => scene.now });
  const [taken, moved] = await Promise.allSettled([
    decider.changeRun(id, ADA, (read, at) => claimRun(read, { worker: IDS.worker() }, at)),
    scene.engine.resumeRun(id, ADA, { host: NEW }),
  ]);
  expect(taken.status).toBe("fulfilled");
  expect(moved).toMatchObject({ status: "rejected", reason: { code: "moved" } });
  expect(await scene.engine.findRun(id)).toMatchObject({ host: OLD, status: "running" });
});
