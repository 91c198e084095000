import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, later } from "../../core/instant.ts";
import type { StatsQuery } from "../../core/stats/stats.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { Scene, said } from "../../../test/scene.ts";
import { StatsCache } from "./stats-cache.ts";
import { countStats } from "./count-stats.ts";

/** The cached counts must equal a fresh count. */
async function compare(scene: Scene, cache: StatsCache, query: StatsQuery = {}): Promise<number> {
  const until = later(scene.now, 1);
  const plain = await countStats({ ...query, until }, scene.store, scene.rules);
  expect(await countStats({ ...query, until }, scene.store, scene.rules, cache)).toEqual(plain);
  return plain.asked;
}

async function asked(scene: Scene, index: number) {
  const run = { repo: `acme/${index % 2}`, agent: index % 3 === 0 ? "claude" : "codex" };
  return (await scene.engine.ask(scene.input({ timeout: "30h" }), AGENT, { run })).question.id;
}

/** The events of one question that is asked and answered. */
const EVENTS = 4;
const SMALL_BLOCK = 4 * EVENTS;

describe.each([undefined, SMALL_BLOCK])("a cache with blocks of %s events", (blockEvents) => {
  test("counts what counting anew does, whatever happened since the last count", async () => {
    const scene = new Scene();
    const cache = new StatsCache(scene.store, blockEvents);
    expect(await compare(scene, cache)).toBe(0);
    for (let round = 0; round < 6; round += 1) {
      const ids = [];
      for (let index = 0; index < 5; index += 1) ids.push(await asked(scene, round + index));
      await compare(scene, cache);
      await scene.pass(HOUR_MS);
      await scene.engine.answer(ids[0]!, said("1"), ADA);
      await scene.engine.cancel(ids[1]!, { reason: "no" }, ADA);
      // One that was asked and closed between two counts.
      await scene.engine.answer(await asked(scene, round), said("2"), ADA);
      await compare(scene, cache);
      await scene.pass(20 * HOUR_MS);
      await compare(scene, cache, { repo: "acme/1" });
      await compare(scene, cache, { agent: "claude", aheadMs: 2 * HOUR_MS });
    }
    expect(await compare(scene, cache)).toBe(36);
  });

  test("reads what lies before its first count when that is wanted", async () => {
    const scene = new Scene();
    const cache = new StatsCache(scene.store, blockEvents);
    for (let day = 0; day < 10; day += 1) {
      const id = await asked(scene, day);
      if (day % 2 === 0) await scene.engine.answer(id, said("1"), ADA);
      await scene.pass(DAY_MS);
    }
    const since = (days: number) => ({ since: later(scene.now, -days * DAY_MS) });
    expect(await compare(scene, cache, since(2))).toBe(2);
    expect(await compare(scene, cache, since(9))).toBe(9);
    expect(await compare(scene, cache, since(3))).toBe(3);
    expect(await compare(scene, cache, since(30))).toBe(10);
  });
});

test("reads blocks that another process wrote, and leaves old ones unread", async () => {
  const scene = new Scene();
  const writer = new StatsCache(scene.store, SMALL_BLOCK);
  for (let day = 0; day < 12; day += 1) {
    await scene.engine.answer(await asked(scene, day), said("1"), ADA);
    await scene.pass(DAY_MS);
    expect(await writer.takeIn()).toBe(day % 4 === 3);
  }
  const read: string[] = [];
  const store = overriding(scene.store, {
    readEntries: (kind, ids) => {
      read.push(...ids);
      return scene.store.readEntries(kind, ids);
    },
    readQuestions: (ids) => {
      read.push(...ids);
      return scene.store.readQuestions(ids);
    },
  });
  const until = later(scene.now, 1);
  const query = { since: later(scene.now, -3 * DAY_MS), until };
  const stats = await countStats(query, store, scene.rules, new StatsCache(store, SMALL_BLOCK));
  expect(stats).toEqual(await countStats(query, scene.store, scene.rules));
  expect(stats.asked).toBe(3);
  expect(read).toEqual(["block 2"]);
});

test("counts on a store that takes no writes", async () => {
  const scene = new Scene();
  for (let index = 0; index < 9; index += 1) await scene.engine.answer(await asked(scene, index), said("1"), ADA);
  const store = overriding(scene.store, { commit: () => Promise.reject(new Error("readonly")) });
  expect(await compare(scene, new StatsCache(store, SMALL_BLOCK))).toBe(9);
});
