import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chatChannel } from "../../src/channels/chat/chat.ts";
import { PLATFORMS } from "../../src/channels/chat/platform.ts";
import type { ChatSettings } from "../../src/core/channel/channel-settings.ts";
import { CHAT_PLATFORMS } from "../../src/core/channel/chat-platform.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { BuiltScene } from "../built.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { DISCORD_TOKEN, DiscordServer, MIKA } from "./discord-server.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { TeamsServer } from "./teams-server.ts";

const ABLE = { hasMentions: true, hasStatuses: true, tellsOfDeletion: true, mayRepeat: true };
const TRAITS = { strength: "person", hasWords: true, hasMarkdownLinks: true, ...ABLE } as const;
const WAIT = { timeout: 10_000 };

channelSuite("Discord", TRAITS, () => DiscordServer.start());
channelSuite("Teams", TRAITS, () => TeamsServer.start());

async function aScene(over: Partial<ChatSettings> = {}) {
  const service = await DiscordServer.start(over);
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], chat: MIKA }, SYSTEM);
  void scene.engine.work();
  const ask = async (raw: Record<string, unknown> = {}) => {
    const { question } = await scene.ask(raw);
    await expect.poll(() => service.shown().length, WAIT).toBeGreaterThan(0);
    return async () => (await scene.engine.read(question.id)).question;
  };
  return { service, scene, ask };
}

test("without a channel each person gets a direct message, and a bare word there answers the question that waits", async () => {
  const { service, ask } = await aScene({ channel: undefined });
  const read = await ask();
  await expect.poll(() => service.sockets.size, WAIT).toBe(1);
  await service.say("memcached", MIKA, { isReply: false });
  await expect.poll(async () => (await read()).status, WAIT).toBe("answered");
  expect(await read()).toMatchObject({ answer: { by: { id: "mika", channel: "chat", strength: "person" } } });
});

test("a reply opens no thread, and somebody who is not on the list is told how they get there, in private or not", async () => {
  const { service, ask } = await aScene();
  const read = await ask();
  service.closed.add("6600");
  await service.forge();
  const texts = () => [...service.messages.values()].map(({ components }) => JSON.stringify(components));
  await expect.poll(() => texts().some((text) => text.includes("--chat 6600")), WAIT).toBe(true);
  await service.say("B");
  await expect.poll(async () => (await read()).status, WAIT).toBe("answered");
  expect(service.threads).toBe(0);
});

test.each([
  ["a token that was revoked", { code: 4_004, refusal: undefined, token: "another" }, /refuses the token/],
  ["a bot that may not read messages", { code: 4_014, refusal: 4_014, token: undefined }, /may not read messages/],
])("%s stops the listening with a clear state, and nothing else", async (_name, { code, refusal, token }, why) => {
  const { service, scene } = await aScene();
  await expect.poll(() => service.sockets.size, WAIT).toBe(1);
  const before = service.token;
  service.token = token ?? before;
  service.refusal = refusal;
  service.drop(code);
  await expect.poll(async () => (await scene.engine.listChannels())[0]?.outage?.why, WAIT).toMatch(why);
  service.token = before;
  await scene.ask({ question: "Still there?" });
  await expect.poll(() => service.shown().at(-1)?.text, WAIT).toContain("Still there?");
});

test("a lost connection is opened again", async () => {
  const { service, ask } = await aScene();
  const read = await ask();
  await expect.poll(() => service.sockets.size, WAIT).toBe(1);
  service.drop(4_009);
  await expect.poll(() => service.sockets.size, WAIT).toBe(0);
  await service.shown()[0]?.buttons[0]?.press();
  await expect.poll(async () => (await read()).status, WAIT).toBe("answered");
}, 30_000);

test("a request in Microsoft's name counts only with Microsoft's signature, by Microsoft's own library", async () => {
  const service = await TeamsServer.start({ adapterOptions: {} });
  onTestFinished(() => service.close());
  const channel = chatChannel(service.settings, OUTBOUND);
  const activity = { type: "message", id: "1", text: "A", from: { id: "29:x" }, conversation: { id: "a:1" } };
  for (const authorization of [undefined, "Bearer x", "Basic eA=="]) {
    const header = (name: string) => (name === "authorization" ? authorization : "application/json");
    expect(await channel.readHook?.({ header, body: JSON.stringify(activity) })).toBeUndefined();
  }
});

test("a service whose adapter is not installed says what to type, and loses no message", async () => {
  const service = await DiscordServer.start();
  onTestFinished(() => service.close());
  const channel = chatChannel({ ...service.settings, platform: "whatsapp", mode: "http" }, OUTBOUND);
  await expect(channel.verify()).rejects.toMatchObject({
    message: "WhatsApp needs a package that is not installed: @chat-adapter/whatsapp",
    hint: "Type: npm install -g @chat-adapter/whatsapp@4.41",
  });
  const card = { type: "card", children: [] };
  expect(await channel.send({ account: "4917", card })).toMatchObject({ ok: false, isRefused: true });
});

test("the built command loads the adapter and gets an answer", async () => {
  const service = await DiscordServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const secret = join(scene.home, "chat-token");
  writeFileSync(secret, DISCORD_TOKEN, { mode: 0o600 });
  const setup = ["--app-id", "1000", "--token-file", secret, "--server", `${service.base}/api/v10`, "--member", MIKA];
  const done = scene.type("setup", "chat", "discord", "100/500", ...setup);
  await expect.poll(() => service.shown()[0]?.buttons.length, { timeout: 60_000 }).toBe(2);
  await service.shown()[0]?.buttons[0]?.press();
  const { exit, stderr } = await done;
  expect({ exit, stderr }).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("answered through chat. It works."),
  });
  expect(service.shown()[0]?.text).toMatch(/Answered by \S+ \(chat\): Yes/);
  expect(service.traffic.problems).toEqual([]);
}, 120_000);

test.each(CHAT_PLATFORMS)("a place of %s is the same after a way through its adapter's words", async (name) => {
  const places = {
    discord: "100/500",
    teams: "19:agents@thread.tacv2",
    gchat: "spaces/AAA/threads/BBB",
    whatsapp: "4917",
    linear: "issue-1",
  };
  const service = await DiscordServer.start();
  onTestFinished(() => service.close());
  const { thread, read } = PLATFORMS[name];
  const settings = { ...service.settings, platform: name };
  expect(read(thread({ place: places[name] }, settings)).place).toBe(places[name]);
});
