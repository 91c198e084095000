import { expect, onTestFinished, test } from "vitest";
import { channelOpener } from "../../src/channels/channels.ts";
import type { Outbound } from "../../src/channels/outbound.ts";
import { findChannelSettings, reachOf } from "../../src/config/reach.ts";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { ADA, AGENT } from "../builders.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { OUTBOUND } from "./loopback-server.ts";
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

test("a program reads everything from fields: question, run with what is only claimed, deadline and where to answer", async () => {
  const service = await WebhookServer.start("standard");
  const rules = { reach: [service.reach], publicUrl: "https://askd.example.com" };
  const scene = new Scene({ rules, openChannel: () => Promise.resolve(service.channel) });
  onTestFinished(async () => {
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  const raw = { risk: "low", confidence: 0.62, on_timeout: "default", default_answer: "redis" };
  const options = [{ label: "Redis", value: "redis", recommended: true }, { label: "Memcached" }];
  const run = { name: "add-caching", agent: "claude", repo: "acme/api", branch: "feature/add-caching" };
  const { question } = await scene.engine.ask(scene.input({ ...raw, options }), AGENT, { run });
  await scene.pass(0);
  const url = `https://askd.example.com/q/${question.id}`;
  expect(JSON.parse(service.traffic.everythingSent())).toMatchObject({
    type: "question.asked",
    data: {
      question: {
        id: question.id,
        url,
        options: [{ key: "A", value: "redis", label: "Redis", recommended: true }, { key: "B" }],
        risk: "low",
        risk_source: "asker",
        confidence: 0.62,
        on_timeout: { action: "default", answer: "redis" },
      },
      run: {
        number: 1,
        agent: "claude",
        repo: "acme/api",
        branch: "feature/add-caching",
        unverified: ["agent", "repo"],
      },
      answer_url: `https://askd.example.com/api/v1/questions/${question.id}/answer`,
    },
  });
});

test.each([
  ["https://hooks.slack.com/services/T0/B0/abc", "slack"],
  ["https://discord.com/api/webhooks/1/abc", "discord"],
  ["https://discordapp.com/api/webhooks/1/abc", "discord"],
  ["https://canary.discord.com/api/webhooks/1/abc", "discord"],
  ["https://ptb.discord.com/api/webhooks/1/abc", "discord"],
  ["https://example.webhook.office.com/webhookb2/a", "teams"],
  ["https://prod-1.westeurope.logic.azure.com/workflows/a/triggers/manual/paths/invoke", "teams"],
  ["https://prod-1.westeurope.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke", "teams"],
  ["https://default1.a2.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/a", "teams"],
  ["https://example.com/discord.com/api/webhooks/1", "standard"],
  ["https://discord.com.example.com/api/webhooks/1/abc", "standard"],
  ["https://evil-discord.com/api/webhooks/1/abc", "standard"],
  ["https://discord.com/channels/1", "standard"],
  ["https://logic.azure.com.example.com/", "standard"],
] as const)("webhook_url alone posts to %s in the form %s", async (url, format) => {
  const posts: Array<{ url: string; body: string }> = [];
  const post: Outbound["post"] = (to, { body }) => {
    posts.push({ url: to, body });
    return Promise.resolve({ ok: true, isFinal: false, why: "" });
  };
  const values = { notifications: { webhook_url: url } };
  const openChannel = channelOpener({ settings: findChannelSettings(values, {}), outbound: { ...OUTBOUND, post } });
  const scene = new Scene({ rules: { reach: reachOf(values) }, openChannel });
  await scene.ask();
  await scene.pass(0);
  expect(posts).toMatchObject([{ url }]);
  const body: unknown = JSON.parse(posts[0]?.body ?? "");
  const fields = { slack: "text", discord: "content", teams: "attachments", standard: "data" };
  expect(body).toHaveProperty(fields[format]);
});
