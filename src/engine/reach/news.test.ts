import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { MCP, Scene, said } from "../../../test/scene.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import type { Actor } from "../../core/people/actor.ts";
import type { Rules } from "../../core/rules.ts";
import { AlertWatch } from "../stats/alert-watch.ts";

const LENA: Actor = { ...ADA, id: "lena" };

/** A scene in which ada and lena have a board each, and a run of theirs asks. */
async function aScene(over: Partial<Rules> = {}) {
  const boards = new Map(["ada", "lena"].map((person) => [`${person}board`, new Board(`${person}board`)]));
  const reach = ["ada", "lena"].map((person) => ({ name: `${person}board`, person, isPersonal: false }));
  const openChannel = (name: string) => Promise.resolve(boards.get(name) ?? new Board());
  const scene = new Scene({ rules: { reach, ...over }, openChannel });
  const run = await scene.startedRun();
  const input = scene.input({ hold: "3m" }, MCP);
  const { question } = await scene.engine.ask(input, AGENT, { runId: run.id, epoch: run.epoch });
  await scene.pass(0);
  const textsOf = (person: string) =>
    [...(boards.get(`${person}board`)?.messages.values() ?? [])].map(({ text }) => text);
  return { scene, run, question, boards, newsOf: (person: string) => textsOf(person).slice(1) };
}

async function eventsOf(scene: Scene, runId: Parameters<Scene["engine"]["readChain"]>[0]) {
  const events = (await scene.engine.readChain(runId)).map(({ event }) => event);
  return events.filter(({ type }) => /^run\.(notified|delivery_failed)$/.test(type)).map(({ detail }) => detail);
}

describe("how a run ends", () => {
  test.each([
    ["completed", undefined, "✅ Run #1 has finished"],
    ["failed", "agent_error", "❌ Run #1 failed: the agent failed. See: askd show 1"],
    ["blocked", "not_logged_in", "⛔ Run #1 cannot go on: the agent is not logged in"],
  ] as const)(
    "a run that is %s is told to those who answered it, once and without buttons",
    async (status, reason, words) => {
      const { scene, run, question, boards, newsOf } = await aScene();
      await scene.engine.answer(question.id, said("1"), ADA);
      await scene.engine.handOver(question.id);
      await scene.engine.given(question.id, "transcript");
      await scene.engine.endRun(run.id, { status, ...(reason && { reason }) }, AGENT);
      await scene.pass(0);
      await scene.pass(MINUTE_MS);
      expect(newsOf("ada")).toEqual([expect.stringContaining(words)]);
      expect(newsOf("lena")).toEqual([]);
      expect([...(boards.get("adaboard")?.messages.values() ?? [])].at(-1)?.buttons).toEqual([]);
      expect(await scene.engine.listRunDeliveries(run.id)).toMatchObject([{ person: "ada", state: "closed" }]);
      expect(await eventsOf(scene, run.id)).toEqual([
        { news: `run.${status}`, channel: "adaboard", person: "ada", what: "message" },
      ]);
      expect((await scene.engine.verify()).problems).toEqual([]);
    },
  );

  test("is told to those who follow the run, not to the person who ended it, nor to those who stopped following", async () => {
    const { scene, run, newsOf } = await aScene();
    await scene.engine.followRun(run.id, ADA, { isFollowing: true });
    await scene.engine.followRun(run.id, LENA, { isFollowing: true });
    await scene.engine.cancelRun(run.id, LENA, "not needed");
    await scene.pass(0);
    expect(newsOf("ada")).toEqual([expect.stringContaining("🚫 Run #1 was cancelled: not needed")]);
    expect(newsOf("lena")).toEqual([]);
    const other = await aScene();
    await other.scene.engine.followRun(other.run.id, ADA, { isFollowing: true });
    await other.scene.engine.followRun(other.run.id, ADA, { isFollowing: false });
    await other.scene.engine.cancelRun(other.run.id, LENA);
    await other.scene.pass(0);
    expect(other.newsOf("ada")).toEqual([]);
    expect((await other.scene.engine.verify()).problems).toEqual([]);
  });

  test("that cannot be told is shown with its reason, and told when the channel works again", async () => {
    const { scene, run, boards, newsOf } = await aScene();
    await scene.engine.followRun(run.id, ADA, { isFollowing: true });
    for (let count = 0; count < 8; count += 1) boards.get("adaboard")?.failures.push({ ok: false, why: "status 503" });
    await scene.engine.cancelRun(run.id, LENA, "no");
    await scene.pass(0);
    for (let minutes = 0; minutes < 2; minutes += 1) await scene.pass(MINUTE_MS);
    expect(await scene.engine.listRunDeliveries(run.id)).toMatchObject([
      { state: "due", failure: { why: "status 503" } },
    ]);
    for (let minutes = 0; minutes < 40; minutes += 1) await scene.pass(MINUTE_MS);
    expect(newsOf("ada")).toHaveLength(1);
    expect((await eventsOf(scene, run.id)).map((detail) => detail?.["why"])).toEqual(["status 503", undefined]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });
});

describe("alerts reach people", () => {
  function watch(scene: Scene) {
    const onFailure = (error: unknown) => {
      throw error;
    };
    const ids = { deliveryToken: () => `token-${Math.random()}` };
    return new AlertWatch({ store: scene.store, rules: scene.rules, ids, onAlert: () => undefined, onFailure });
  }

  test("many questions that wait are told to everybody, or to those whom the settings name", async () => {
    const alerts = { pendingQuestions: 0, timeoutRate: 1, windowMs: MINUTE_MS, to: [] };
    for (const [to, told] of [
      [[], 1],
      [["ada"], 0],
    ] as const) {
      const { scene, newsOf } = await aScene({ alerts: { ...alerts, to } });
      await watch(scene).look();
      await scene.pass(0);
      expect(newsOf("ada")).toEqual([expect.stringContaining("⚠️ 1 questions wait for an answer")]);
      expect(newsOf("lena")).toHaveLength(told);
      expect((await scene.engine.verify()).problems).toEqual([]);
    }
  });

  test("a run that waits for a machine which is silent is told, once", async () => {
    const { scene, run, newsOf } = await aScene();
    await scene.engine.cancelRun(run.id, ADA);
    const lost = await scene.engine.createRun(
      { name: "lost", agent: "claude", host: "build-7~ab", giveBack: "worker" },
      AGENT,
    );
    scene.skip(9 * MINUTE_MS);
    await watch(scene).look();
    expect((await scene.store.findRun(lost.id))?.deliveries).toBeUndefined();
    scene.skip(2 * MINUTE_MS);
    for (let looks = 0; looks < 2; looks += 1) await watch(scene).look();
    await scene.pass(0);
    expect(
      newsOf("ada").filter((text) => text.includes("1 runs wait for a machine that is silent, such as #2 for build-7")),
    ).toHaveLength(1);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });
});
