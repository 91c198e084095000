import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Board, type BoardMessage } from "../../../test/channels/board-channel.ts";
import { Scene, said } from "../../../test/scene.ts";
import type { QuestionId } from "../../core/id.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";

const REACH = { reach: [{ name: "board", person: undefined, isPersonal: false }] };

function aScene(board = new Board()) {
  return { board, scene: new Scene({ rules: REACH, openChannel: board.open }) };
}

async function eventsOf(scene: Scene, id: QuestionId) {
  const { run } = await scene.engine.read(id);
  const events = (await scene.engine.readChain(run.id)).map(({ event }) => event);
  return events
    .filter(({ type }) => /notified|delivery_failed/.test(type))
    .map(({ type, detail }) => ({ type, ...detail }));
}

async function verify(scene: Scene) {
  expect((await scene.engine.verify()).problems).toEqual([]);
}

test("a question has its delivery row and job in the very commit that asks, and a channel that is down does not matter", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  expect(question.deliveries).toMatchObject([{ channel: "board" }]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ channel: "board", state: "due" }]);
  expect(await scene.jobs()).toContain("deliver");
  expect(board.calls).toEqual([]);
  await verify(scene);
});

test("the message is sent once, with its options, and the trail says so", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await scene.pass(0);
  await scene.pass(MINUTE_MS);
  expect(board.calls).toEqual(["send"]);
  expect(board.only).toMatchObject({ buttons: ["A Redis", "B Memcached"] });
  expect(board.only.text).toContain("Redis or Memcached?");
  expect(await eventsOf(scene, question.id)).toEqual([
    { type: "question.notified", channel: "board", what: "message" },
  ]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "sent" }]);
  await verify(scene);
});

test("when a channel last sent something is known however much has happened since", async () => {
  const { board, scene } = aScene();
  const lastSent = async () => (await scene.engine.listChannels())[0]?.lastSentAt;
  const { question } = await scene.ask();
  await scene.pass(0);
  const sentAt = scene.now;
  for (let count = 0; count < 600; count += 1) await scene.engine.createRun({}, ADA);
  expect(await lastSent()).toBe(sentAt);
  await scene.pass(HOUR_MS);
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  for (let count = 0; count < 600; count += 1) await scene.engine.createRun({}, ADA);
  expect(board.calls).toEqual(["send", "edit"]);
  expect(await lastSent()).toBe(scene.now);
  await verify(scene);
});

test.each([
  [
    "answered",
    async (scene: Scene, id: QuestionId) => scene.engine.answer(id, said("1"), ADA),
    "Answered by ada (cli): Redis",
  ],
  [
    "cancelled",
    async (scene: Scene, id: QuestionId) => scene.engine.cancel(id, { reason: "not needed" }, ADA),
    "Cancelled by ada",
  ],
  ["timed out", async (scene: Scene) => scene.pass(DAY_MS), "Nobody answered in time"],
] as const)("the one message is edited when the question is %s, and its buttons go", async (_name, close, words) => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await scene.pass(0);
  await close(scene, question.id);
  await scene.pass(0);
  expect(board.only.text).toContain(words);
  expect(board.only.buttons).toEqual([]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "closed" }]);
  await verify(scene);
});

test("a claim, an extension and an escalation are shown in the same message, whose buttons stay", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask({ on_timeout: { do: "escalate", steps: [{ after: "1h", to: ["lena"] }] } });
  await scene.pass(0);
  await scene.engine.claim(question.id, ADA);
  await scene.pass(0);
  expect(board.only.text).toContain("ada is on it");
  await scene.engine.extend(question.id, HOUR_MS, ADA);
  await scene.pass(0);
  expect(board.only.text).toContain("By 2026-01-02 13:00 UTC");
  await scene.engine.escalate(question.id, ADA);
  await scene.pass(0);
  expect(board.only.text).toContain("Escalated to lena");
  expect(board.only.buttons).toHaveLength(2);
});

test("a question that closes before its message was sent needs none", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  expect(board.calls).toEqual([]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "skipped" }]);
});

test("a question that changes while its message is on the way has one message, which shows the change at once", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  board.during = async () => {
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.engine.doDue();
  };
  await scene.pass(0);
  await scene.pass(0);
  expect(board.calls).toEqual(["send", "edit"]);
  expect(board.only.text).toContain("Answered by ada");
});

test("a message that was sent again, because its first sending took too long, changes together with the first one", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  board.during = () => scene.pass(MINUTE_MS);
  await scene.pass(0);
  expect(board.messages.size).toBe(2);
  await scene.engine.claim(question.id, ADA);
  await scene.pass(0);
  const texts = () => [...board.messages.values()].map(({ text }) => text);
  expect(texts()).toEqual([expect.stringContaining("ada is on it"), expect.stringContaining("ada is on it")]);
  // One of them was deleted by a person: the other is still brought in line.
  board.messages.delete("m1");
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  expect(texts()).toEqual([expect.stringContaining("Answered by ada")]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "closed" }]);
  await verify(scene);
});

test("after a crash in the middle of sending, the next attempt waits for the first to be over", async () => {
  const { board, scene } = aScene();
  await scene.ask();
  const killed = new Board();
  const other = new Scene({ rules: REACH, store: () => scene.store, openChannel: killed.open });
  killed.during = () => new Promise(() => undefined); // the process dies here
  void other.engine.doDue();
  await expect.poll(() => killed.calls).toEqual(["send"]);
  await scene.pass(16 * SECOND_MS);
  expect(board.calls).toEqual([]);
  await scene.pass(20 * SECOND_MS);
  expect(board.calls).toEqual(["send"]);
});

test.each([
  [
    "extended",
    async (scene: Scene, id: QuestionId) => scene.engine.extend(id, HOUR_MS, ADA),
    "By 2026-01-02 13:00 UTC",
  ],
  ["answered", async (scene: Scene, id: QuestionId) => scene.engine.answer(id, said("1"), ADA), "Answered by ada"],
] as const)(
  "a message that arrived before a crash shows that its question was %s since",
  async (_name, change, words) => {
    const { board, scene } = aScene();
    const { question } = await scene.ask();
    await dieAfterSending(scene, board);
    await change(scene, question.id);
    board.find = () => Promise.resolve([...board.messages.keys()][0]);
    await scene.pass(31 * SECOND_MS);
    expect(board.calls).toEqual(["edit"]);
    expect(board.only.text).toContain(words);
  },
);

test("where nobody can be asked whether a message arrived before a crash, the outcome is told all the same", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await dieAfterSending(scene, board);
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(31 * SECOND_MS);
  expect(board.calls).toEqual(["send"]);
  expect([...board.messages.values()].at(-1)?.text).toContain("Answered by ada");
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "closed" }]);
});

test("a message that did not arrive before a crash is not sent for a question that closed since", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await dieAfterSending(scene, new Board());
  await scene.engine.answer(question.id, said("1"), ADA);
  board.find = () => Promise.resolve(undefined);
  await scene.pass(31 * SECOND_MS);
  expect(board.calls).toEqual([]);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "skipped" }]);
});

test("a message whose reply was lost is looked for before it is sent again, also after other failures", async () => {
  const { board, scene } = aScene();
  const { send } = board;
  board.send = async (wire) => {
    await send(wire);
    board.send = send;
    return { ok: false, why: "no reply in time", mayBeThere: true };
  };
  const { question } = await scene.ask();
  await scene.pass(0);
  expect(board.messages.size).toBe(1);
  board.find = () => Promise.resolve(undefined); // nobody can be asked now
  board.failures.push({ ok: false, why: "status 503" });
  await scene.pass(2 * SECOND_MS);
  expect(board.calls).toEqual(["send", "send"]);
  board.find = () => Promise.resolve([...board.messages.keys()][0]);
  await scene.pass(10 * SECOND_MS);
  expect(board.calls).toEqual(["send", "send", "edit"]);
  expect(board.messages.size).toBe(1);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([{ state: "sent" }]);
});

/** Another process puts the message on the board and dies before it can write that down. */
async function dieAfterSending(scene: Scene, board: Board) {
  const dying = new Board();
  dying.send = (wire) => {
    board.messages.set("m0", wire as unknown as BoardMessage); // as the board builds it
    return new Promise(() => undefined);
  };
  const other = new Scene({ rules: REACH, store: () => scene.store, openChannel: dying.open });
  void other.engine.doDue();
  await expect.poll(() => board.messages.size).toBe(1);
}

test("a failing channel is tried again with growing pauses, reported once, and its recovery is reported too", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  for (let count = 0; count < 5; count += 1) board.failures.push({ ok: false, why: "status 503" });
  await scene.pass(0);
  for (let minutes = 0; minutes < 30; minutes += 1) await scene.pass(MINUTE_MS);
  expect(board.calls).toHaveLength(6);
  expect(await eventsOf(scene, question.id)).toMatchObject([
    { type: "question.delivery_failed", channel: "board", why: "status 503" },
    { type: "question.notified", channel: "board" },
  ]);
  await verify(scene);
});

test("a shared mail goes to the addresses that the question names, as far as the settings allow them", async () => {
  const board = new Board("email");
  const reach = [{ name: "email", person: undefined, isPersonal: false }];
  const addresses = { email: ["ops@example.com", "team@example.com"] };
  const scene = new Scene({ rules: { reach, addresses }, openChannel: board.open });
  const named = { notifyVia: ["email"], emailRecipients: ["ops@example.com", "eve@example.net"] };
  await scene.ask({ question: "For the operators?", ...named });
  await scene.ask({ question: "For everybody?" });
  await scene.pass(0);
  const toOf = (words: string) => [...board.messages.values()].find(({ text }) => text.includes(words))?.to;
  expect(toOf("For the operators?")).toBe("ops@example.com");
  expect(toOf("For everybody?")).toBeUndefined();
});

test("Retry-After is honoured", async () => {
  const { board, scene } = aScene();
  await scene.ask();
  board.failures.push({ ok: false, why: "status 429", retryAfterMs: 90 * SECOND_MS });
  await scene.pass(0);
  await scene.pass(80 * SECOND_MS);
  expect(board.calls).toHaveLength(1);
  await scene.pass(11 * SECOND_MS);
  expect(board.calls).toHaveLength(2);
});

test("a channel that refuses for good is not tried again, and the card says why", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  board.failures.push({ ok: false, why: "the bot was blocked", isFinal: true });
  await scene.pass(0);
  await scene.pass(HOUR_MS);
  expect(board.calls).toHaveLength(1);
  expect(await scene.engine.listDeliveries(question.id)).toMatchObject([
    { state: "failed", failure: { why: "the bot was blocked" } },
  ]);
  expect(await eventsOf(scene, question.id)).toMatchObject([{ type: "question.delivery_failed" }]);
});

test("a message that somebody deleted is sent again while its question waits", async () => {
  const { board, scene } = aScene();
  const { question } = await scene.ask();
  await scene.pass(0);
  board.messages.clear();
  await scene.engine.claim(question.id, ADA);
  await scene.pass(0);
  await scene.pass(SECOND_MS);
  expect(board.calls).toEqual(["send", "edit", "send"]);
  board.messages.clear();
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  await scene.pass(HOUR_MS);
  expect(board.calls).toEqual(["send", "edit", "send", "edit"]);
});

test("reminders say told only where somebody is reminded, and a claim keeps them quiet", async () => {
  const { board, scene } = aScene();
  const { question, run } = await scene.ask({ timeout: "10h" });
  await scene.pass(0);
  await scene.pass(5 * HOUR_MS);
  expect(board.reminders).toHaveLength(1);
  await scene.engine.claim(question.id, ADA);
  await scene.pass(4 * HOUR_MS);
  await scene.pass(SECOND_MS);
  expect(board.reminders).toHaveLength(1);
  const events = (await scene.engine.readChain(run.id)).filter(({ event }) => event.type === "question.reminded");
  expect(events.map(({ event }) => event.detail)).toEqual([{ told: true }, { told: false }]);
});

test("without a channel nobody is told, and nothing says otherwise", async () => {
  const scene = new Scene();
  const { question, run } = await scene.ask({ timeout: "10h", notify: [{ channel: "slack" }] });
  await scene.pass(5 * HOUR_MS);
  const events = (await scene.engine.readChain(run.id)).filter(({ event }) => event.type === "question.reminded");
  expect(events.map(({ event }) => event.detail)).toEqual([{ told: false }]);
  expect(await scene.engine.listDeliveries(question.id)).toEqual([]);
});

test("a channel outage of 72 hours loses nothing and keeps the schedule", async () => {
  const { board, scene } = aScene();
  const ask = async (question: string, timeout: string) => (await scene.ask({ question, timeout })).question.id;
  const told = await ask("Told before?", "200h");
  const expiring = await ask("Expires meanwhile?", "10h");
  await scene.pass(0);
  const waiting = await ask("Waits from the first hour?", "200h");
  const attempts: string[] = [];
  board.refuse = (wire) => {
    if (JSON.stringify(wire).includes("first hour")) attempts.push(scene.now);
    return { ok: false, why: "status 500" };
  };
  const later: QuestionId[] = [];
  for (let minutes = 0; minutes <= 72 * 60; minutes += 4) {
    await scene.pass(4 * MINUTE_MS);
    if (minutes === 30 * 60) later.push(await ask("Asked meanwhile?", "200h"), await ask("Over meanwhile?", "200h"));
    if (minutes === 40 * 60) await scene.engine.answer(later[1]!, said("1"), ADA);
    if (minutes === 60 * 60) await scene.engine.answer(told, said("1"), ADA);
  }
  const gaps = attempts.slice(1).map((at, index) => Date.parse(at) - Date.parse(attempts[index] ?? at));
  // In steps of four minutes: the first pauses are shorter than that, then ten minutes, then an hour with its jitter.
  expect(Math.max(...gaps)).toBeLessThanOrEqual(1.2 * HOUR_MS + 4 * MINUTE_MS);
  expect(Math.min(...gaps.slice(6))).toBeGreaterThanOrEqual(HOUR_MS - 4 * MINUTE_MS);
  expect(attempts.length).toBeGreaterThan(60);

  board.refuse = undefined;
  await scene.pass(1.2 * HOUR_MS);
  const stateOf = async (id: QuestionId) => (await scene.engine.listDeliveries(id)).map(({ state }) => state);
  expect(await Promise.all([waiting, ...later, told].map(stateOf))).toEqual([
    ["sent"],
    ["sent"],
    ["skipped"],
    ["closed"],
  ]);
  const texts = [...board.messages.values()].map(({ text }) => text);
  expect(texts.filter((text) => text.includes("first hour"))).toHaveLength(1);
  expect(texts.filter((text) => text.includes("Asked meanwhile"))).toHaveLength(1);
  expect(texts.find((text) => text.includes("Told before"))).toContain("Answered by ada");
  // The deadline came in its time, and the trail says that nobody could be told of it.
  const { question } = await scene.engine.read(expiring);
  expect(question).toMatchObject({ status: "timeout", timedOutAt: expect.stringMatching(/T22:0[0-4]/) });
  expect(await eventsOf(scene, expiring)).toMatchObject([
    { type: "question.notified" },
    { type: "question.delivery_failed", why: "status 500" },
  ]);
  await verify(scene);
});
