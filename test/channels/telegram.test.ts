import { expect, test } from "vitest";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { CHAT, TelegramServer } from "./telegram-server.ts";

const TRAITS = { strength: "person", hasWords: true, hasMentions: true, hasStatuses: true } as const;

channelSuite("Telegram", TRAITS, () => TelegramServer.start());

test("an account is paired by a code that works once, and questions come there from then on", async () => {
  const service = await TelegramServer.start();
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true },
    openChannel: () => Promise.resolve(service.channel),
  });
  void scene.engine.work();
  const { text: code } = await scene.engine.issueToken({ scope: "login", subject: "mika", grants: "telegram" }, SYSTEM);
  await expect(scene.engine.redeemLogin(code, SYSTEM)).rejects.toThrow(/not valid/);
  await service.say("/start nonsense");
  await expect.poll(() => service.responses().join(), { timeout: 10_000 }).toContain("not valid");
  await service.say(`/start ${code}`);
  await expect.poll(() => service.responses().join(), { timeout: 10_000 }).toContain("paired as mika");
  expect(await scene.engine.findPerson("mika")).toMatchObject({ telegram: String(CHAT) });
  await service.say(`/start ${code}`);
  await expect.poll(() => service.responses().length, { timeout: 10_000 }).toBe(3);
  await scene.engine.putPerson({ id: "mika", version: 0, groups: ["ops"] }, SYSTEM);
  const { question } = await scene.ask();
  expect(question.deliveries).toMatchObject([{ channel: "telegram", person: "mika" }]);
  await expect.poll(() => service.shown().length, { timeout: 10_000 }).toBe(1);
  await scene.engine.stop();
  await service.close();
  expect(service.traffic.problems).toEqual([]);
});
