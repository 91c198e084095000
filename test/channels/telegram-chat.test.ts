import { expect, onTestFinished, test } from "vitest";
import { shortId } from "../../src/core/id.ts";
import { MINUTE_MS, SECOND_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { ADA } from "../builders.ts";
import { Scene, said } from "../scene.ts";
import { CHAT, STRANGER, TelegramServer } from "./telegram-server.ts";

const WAIT = { timeout: 10_000 };
const APPROVAL = { kind: "approval", tool: { name: "Bash", input: { command: "make deploy" } } };

/** Mika, who is paired, and what they write in the chat without replying to a message. */
async function aChat() {
  const service = await TelegramServer.start();
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], telegram: String(CHAT) }, SYSTEM);
  const ask = async (raw: Record<string, unknown> = {}) => {
    scene.skip(SECOND_MS); // questions of one moment are in no order
    const { question } = await scene.ask(raw);
    await scene.pass(0);
    // An engine that works may send it itself.
    const states = async () => (await scene.engine.listDeliveries(question.id)).map(({ state }) => state);
    await expect.poll(states, WAIT).toEqual(["sent"]);
    const read = async () => (await scene.engine.read(question.id)).question;
    return { id: question.id, read, status: async () => (await read()).status };
  };
  return { service, scene, ask };
}

test("words that are no reply to a message answer the one question that waits", async () => {
  const { service, scene, ask } = await aChat();
  const { read, status } = await ask();
  await service.write({ text: "B\nit is there already" });
  void scene.engine.work();
  await expect.poll(status, WAIT).toBe("answered");
  expect(await read()).toMatchObject({
    answer: { by: { id: "mika", strength: "person" }, items: { "1": { values: ["Memcached"] } } },
  });
  await service.repeat({ isRenumbered: true });
  await service.write({ text: "hello?" });
  await expect.poll(() => service.responses(), WAIT).toEqual(["No question waits for you here."]);
});

test("the caption of a picture is an answer, and a voice note gets the ways to answer", async () => {
  const { service, scene, ask } = await aChat();
  const { status } = await ask({ allow_text: false });
  await service.write({ voice: { duration: 3 } });
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("Reply with A or B")]);
  expect(await status()).toBe("pending");
  await service.write({ photo: [{}], caption: "A" });
  await expect.poll(status, WAIT).toBe("answered");
});

test("of several questions that wait, the sender says which one, in the words that they are told", async () => {
  const { service, scene, ask } = await aChat();
  const first = await ask();
  const second = await ask({ question: "Which port?", options: ["80", "443"] });
  await service.write({ text: "A" });
  void scene.engine.work();
  const name = (id: typeof first.id) => shortId(id, [first.id, second.id]);
  await expect
    .poll(() => service.responses(), WAIT)
    .toEqual([
      `2 questions wait here. Reply to the message of the one that you answer, tap its button, or send: /answer ${name(first.id)} …, /answer ${name(second.id)} …`,
    ]);
  await service.write({ text: `/answer ${name(first.id)} B` });
  await expect.poll(first.status, WAIT).toBe("answered");
  // What named no question when it was written names none when it comes again.
  expect(await second.status()).toBe("pending");
  await service.write({ text: "/answer q-zzzz A" });
  await expect.poll(() => service.responses().at(-1), WAIT).toContain("No question q-zzzz was sent to you here");
});

test("the same words that come again after another question was answered do not answer the one that is left", async () => {
  const { service, scene, ask } = await aChat();
  const first = await ask();
  const second = await ask({ question: "Which port?", options: ["80", "443"] });
  await service.write({ text: "A" });
  void scene.engine.work();
  await expect.poll(() => service.responses().length, WAIT).toBe(1);
  await scene.engine.answer(second.id, said("1"), ADA);
  await service.repeat({ isRenumbered: true });
  await service.write({ text: "? Which region?" });
  await expect.poll(() => service.responses().length, WAIT).toBe(2);
  expect(await first.status()).toBe("pending");
});

test("an approval is allowed by its button or a reply to its message; words that name neither only deny", async () => {
  const { service, scene, ask } = await aChat();
  for (const raw of [APPROVAL, { ...APPROVAL, risk: "high" }]) {
    const { read, status } = await ask(raw);
    await service.write({ text: "A" });
    await service.write({ text: "yes" });
    void scene.engine.work();
    await expect.poll(() => service.responses().at(-1), WAIT).toContain("tap the button below its message");
    expect(await status()).toBe("pending");
    await service.write({ text: "deny" });
    await expect.poll(status, WAIT).toBe("answered");
    expect(await read()).toMatchObject({ answer: { items: { "1": { values: ["deny"] } } } });
  }
  const { status } = await ask({ question: "Drop the table?", risk: "high" });
  await service.write({ text: "A" });
  await expect.poll(() => service.responses().length, WAIT).toBe(5);
  expect(await status()).toBe("pending");
  await service.say(
    "A",
    CHAT,
    [...service.messages.values()].findLast(({ isResponse }) => !isResponse),
  );
  await expect.poll(status, WAIT).toBe("answered");
});

test("an answer that comes after another one is told so", async () => {
  const { service, scene, ask } = await aChat();
  const { id } = await ask();
  await scene.engine.answer(id, said("2"), ADA);
  await service.write({ text: "Redis" });
  void scene.engine.work();
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("already answered by ada")]);
});

test("whoever only begins to talk is told who they are, and a chat of nobody how to pair it, once in ten minutes", async () => {
  const { service, scene, ask } = await aChat();
  const { read, status } = await ask();
  await service.write({ text: "/start" });
  await service.write({ text: "/help" });
  for (const text of ["/start", "A", "hello"]) await service.write({ text }, STRANGER);
  await service.write({ text: "claim" });
  void scene.engine.work();
  await expect.poll(async () => (await read()).claim?.by.id, WAIT).toBe("mika");
  expect(service.responses()).toEqual(["You are paired as mika. Questions of your agents come here."]);
  expect(service.toStranger).toEqual([
    "This chat belongs to nobody on the list of people. To pair it, type: askd setup telegram",
  ]);
  expect(await status()).toBe("pending");
  scene.skip(11 * MINUTE_MS);
  await service.write({ text: "A" }, STRANGER);
  await expect.poll(() => service.toStranger.length, WAIT).toBe(2);
});
