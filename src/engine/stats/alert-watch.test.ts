import { describe, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { Scene, pendingOf, said } from "../../../test/scene.ts";
import { engineOn } from "../../app.ts";
import { epochMs } from "../../core/instant.ts";
import { AlertWatch } from "./alert-watch.ts";

const HOUR = 3_600_000;
const RULES = { alerts: { pendingQuestions: 2, timeoutRate: 0.3, windowMs: 24 * HOUR, to: [] } };

function watch(scene: Scene, told: string[] = []): AlertWatch {
  return new AlertWatch({
    store: scene.store,
    rules: scene.rules,
    ids: { deliveryToken: () => `token-${Math.random()}` },
    onAlert: (name, value) => void told.push(`${name} ${value}`),
    onFailure: (error) => {
      throw error;
    },
  });
}

async function ask(scene: Scene, question: string) {
  await scene.pass(1); // of two asks in one moment none is the newest
  return pendingOf(await scene.ask({ question, timeout: "1h" }));
}

async function alerts(scene: Scene) {
  const events = await scene.engine.readFeed("", 1_000);
  return events.map(({ event }) => event).filter(({ type }) => type.startsWith("alert."));
}

describe("questions that pile up", () => {
  test("are reported once, in the trail of the run that made the difference", async () => {
    const scene = new Scene({ rules: RULES });
    const told: string[] = [];
    const watching = watch(scene, told);
    await ask(scene, "One?");
    await ask(scene, "Two?");
    await watching.look();
    expect(await alerts(scene)).toEqual([]);
    const third = await ask(scene, "Three?");
    await watching.look();
    await ask(scene, "Four?");
    await watching.look();
    expect(await alerts(scene)).toMatchObject([
      { type: "alert.pending", runId: third.runId, questionId: third.id, detail: { value: 3, threshold: 2 } },
    ]);
    expect(told).toEqual(["pending 3"]);
    expect(await watching.list()).toEqual([
      { name: "pending", value: 1 },
      { name: "timeout_rate", value: 0 },
      { name: "failing_jobs", value: 0 },
      { name: "silent_machine", value: 0 },
    ]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("are watched by every worker, and of two on one store one reports them", async () => {
    const scene = new Scene({ rules: RULES });
    for (const question of ["One?", "Two?", "Three?"]) await ask(scene, question);
    const looks: string[] = [];
    const told: string[] = [];
    const workers = ["one", "two"].map((name) => {
      const store = overriding(scene.store, {
        close: () => Promise.resolve(),
        listRuns: (filter) => {
          if (filter.statuses?.includes("queued")) looks.push(name); // the last thing that a watch looks at
          return scene.store.listRuns(filter);
        },
      });
      const alerts = {
        onAlert: (alert: string, value: number) => void told.push(`${alert} ${value}`),
        onFailure: (error: unknown) => void told.push(String(error)),
      };
      return engineOn(store, { rules: scene.rules, nowMs: () => epochMs(scene.now), alerts });
    });
    for (const worker of workers) void worker.work();
    await expect.poll(() => new Set(looks).size).toBe(2);
    for (const worker of workers) await worker.stop();
    expect(told).toEqual(["pending 3"]);
    expect(await alerts(scene)).toMatchObject([{ type: "alert.pending", detail: { value: 3 } }]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("are reported again only after there were few", async () => {
    const scene = new Scene({ rules: RULES });
    const watching = watch(scene);
    const asked = [await ask(scene, "One?"), await ask(scene, "Two?"), await ask(scene, "Three?")];
    await watching.look();
    await scene.engine.answer(asked[0]!.id, said("1"), ADA);
    await watching.look();
    expect(await watching.list()).toContainEqual({ name: "pending", value: 0 });
    await ask(scene, "Four?");
    await watching.look();
    expect((await alerts(scene)).map(({ type }) => type)).toEqual(["alert.pending", "alert.cleared", "alert.pending"]);
  });

  test("are reported by one of many processes that look at once", async () => {
    const scene = new Scene({ rules: RULES });
    const told: string[] = [];
    const watching = Array.from({ length: 5 }, () => watch(scene, told));
    for (let n = 0; n < 3; n += 1) await ask(scene, `${n}?`);
    await Promise.all(watching.map((each) => each.look()));
    await Promise.all(watching.map((each) => each.look()));
    expect(await alerts(scene)).toHaveLength(1);
    expect(told).toEqual(["pending 3"]);
  });
});

describe("questions that nobody answers", () => {
  /** Three that were answered and as many as that which were not. */
  async function close(scene: Scene, timeouts: number): Promise<void> {
    for (let n = 0; n < 3; n += 1) {
      const { id } = await ask(scene, `answered ${n} at ${scene.now}?`);
      await scene.engine.answer(id, said("1"), ADA);
    }
    for (let n = 0; n < timeouts; n += 1) await ask(scene, `not answered ${n} at ${scene.now}?`);
    await scene.pass(HOUR);
  }
  const rules = { alerts: { ...RULES.alerts, pendingQuestions: 100 } };

  test("are reported when they are too large a part, and again after they were not", async () => {
    const scene = new Scene({ rules });
    const told: string[] = [];
    const watching = watch(scene, told);
    await watching.look();
    await close(scene, 1);
    await watching.look();
    expect(told).toEqual([]);
    await close(scene, 2);
    await watching.look();
    await watching.look();
    expect(told).toEqual([`timeout_rate ${3 / 9}`]);
    await scene.pass(25 * HOUR);
    await watching.look();
    expect(await watching.list()).toContainEqual({ name: "timeout_rate", value: 0 });
    await close(scene, 2);
    await watching.look();
    expect((await alerts(scene)).map(({ type, detail }) => [type, detail?.["value"]])).toEqual([
      ["alert.timeout_rate", 3 / 9],
      ["alert.cleared", 0],
      ["alert.timeout_rate", 2 / 5],
    ]);
  });

  test("are known to a process that starts later, and counted once", async () => {
    const scene = new Scene({ rules });
    await close(scene, 2);
    const told: string[] = [];
    await watch(scene, told).look();
    const later = watch(scene, told);
    await later.look();
    expect(told).toEqual([`timeout_rate ${2 / 5}`]);
    expect(await later.list()).toContainEqual({ name: "timeout_rate", value: 1 });
  });

  test("are reported once by processes that have read the feed to different places", async () => {
    const scene = new Scene({ rules });
    const told: string[] = [];
    const [fast, slow] = [watch(scene, told), watch(scene, told)];
    await slow.look();
    await close(scene, 2);
    await fast.look();
    await slow.look();
    await fast.look();
    expect(told).toHaveLength(1);
  });

  test("are counted once when somebody who read the feed tells of them", async () => {
    const scene = new Scene({ rules });
    const told: string[] = [];
    const watching = watch(scene, told);
    await watching.look();
    const end = await scene.store.findFeedEnd();
    await close(scene, 2);
    const events = await scene.store.readFeed(end, 1_000);
    watching.take(events, end);
    watching.take(events, end);
    await watching.look();
    await watching.stop();
    expect(told).toEqual([`timeout_rate ${2 / 5}`]);
  });
});
