import { expect, onTestFinished, test } from "vitest";
import { HOUR_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { type Directory, EMPTY_DIRECTORY } from "../../src/core/people/directory.ts";
import { ADA } from "../builders.ts";
import { ROOMY, Scene, said } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { MIKA, SlackServer } from "./slack-server.ts";
import { CHAT, TelegramServer } from "./telegram-server.ts";

const ABLE = { hasMentions: true, hasStatuses: true, tellsOfDeletion: true, mayRepeat: true };
const TRAITS = { strength: "person", hasWords: true, ...ABLE } as const;

const WAIT = { timeout: 10_000 };

channelSuite("Telegram", TRAITS, () => TelegramServer.start());

async function aScene(directory: Directory = EMPTY_DIRECTORY) {
  const service = await TelegramServer.start();
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true, directory },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  return { service, scene };
}

async function pair({ engine }: Scene, service: TelegramServer) {
  const { text: code } = await engine.issueToken({ scope: "login", subject: "mika", grants: "telegram" }, SYSTEM);
  void engine.work();
  await service.say(`/start ${code}`);
}

test("an account that the settings name is paired", async () => {
  const { scene } = await aScene({ people: { mika: { telegram: "501" } }, groups: {} });
  expect(await scene.engine.listChannels()).toMatchObject([{ name: "telegram", recipients: 1 }]);
});

test("questions that waited before anybody was paired come after pairing, and high risk can be answered there", async () => {
  const { service, scene } = await aScene();
  const { question } = await scene.ask({ risk: "high" });
  await scene.pass(0);
  expect(service.shown()).toEqual([]);
  expect(await scene.engine.listChannels()).toMatchObject([{ name: "telegram", recipients: 0 }]);
  await pair(scene, service);
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await service.shown()[0]?.buttons[0]?.press();
  await expect.poll(async () => (await scene.engine.read(question.id)).question.status, WAIT).toBe("answered");
  expect(await scene.engine.listChannels()).toMatchObject([{ name: "telegram", recipients: 1 }]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("a vote in one channel shows in the other, and a veto in the other closes the message in both", async () => {
  const [telegram, slack] = [await TelegramServer.start(), await SlackServer.start()];
  const scene = new Scene({
    rules: {
      reach: [telegram.reach, slack.reach],
      personChannel: true,
      undoMs: { ...ROOMY.undoMs, slack: 0 },
    },
    openChannel: (name) => Promise.resolve(name === "slack" ? slack.channel : telegram.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    for (const service of [telegram, slack]) {
      await service.close();
      expect(service.traffic.problems).toEqual([]);
    }
  });
  await scene.engine.putPerson({ id: "lena", version: 0, groups: [], slack: MIKA }, SYSTEM);
  await pair(scene, telegram);
  await expect.poll(() => telegram.responses().length, WAIT).toBe(1);
  const tool = { name: "Bash", input: { command: "make deploy" } };
  const { question } = await scene.ask({
    kind: "approval",
    tool,
    approvals: { need: 2, from: ["mika", "lena"], veto: true },
  });
  const texts = () => [telegram, slack].map((service) => service.shown().at(-1)?.text ?? "");
  const press = (service: TelegramServer | SlackServer, label: RegExp) =>
    service
      .shown()
      .at(-1)
      ?.buttons.find((button) => label.test(button.label))
      ?.press();
  await expect.poll(() => texts().every((text) => text.includes("make deploy")), WAIT).toBe(true);
  await press(telegram, /Allow/);
  await expect.poll(() => texts().every((text) => text.includes("1 of 2")), WAIT).toBe(true);
  await press(slack, /Deny/);
  await expect
    .poll(() => texts().every((text) => /Answered by .*lena.* \(Slack\): Deny \(veto\)/.test(text)), WAIT)
    .toBe(true);
  expect([telegram, slack].flatMap((service) => service.shown().at(-1)?.buttons)).toEqual([]);
  expect((await scene.engine.read(question.id)).question.status).toBe("answered");
});

test("a tap and a reply that come again in another update count once, and nobody is told that they are late", async () => {
  const { service, scene } = await aScene();
  await pair(scene, service);
  await expect.poll(() => service.responses().length, WAIT).toBe(1);
  for (const act of [() => service.shown().at(-1)?.buttons[1]?.press(), () => service.say("A")]) {
    const { question, run } = await scene.ask({ question: `Which? ${String(act)}` });
    await expect.poll(async () => (await scene.engine.listDeliveries(question.id))[0]?.state, WAIT).toBe("sent");
    await act();
    await expect.poll(async () => (await scene.engine.read(question.id)).question.status, WAIT).toBe("answered");
    await service.repeat({ isRenumbered: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types).not.toContain("question.late_reply");
  }
  expect(service.responses()).toHaveLength(1);
});

test("every press is acknowledged, also a late one that was told before", async () => {
  const { service, scene } = await aScene();
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], telegram: String(CHAT) }, SYSTEM);
  const { question } = await scene.ask();
  await scene.pass(0);
  const button = service.shown()[0]?.buttons[0];
  await scene.engine.answer(question.id, said("2"), ADA);
  for (let times = 0; times < 3; times += 1) await button?.press();
  void scene.engine.work();
  await expect.poll(() => service.acknowledged, WAIT).toBe(3);
  expect(service.responses()).toHaveLength(1);
});

test("a reply to a reminder answers its question", async () => {
  const { service, scene } = await aScene();
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], telegram: String(CHAT) }, SYSTEM);
  const { question } = await scene.ask({ timeout: "10h" });
  await scene.pass(0);
  await scene.pass(5 * HOUR_MS);
  const reminder = [...service.messages.values()].at(-1);
  expect(reminder?.text).toContain("Reminder 1");
  void scene.engine.work();
  await service.say("B", CHAT, reminder);
  await expect.poll(async () => (await scene.engine.read(question.id)).question.status, WAIT).toBe("answered");
});

test("a person reads and is answered in the language of their row", async () => {
  const { service, scene } = await aScene();
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], language: "de" }, SYSTEM);
  await pair(scene, service);
  await expect.poll(() => service.responses(), WAIT).toEqual([expect.stringContaining("als mika gekoppelt")]);
  const { question } = await scene.ask({ allow_text: false, risk: "high", options: ["Redis (recommended)", "No"] });
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  const [shown] = service.shown();
  expect(shown?.text).toContain("A) Redis (empfohlen)");
  expect(shown?.text).toContain("Tippen Sie, oder antworten Sie auf diese Nachricht mit A oder B.");
  expect(shown?.text).toContain("Hohes Risiko");
  expect(shown?.buttons.map(({ label }) => label)).toContain("Ich mache das");
  await service.say("vielleicht");
  await expect.poll(() => service.responses().at(-1), WAIT).toContain("Antworten Sie mit A oder B.");
  await service.say("Ich mache das");
  await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("mika kümmert sich darum");
  await service.shown()[0]?.buttons[0]?.press();
  await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("Beantwortet von mika (Telegram): Redis");
  await expect.poll(() => service.notices.at(-1), WAIT).toBe("Danke, Ihre Antwort zählt.");
  expect((await scene.engine.read(question.id)).question.status).toBe("answered");
});

test("code is shown as code, and a block that is cut ends before the deadline", async () => {
  const { service, scene } = await aScene();
  await pair(scene, service);
  await expect.poll(() => service.responses().length, WAIT).toBe(1);
  const code = "```ts\nconst a = <T>(b: T) => b && 1;\n```";
  await scene.ask({ context: `Use \`a<b>\` like this:\n${code}\nor not` });
  const htmlOf = (count: number) => () =>
    [...service.messages.values()].filter((each) => !each.isResponse)[count]?.text;
  await expect
    .poll(htmlOf(0), WAIT)
    .toContain(
      'Use <code>a&lt;b&gt;</code> like this:\n<pre><code class="language-ts">const a = &lt;T&gt;(b: T) =&gt; b &amp;&amp; 1;</code></pre>\nor not',
    );
  await scene.ask({ question: "Long?", context: `\`\`\`\n${"x < y\n".repeat(2_000)}\`\`\`` });
  await expect.poll(htmlOf(1), WAIT).toMatch(/<pre>(x &lt; y\n)+[^<]*…?<\/pre>\s+⏰ By/);
});

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
