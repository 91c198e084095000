import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, type Instant, epochMs, instant } from "../../core/instant.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { ADA, NOON } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import { Archiver } from "./archiver.ts";
import { exportStore } from "./export.ts";
import { verify } from "./verify.ts";

const PAGE_LINES = 10;
const QUESTIONS = 6;
let directory: string;
let store: Store;
let scene: Scene;
let archiver: Archiver;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "askd-archive-"));
  let now: () => Instant = () => instant(epochMs(NOON));
  store = await openSqliteStore(join(directory, "askd.db"), { now: () => now() });
  scene = new Scene({
    store: (sceneNow) => {
      now = sceneNow;
      return store;
    },
  });
  archiver = new Archiver(store, DAY_MS, PAGE_LINES);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Questions that were asked, answered and taken; the first of them is returned. */
async function askAndTake() {
  const ids = [];
  for (let index = 0; index < QUESTIONS; index += 1) {
    const { question } = await scene.ask({
      question: `Which cache for the checkout, part ${index}?`,
      context: "Both run.",
    });
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.handOver(question.id);
    await scene.engine.given(question.id, "rest");
    ids.push(question.id);
  }
  const [first] = ids;
  if (first === undefined) throw new Error("nothing was asked");
  return first;
}

/** Lets a day and a seal pass, and archives all that it can. */
async function archiveAll(): Promise<number> {
  await scene.pass(DAY_MS + HOUR_MS);
  await scene.local.seal();
  while ((await store.indexWords(100)) > 0);
  let pages = 0;
  while (await archiver.archiveMore()) pages += 1;
  return pages;
}

async function exported(): Promise<unknown[]> {
  const lines: unknown[] = [];
  await exportStore(store, { version: "1.2.3", hasSecrets: true }, async (_text, line) => void lines.push(line));
  return lines.slice(1);
}

test("only what is sealed and a day old is archived", async () => {
  await askAndTake();
  while ((await store.indexWords(100)) > 0);
  expect(await archiver.archiveMore()).toBe(false); // nothing is sealed
  await scene.local.seal();
  expect(await archiver.archiveMore()).toBe(false);
  scene.skip(DAY_MS - HOUR_MS);
  expect(await archiver.archiveMore()).toBe(false);
  scene.skip(2 * HOUR_MS);
  expect(await archiver.archiveMore()).toBe(true);
});

test("an archived question is exported, counted, found and verified as before", async () => {
  const id = await askAndTake();
  const newer = (await scene.ask({ question: "Which cache for the checkout of the shop?" })).question;
  await scene.pass(DAY_MS + HOUR_MS);
  const before = {
    lines: await exported(),
    stats: await scene.engine.stats(),
    similar: await scene.engine.findSimilar(newer.id, 3),
    read: await scene.engine.read(id),
  };
  expect(before.similar.length).toBeGreaterThan(0);
  await scene.local.seal();
  while ((await store.indexWords(100)) > 0);
  expect(await archiver.archiveMore()).toBe(true);
  while (await archiver.archiveMore());
  expect(await exported()).toEqual(before.lines);
  expect(await scene.engine.stats()).toEqual(before.stats);
  expect(await scene.engine.findSimilar(newer.id, 3)).toEqual(before.similar);
  expect(await scene.engine.read(id)).toEqual(before.read);
  expect((await verify(store)).problems).toEqual([]);
});

test("a correction, a late reply and a forced answer reach archived questions", async () => {
  const id = await askAndTake();
  const missed = (await scene.ask({ question: "Which port?", timeout: "1h", on_timeout: "fail" })).question.id;
  expect(await archiveAll()).toBeGreaterThan(0);
  await expect(scene.engine.answer(id, said("2"), ADA)).rejects.toThrow("already answered");
  const { question } = await scene.engine.amend(id, "Use the cluster", ADA);
  expect(question).toMatchObject({ status: "answered", amendments: [{ text: "Use the cluster" }] });
  const forced = await scene.engine.answer(missed, said("2", { force: true }), ADA);
  expect((await store.readChain(forced.run.id)).events.map(({ event }) => event.type)).toContain("question.forced");
  const { events } = await store.readChain(question.runId);
  expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
  const types = events.map(({ event }) => event.type);
  expect(types).toEqual(expect.arrayContaining(["question.asked", "question.late_reply", "question.amended"]));
  expect((await verify(store)).problems).toEqual([]);
  expect(await archiveAll()).toBeGreaterThan(0);
  expect((await scene.engine.read(id)).question).toMatchObject({ amendments: [{ text: "Use the cluster" }] });
  expect((await verify(store)).problems).toEqual([]);
});
