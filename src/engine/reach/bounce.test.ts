import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Board } from "../../../test/channels/board-channel.ts";
import { Scene } from "../../../test/scene.ts";
import { idsFrom } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Decider } from "../decide.ts";
import { receiveFailure } from "./receive-failure.ts";

/** Mail comes first for ada; she also has Telegram. */
async function aScene() {
  const boards = { email: new Board("email"), telegram: new Board("telegram") };
  const reach = ["email", "telegram"].map((name) => ({ name, person: undefined, isPersonal: true }));
  const openChannel = (name: string) => Promise.resolve(name === "email" ? boards.email : boards.telegram);
  const ids = idsFrom(Date.now, randomBytes);
  const scene = new Scene({ rules: { reach }, openChannel, ids });
  const ada = {
    id: "ada",
    version: 0,
    groups: [],
    email: "ada@example.com",
    telegram: "1",
    channels: ["email", "telegram"],
  };
  await scene.engine.putPerson(ada, SYSTEM);
  const decider = new Decider({ store: scene.store, ids, rules: scene.rules, now: () => scene.now });
  const people = { pairTelegram: () => Promise.reject(new Error("nobody pairs")) };
  const deps = { store: scene.store, decider, questions: scene.engine, people, openChannel };
  return {
    scene,
    boards,
    bounce: (token: string) => receiveFailure(deps, boards.email, { token, why: "no such person" }),
  };
}

test("a person whom one channel refuses for good gets the question in another, and so on", async () => {
  const { scene, boards } = await aScene();
  boards.email.failures.push({ ok: false, why: "550 no such mailbox", isFinal: true });
  const { question } = await scene.ask();
  await scene.pass(0);
  await scene.pass(0);
  expect(boards.telegram.only.text).toContain("Redis or Memcached?");
  const told = (await scene.engine.listDeliveries(question.id)).map(({ channel, state }) => [channel, state]);
  expect(Object.fromEntries(told)).toEqual({ email: "failed", telegram: "sent" });
  // Refused there too, nobody else is bothered, and nothing goes round in circles.
  const [email, telegram] = [boards.email, boards.telegram];
  for (const board of [email, telegram]) board.failures.push({ ok: false, why: "blocked", isFinal: true });
  await scene.ask({ question: "And this?" });
  for (let times = 0; times < 4; times += 1) await scene.pass(0);
  expect([email.calls, telegram.calls]).toEqual([
    ["send", "send"],
    ["send", "send"],
  ]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("after a mail came back its address is not used, and the person gets a note and the question another way", async () => {
  const { scene, boards, bounce } = await aScene();
  const { question } = await scene.ask();
  await scene.pass(0);
  const { token } = boards.email.only;
  for (let times = 0; times < 2; times += 1) await bounce(token);
  await scene.pass(0);
  const told = [...boards.telegram.messages.values()].map(({ text }) => text).toSorted();
  expect(told).toEqual([
    expect.stringContaining("Redis or Memcached?"),
    expect.stringContaining("Mail to you comes back: no such person"),
  ]);
  const states = (await scene.engine.listDeliveries(question.id)).map(({ channel, state }) => [channel, state]);
  expect(Object.fromEntries(states)).toEqual({ email: "failed", telegram: "sent" });
  await scene.ask({ question: "And this?" });
  await scene.pass(0);
  expect(boards.email.messages.size).toBe(1);
  expect((await scene.engine.verify()).problems).toEqual([]);
  // The address counts again once it is set anew.
  const [ada] = await scene.engine.listPeople();
  expect(ada).toMatchObject({ bounced: { address: "ada@example.com", why: "no such person" } });
  await scene.engine.putPerson({ ...ada!, bounced: undefined }, SYSTEM);
  await scene.ask({ question: "And that?" });
  await scene.pass(0);
  expect(boards.email.messages.size).toBe(2);
});
