import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene, said } from "../../../test/scene.ts";
import { type QuestionId, idsFrom } from "../../core/id.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { receiveReply } from "./receive.ts";
import { Decider } from "../decide.ts";

const REACH = [{ name: "board", person: "ada", isPersonal: false }];

async function aScene(person: Partial<Person> = {}) {
  const board = new Board();
  const ids = idsFrom(Date.now, randomBytes);
  const scene = new Scene({ rules: { reach: REACH }, openChannel: board.open, ids });
  await scene.engine.putPerson({ id: "ada", version: 0, groups: [], ...person }, SYSTEM);
  const ask = async (question: string, more: Record<string, unknown> = {}) => {
    const { id } = (await scene.ask({ question, timeout: "200h", ...more })).question;
    await scene.pass(0);
    return id;
  };
  return { board, scene, ask };
}

async function askMany(ask: (question: string) => Promise<QuestionId>, count: number): Promise<QuestionId[]> {
  const ids: QuestionId[] = [];
  for (let nth = 1; nth <= count; nth += 1) ids.push(await ask(`Question ${nth}?`));
  return ids;
}

async function stateOf(scene: Scene, id: QuestionId) {
  return (await scene.engine.listDeliveries(id)).map(({ state, waits }) => waits?.why ?? state);
}

test("of many questions that come in one moment, five are sent", async () => {
  const { board, scene } = await aScene();
  for (let nth = 1; nth <= 9; nth += 1) await scene.ask({ question: `Question ${nth}?` });
  await scene.pass(0);
  expect(board.calls).toHaveLength(5);
});

test("of many questions at once five are sent, and the others come in one digest after a minute", async () => {
  const { board, scene, ask } = await aScene();
  const ids = await askMany(ask, 9);
  await scene.pass(0);
  expect(board.calls).toHaveLength(5);
  expect(await stateOf(scene, ids[8]!)).toEqual(["digest"]);
  await scene.pass(MINUTE_MS);
  await scene.pass(0);
  expect(board.calls).toHaveLength(6);
  const digest = [...board.messages.values()].at(-1);
  expect(digest?.text).toContain("4 questions wait for you");
  expect(digest?.text).toContain("B) Question 7? - ");
  expect(digest?.buttons).toHaveLength(4);
  expect(await stateOf(scene, ids[8]!)).toEqual(["collected"]);
  const events = (await scene.engine.readFeed("", 1_000)).map(({ event }) => event);
  const told = events.filter(({ type, questionId }) => type === "question.notified" && questionId === ids[8]);
  expect(told.map(({ detail }) => detail)).toEqual([
    { channel: "board", person: "ada", what: "message", digest: true },
  ]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("beyond the budget of a person one digest comes when the hour allows it; high risk is never held back", async () => {
  const { board, scene, ask } = await aScene({ interruptionsPerHour: 2 });
  await ask("First?");
  await scene.pass(0);
  await scene.pass(10 * MINUTE_MS);
  await ask("Second?");
  await scene.pass(0);
  await scene.pass(10 * MINUTE_MS);
  await ask("Third?");
  await ask("Fourth?");
  await scene.pass(0);
  expect(board.calls).toHaveLength(2);
  await ask("Delete the table?", { risk: "high" });
  await scene.pass(0);
  expect(board.calls).toHaveLength(3);
  for (let minutes = 0; minutes < 60; minutes += 10) await scene.pass(10 * MINUTE_MS);
  expect(board.calls).toHaveLength(4);
  expect([...board.messages.values()].at(-1)?.text).toContain("2 questions wait for you");
  expect(await scene.engine.listAttention()).toEqual([
    { person: "ada", lastHour: expect.any(Number), lastDay: 4, collected: 2, waiting: 0, perHour: 2 },
  ]);
});

test("a person who prefers a digest gets the first question at once, the others together", async () => {
  const { board, scene, ask } = await aScene({ digest: "15m" });
  await askMany(ask, 3);
  await scene.pass(0);
  expect(board.calls).toHaveLength(1);
  await scene.pass(14 * MINUTE_MS);
  expect(board.calls).toHaveLength(1);
  await scene.pass(MINUTE_MS);
  await scene.pass(0);
  expect(board.calls).toHaveLength(2);
});

test("one question that waited alone comes as itself, and one that closed meanwhile does not come", async () => {
  const { board, scene, ask } = await aScene({ digest: "15m" });
  const [, second, third] = await askMany(ask, 3);
  await scene.engine.answer(second!, said("1"), ADA);
  await scene.pass(15 * MINUTE_MS);
  await scene.pass(0);
  expect(board.calls).toEqual(["send", "send"]);
  expect([...board.messages.values()].at(-1)?.text).toContain("Question 3?");
  expect(await stateOf(scene, second!)).toEqual(["skipped"]);
  expect(await stateOf(scene, third!)).toEqual(["sent"]);
});

describe("a digest", () => {
  async function aDigest() {
    const at = await aScene({ digest: "15m" });
    const ids = await askMany(at.ask, 3);
    await at.scene.pass(0);
    await at.scene.pass(15 * MINUTE_MS);
    await at.scene.pass(0);
    return { ...at, ids };
  }

  test("is edited when one of its questions closes, and when none waits any more", async () => {
    const { board, scene, ids } = await aDigest();
    await scene.engine.answer(ids[1]!, said("1"), ADA);
    await scene.pass(0);
    const digest = () => [...board.messages.values()].at(-1);
    expect(digest()?.text).toContain("1 question waits for you");
    expect(digest()?.buttons).toEqual(["B Question 3?"]);
    await scene.engine.answer(ids[2]!, said("1"), ADA);
    await scene.pass(0);
    expect(digest()?.text).toContain("None of these questions waits any more");
    expect(board.messages.size).toBe(2);
    expect(await stateOf(scene, ids[1]!)).toEqual(["closed"]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("brings one of its questions when its letter is pressed, once, and it can be answered there", async () => {
    const { board, scene, ids } = await aDigest();
    const decider = new Decider({ store: scene.store, ids: scene.ids!, rules: scene.rules, now: () => scene.now });
    const people = { pairTelegram: () => Promise.reject(new Error("nobody pairs")) };
    const deps = { store: scene.store, decider, questions: scene.engine, people };
    const token = [...board.messages.values()].at(-1)?.token;
    const press = { key: "1", from: undefined, token, text: "B", respondTo: "" };
    const bearer = Object.assign(Object.create(board) as Board, { strength: "local" });
    for (let times = 0; times < 2; times += 1) await receiveReply(deps, bearer, press);
    await scene.pass(0);
    expect(board.messages.size).toBe(3);
    const brought = [...board.messages.values()].at(-1);
    expect(brought?.text).toContain("Question 3?");
    await receiveReply(deps, bearer, { ...press, key: "2", token: brought?.token, text: "A" });
    await scene.pass(SECOND_MS);
    expect((await scene.engine.read(ids[2]!)).question.status).toBe("answered");
    const digest = () => [...board.messages.values()].at(1);
    expect(digest()?.buttons).toEqual(["A Question 2?"]);
    const respond = (_to: string, text: string) => {
      told.push(text);
      return Promise.resolve({ ok: true } as const);
    };
    const told: string[] = [];
    await receiveReply(deps, Object.assign(bearer, { respond }), { ...press, key: "3", expectsResponse: true });
    expect(told).toEqual([expect.stringContaining("waits no longer")]);
    await scene.engine.answer(ids[1]!, said("1"), ADA);
    await scene.pass(SECOND_MS);
    expect(digest()?.text).toContain("None of these questions waits any more");
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("that cannot be sent says so on each of its questions, and is sent later", async () => {
    const { board, scene, ask } = await aScene({ digest: "15m" });
    const ids = await askMany(ask, 3);
    await scene.pass(0);
    for (let count = 0; count < 3; count += 1) board.failures.push({ ok: false, why: "status 503" });
    await scene.pass(15 * MINUTE_MS);
    await scene.pass(0);
    expect(await scene.engine.listDeliveries(ids[2]!)).toMatchObject([
      { state: "due", failure: { why: "status 503" } },
    ]);
    for (let minutes = 0; minutes < 10; minutes += 1) await scene.pass(MINUTE_MS);
    expect(await stateOf(scene, ids[2]!)).toEqual(["collected"]);
    await scene.pass(HOUR_MS);
    expect(board.messages.size).toBe(2);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });
});
