import { expect, onTestFinished, test } from "vitest";
import { HOUR_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { WebhookServer } from "./webhook-server.ts";

const TELLS = { strength: undefined, hasWords: false, hasStatuses: true, isPublic: true };

channelSuite("webhook, signed", { ...TELLS, hasMentions: false }, () => WebhookServer.start("standard"));
for (const format of ["slack", "discord", "teams"] as const) {
  channelSuite(`webhook for ${format}`, { ...TELLS, hasMentions: true }, () => WebhookServer.start(format));
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
