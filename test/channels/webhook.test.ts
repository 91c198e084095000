import { expect, onTestFinished, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { WebhookServer } from "./webhook-server.ts";

const TELLS = { strength: undefined, hasWords: false, hasStatuses: true, isPublic: true };

channelSuite("webhook, signed", { ...TELLS, hasMentions: false }, () => WebhookServer.start("standard"));
for (const format of ["slack", "discord", "teams"] as const) {
  const traits = { ...TELLS, hasMentions: true, hasMarkdownLinks: format !== "slack" };
  channelSuite(`webhook for ${format}`, traits, () => WebhookServer.start(format));
}

test.each([401, 403, 404])(
  "an address that refuses with %i is reported at once, and works when it is put right",
  async (status) => {
    const service = await WebhookServer.start("standard");
    const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
    onTestFinished(() => service.close());
    service.traffic.fail({ status });
    const { question } = await scene.ask();
    await scene.pass(0);
    const [delivery] = await scene.engine.listDeliveries(question.id);
    expect(delivery).toMatchObject({ state: "due", failure: { why: expect.stringContaining(`status ${status}`) } });
    expect((await scene.engine.listChannels())[0]?.outage?.why).toContain(`status ${status}`);
    const types = (await scene.engine.readChain(question.runId)).map(({ event }) => event.type);
    expect(types).toContain("question.delivery_failed");
    await scene.pass(HOUR_MS);
    expect(service.shown()).toHaveLength(1);
    expect((await scene.engine.listChannels())[0]?.outage).toBeUndefined();
  },
);

test.each(["standard", "slack"] as const)(
  "%s: only the first message asks; what follows says what changed",
  async (format) => {
    const service = await WebhookServer.start(format);
    const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
    onTestFinished(async () => {
      await scene.engine.stop();
      await service.close();
      expect(service.traffic.problems).toEqual([]);
    });
    const { question } = await scene.ask({ on_timeout: { type: "escalate", steps: [{ after: "1h", to: ["lena"] }] } });
    await scene.pass(0);
    const { id } = question;
    const acts = [
      () => scene.engine.claim(id, ADA),
      () => scene.engine.release(id, ADA),
      () => scene.engine.extend(id, HOUR_MS, ADA),
    ];
    for (const act of acts) {
      await act();
      await scene.pass(0);
    }
    if (format === "standard") {
      expect(service.types).toEqual(["question.asked", "question.changed", "question.changed", "question.changed"]);
      return;
    }
    expect(service.traffic.requests()).toBe(2);
    expect(service.shown()[0]?.text).toContain("By 2026-01-02 13:00 UTC");
    expect(service.shown()[0]?.text).not.toContain("Memcached\n");
  },
);

test("each change has an id of its own, also if it brings back what was there before, and keeps it when it is tried again", async () => {
  const service = await WebhookServer.start("standard");
  const scene = new Scene({ rules: { reach: [service.reach] }, openChannel: () => Promise.resolve(service.channel) });
  onTestFinished(() => service.close());
  const { question } = await scene.ask({ timeout: "10h" });
  await scene.pass(0);
  for (const act of ["claim", "release", "claim", "release"] as const) {
    await scene.engine[act](question.id, ADA);
    await scene.pass(0);
  }
  expect(service.types).toHaveLength(5);
  expect(new Set(service.ids).size).toBe(5);
  service.traffic.fail({ status: 503 }, 2);
  await scene.engine.claim(question.id, ADA);
  for (const seconds of [0, 10, 60]) await scene.pass(seconds * SECOND_MS);
  expect(service.types).toHaveLength(6);
  expect(service.ids).toHaveLength(8);
  expect(new Set(service.ids).size).toBe(6);
  await scene.engine.release(question.id, ADA);
  await scene.pass(5 * HOUR_MS);
  await scene.pass(0);
  expect(service.types.at(-1)).toBe("question.reminded");
  expect(new Set(service.ids).size).toBe(8);
});
