import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CONNECTED, type Envelope, receiveEnvelopes } from "../../src/channels/slack/socket.ts";
import { shortId } from "../../src/core/id.ts";
import { SECOND_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { Rules } from "../../src/core/rules.ts";
import { AGENT } from "../builders.ts";
import { BuiltScene } from "../built.ts";
import { Scene } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { APP_TOKEN, BOT_TOKEN, CHANNEL, MIKA, SlackServer } from "./slack-server.ts";

const ABLE = { hasMentions: true, hasStatuses: true, tellsOfDeletion: true, mayRepeat: true };
const TRAITS = { strength: "person", hasWords: true, ...ABLE } as const;
const WAIT = { timeout: 10_000 };
const AT_ONCE = { web: 0, slack: 0, cli: 0, api: 0 };

channelSuite("Slack", TRAITS, () => SlackServer.start());

async function aScene(over: Partial<Rules> = {}, settings: Parameters<typeof SlackServer.start>[0] = {}) {
  const service = await SlackServer.start(settings);
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true, undoMs: AT_ONCE, ...over },
    openChannel: () => Promise.resolve(service.channel),
  });
  onTestFinished(async () => {
    await scene.engine.stop();
    await service.close();
    expect(service.traffic.problems).toEqual([]);
  });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], slack: MIKA }, SYSTEM);
  void scene.engine.work();
  await expect.poll(() => service.sockets.size, WAIT).toBe(2);
  return { service, scene };
}

type Stage = Awaited<ReturnType<typeof aScene>>;

async function asked({ scene, service }: Stage, raw: Record<string, unknown> = {}) {
  const before = service.shown().length;
  const { question } = await scene.ask(raw);
  await expect.poll(() => service.shown().length, WAIT).toBe(before + 1);
  const status = async () => (await scene.engine.read(question.id)).question.status;
  const press = (label: string) => {
    const buttons = service.shown().at(-1)?.buttons ?? [];
    const found = buttons.find((each) => each.label.startsWith(label));
    if (!found) throw new Error(`no ${label} among ${buttons.map((each) => each.label).join(", ")}`);
    return found.press();
  };
  return { question, status, press };
}

function answerOf(read: Awaited<ReturnType<Scene["engine"]["read"]>>) {
  return read.question.status === "answered" ? read.question.answer : undefined;
}

test("the text of a notification has the form of the first days", async () => {
  const stage = await aScene();
  const { question } = await asked(stage, {
    question: "Which approach?",
    options: ["Add null check (recommended)", "Initialize early"],
    on_timeout: "skip",
    issue: { number: 123 },
  });
  const [kept] = stage.service.messages.values();
  expect(kept?.text.replaceAll("\u2060", "")).toBe(
    [
      "🤖 *Agent Question* - Issue #123",
      "Which approach?",
      "• A) Add null check (recommended)",
      "• B) Initialize early",
      `Reply with: /answer ${shortId(question.id)} A`,
      "⏰ Timeout: 2026-01-02 12:00 UTC (will skip if no response)",
    ].join("\n"),
  );
});

test("four options are buttons, a fifth is in the menu, more are a list; high risk is asked about once more", async () => {
  const stage = await aScene();
  const shapes = async (count: number, raw = {}) => {
    await asked(stage, {
      question: `${count}?`,
      options: Array.from({ length: count }, (_, at) => `Way ${at}`),
      ...raw,
    });
    const actions = [...stage.service.messages.values()].at(-1)?.blocks.find((block) => block.type === "actions");
    return actions?.type === "actions" ? actions.elements : [];
  };
  const types = (elements: Awaited<ReturnType<typeof shapes>>) => elements.map(({ type }) => type).join(" ");
  expect(types(await shapes(4))).toBe("button button button button button overflow");
  const five = await shapes(5);
  expect(types(five)).toBe("button button button button button overflow");
  expect(five.at(-1)).toMatchObject({ options: [{ text: { text: "E) Way 4" }, value: "E" }, {}, {}, {}] });
  expect(types(await shapes(6))).toBe("static_select button overflow");
  const risky = await shapes(2, { risk: "high" });
  expect(risky[0]).toMatchObject({ confirm: { title: { text: "High risk: are you sure?" } } });
  expect(risky.at(-1)).not.toHaveProperty("confirm");
  const menu = await asked(stage, { question: "Menu?", options: ["a", "b", "c", "d", "last"] });
  await menu.press("E) last");
  await expect.poll(menu.status, WAIT).toBe("answered");
});

test("a form takes free text, several items and several choices, and asks the agent back", async () => {
  const stage = await aScene();
  const { service, scene } = stage;
  const opened = async (press: () => Promise<void>) => {
    const before = service.views.length;
    await press();
    await expect.poll(() => service.views.length, WAIT).toBe(before + 1);
  };
  const words = await asked(stage, { question: "Which queue?", options: [] });
  await opened(() => words.press("Write an answer"));
  await service.submit({ "text:0": { type: "plain_text_input", value: "the <blue> one" } });
  await expect.poll(words.status, WAIT).toBe("answered");
  expect(answerOf(await scene.engine.read(words.question.id))?.items).toEqual({
    "1": { values: [], text: "the <blue> one" },
  });

  const items = [
    { header: "cache", text: "Which cache?", options: ["Redis", "Memcached"] },
    { header: "tests", text: "Which tests?", options: ["unit", "end to end", "none"], multiple: true },
  ];
  const several = await asked(stage, { question: undefined, options: undefined, items });
  await opened(() => several.press("Answer"));
  const option = (value: string) => ({ value, text: { type: "plain_text", text: value } });
  await service.submit({
    "choice:0": { type: "radio_buttons", selected_option: option("B") },
    "text:0": { type: "plain_text_input", value: null },
    "choice:1": { type: "checkboxes", selected_options: [option("A"), option("B")] },
    "text:1": { type: "plain_text_input", value: null },
  });
  await expect.poll(several.status, WAIT).toBe("answered");
  const given = Object.values(answerOf(await scene.engine.read(several.question.id))?.items ?? {});
  expect(given.map(({ values }) => values)).toEqual([["Memcached"], ["unit", "end to end"]]);

  const { question } = await scene.engine.ask(scene.input({ question: "Back?" }), SYSTEM);
  await expect.poll(() => service.shown().length, WAIT).toBe(3);
  await opened(async () => {
    await service
      .shown()
      .at(-1)
      ?.buttons.find(({ label }) => label === "Ask the agent back")
      ?.press();
  });
  await service.submit({ clarify: { type: "plain_text_input", value: "for how many users?" } });
  await expect
    .poll(async () => answerOf(await scene.engine.read(question.id)), WAIT)
    .toMatchObject({ outcome: "clarify", note: "for how many users?", by: { id: "mika", strength: "person" } });
});

test("/answer names a question and an answer with its reason; nobody else's counts, and nonsense is explained", async () => {
  const stage = await aScene();
  const { service, scene } = stage;
  const { question, status } = await asked(stage);
  const id = shortId(question.id);
  await service.command(`${id} A`, "U0EVE");
  await expect
    .poll(() => service.notes, WAIT)
    .toMatchObject([{ user: "U0EVE", text: expect.stringContaining("--slack U0EVE") }]);
  await service.command("q-zzzz A");
  await expect.poll(() => service.responses(), WAIT).toEqual(["No question q-zzzz was sent to you here."]);
  await service.command("help");
  await expect.poll(() => service.acknowledgements, WAIT).toMatchObject([{ response_type: "ephemeral" }]);
  expect(await status()).toBe("pending");
  await service.command(`${id} b it is there already`, MIKA, "C0OTHER");
  await expect.poll(status, WAIT).toBe("answered");
  expect(answerOf(await scene.engine.read(question.id))).toMatchObject({
    items: { "1": { values: ["Memcached"] } },
    note: "it is there already",
  });
  // The app may not write there, so the thanks come as a direct message.
  await expect
    .poll(() => service.notes.at(-1), WAIT)
    .toMatchObject({ channel: `D${MIKA}`, text: "Thank you, your answer counts." });
});

test("somebody who is not on the list gets one private note, and a discussion in the thread is not disturbed", async () => {
  const stage = await aScene();
  const { service } = stage;
  const { status } = await asked(stage);
  await service.say("I think A", "U0EVE");
  await service.say("or B?", "U0EVE");
  await service.say("A", "U0BOB");
  await expect.poll(() => service.notes.length, WAIT).toBe(1);
  await service.say("A");
  await expect.poll(status, WAIT).toBe("answered");
  expect(service.notes).toMatchObject([
    { user: "U0EVE", channel: CHANNEL, text: expect.stringMatching(/not on the list/) },
  ]);
});

test("an answer can be taken back for five seconds by a button, and counts afterwards", async () => {
  const stage = await aScene({ undoMs: { web: 0, slack: 5 * SECOND_MS, cli: 0, api: 0 } });
  const { service, scene } = stage;
  const { question, status, press } = await asked(stage);
  const labels = () => service.shown()[0]?.buttons.map(({ label }) => label);
  await press("A)");
  await expect.poll(labels, WAIT).toEqual(["Undo"]);
  await press("Undo");
  await expect.poll(labels, WAIT).toContain("B) Memcached");
  expect(await status()).toBe("pending");
  await press("B)");
  await expect.poll(labels, WAIT).toEqual(["Undo"]);
  await scene.pass(5 * SECOND_MS);
  await expect.poll(status, WAIT).toBe("answered");
  await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("Answered by mika (Slack): Memcached");
  expect(answerOf(await scene.engine.read(question.id))?.items).toMatchObject({ "1": { values: ["Memcached"] } });
  expect(labels()).toEqual([]);
});

test("a question for somebody mentions them and only them, also those of the settings", async () => {
  const stage = await aScene({}, { mention: "@here" });
  await asked(stage, { to: ["mika"], question: "Ask <@U0EVE> or @U0EVE?" });
  const context = [...stage.service.messages.values()][0]?.blocks.find(({ type }) => type === "context");
  expect(context).toMatchObject({ elements: [{ text: `For <!here> <@${MIKA}>` }, {}] });
  expect(stage.service.traffic.everythingSent()).not.toMatch(/<@U0EVE>/);
});

test("without a channel each person gets a direct message, which only they can answer", async () => {
  const stage = await aScene({}, { channel: undefined });
  const { service } = stage;
  const { status, press } = await asked(stage);
  expect([...service.messages.values()]).toMatchObject([{ channel: `D${MIKA}` }]);
  await service.forge();
  await press("A)");
  await expect.poll(status, WAIT).toBe("answered");
  expect(service.notes).toEqual([]);
});

test.each([
  ["that also went to the channel", { subtype: "thread_broadcast", root: { ts: "1700000001.000100" } }],
  ["with a file", { subtype: "file_share", upload: false, files: [{ id: "F1", name: "plan.pdf", size: 3 }] }],
])("a reply in the thread %s counts like any other", async (_name, more) => {
  const stage = await aScene();
  const { question, status } = await asked(stage);
  await stage.service.say("B", MIKA, more);
  await expect.poll(status, WAIT).toBe("answered");
  const read = await stage.scene.engine.read(question.id);
  expect(answerOf(read)).toMatchObject({ by: { id: "mika" }, items: { "1": { values: ["Memcached"] } } });
});

test("a file without words in the thread is told how to answer, and edits, joins and programs are not", async () => {
  const stage = await aScene();
  const { status } = await asked(stage);
  for (const subtype of ["message_changed", "channel_join", "bot_message", "me_message"])
    await stage.service.say("B", MIKA, { subtype });
  await stage.service.say("B", MIKA, { subtype: "thread_broadcast", bot_id: "B1" });
  await stage.service.say("", MIKA, { subtype: "file_share", files: [{ id: "F1", name: "plan.pdf", size: 3 }] });
  await expect
    .poll(() => stage.service.notes.map(({ text }) => text), WAIT)
    .toEqual([expect.stringContaining("Response cannot be empty")]);
  expect(await status()).toBe("pending");
});

test("a screen reader hears which answer a button gives, and that it is recommended", async () => {
  const stage = await aScene();
  await asked(stage, { options: ["Add null check (recommended)", "x".repeat(200)] });
  const actions = [...stage.service.messages.values()].at(-1)?.blocks.find((block) => block.type === "actions");
  const labels = (actions?.type === "actions" ? actions.elements : []).flatMap((element) =>
    element.type === "button" ? (element.accessibility_label ?? []) : [],
  );
  expect(labels).toEqual(["Answer A (recommended): Add null check", expect.stringMatching(/^Answer B: x{60,}…$/)]);
});

test("connections that meet Slack's limit are asked for again after the time that it names", async () => {
  const service = await SlackServer.start();
  service.connectionLimit = { times: 2, retryAfterS: 1 };
  const stop = new AbortController();
  onTestFinished(() => service.close());
  const batches = service.channel.listen?.(undefined, stop.signal, () => Promise.resolve([]));
  const reader = batches?.[Symbol.asyncIterator]();
  expect((await reader?.next())?.value).toMatchObject({ trouble: "Slack limits the rate" });
  await expect.poll(() => service.sockets.size, WAIT).toBe(2);
  const [first = 0, , third = 0] = service.connectionsAskedMs;
  expect(service.connectionsAskedMs).toHaveLength(4);
  expect(third - first).toBeGreaterThanOrEqual(990);
  stop.abort();
  await reader?.return?.();
});

test("a click within a second of a renewal is answered, and so is one after lost connections and failures", async () => {
  const stage = await aScene();
  const { service } = stage;
  const renewed = await asked(stage);
  service.refresh();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const at = performance.now();
  await renewed.press("A)");
  await expect.poll(renewed.status, { ...WAIT, interval: 10 }).toBe("answered");
  // The client's own loop would be deaf for 5 s.
  expect(performance.now() - at).toBeLessThan(3_000);
  const lost = await asked(stage, { question: "Lost?" });
  service.connectionError = "internal_error";
  service.drop();
  await new Promise((resolve) => setTimeout(resolve, 600));
  service.connectionError = undefined;
  await lost.press("B)");
  await expect.poll(lost.status, WAIT).toBe("answered");
}, 30_000);

test("connections that are renewed all day leave nothing behind", async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error) => void warnings.push(name);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const { service } = await aScene();
  const seen = new Set(service.sockets);
  for (let count = 1; count <= 8; count += 1) {
    service.refresh();
    const fresh = () => [...service.sockets].filter((socket) => !seen.has(socket));
    await expect.poll(() => fresh().length, WAIT).toBe(2);
    for (const socket of fresh()) seen.add(socket);
  }
  expect(warnings).toEqual([]);
}, 30_000);

test("a revoked token stops only the listening, and says so where people look", async () => {
  const stage = await aScene();
  const { service, scene } = stage;
  service.connectionError = "token_revoked";
  service.refresh("link_disabled");
  await expect.poll(async () => (await scene.engine.listChannels())[0]?.outage?.why, WAIT).toContain("token_revoked");
  expect((await scene.engine.listChannels())[0]?.outage?.why).toContain("replies are not read");
  // Messages still go out, and other doors still answer.
  const { question, status } = await asked(stage, { question: "Still there?" });
  await scene.engine.answer(
    question.id,
    { answer: "A", outcome: "answer", force: false, confirmed: true, undoMs: 0, resume: true },
    { scope: "human", id: "ada", channel: "cli", strength: "local" },
  );
  expect(await status()).toBe("answered");
  await expect.poll(() => service.shown().at(-1)?.text, WAIT).toContain("Answered by ada");
  expect(service.sockets.size).toBe(0);
});

test("a delivery is acknowledged in time, whatever the store does, and at once if the store is quick", async () => {
  const service = await SlackServer.start();
  const stop = new AbortController();
  onTestFinished(() => service.close());
  const { url, readAppToken } = service.settings;
  const envelopes = receiveEnvelopes({ url, readAppToken, signal: stop.signal, acknowledge: () => undefined });
  const reader = envelopes[Symbol.asyncIterator]();
  /** Reads on to the next delivery, past what tells of connections. */
  const read = async (): Promise<IteratorResult<Envelope>> => {
    const got = await reader.next();
    return !got.done && got.value.type === CONNECTED ? read() : got;
  };
  await service.command("q-zzzz A");
  await read();
  await expect.poll(() => service.acknowledgedMs.length, WAIT).toBe(1);
  expect(service.acknowledgedMs[0]).toBeGreaterThan(1_900);
  expect(service.acknowledgedMs[0]).toBeLessThan(3_000);
  const next = read();
  await service.command("q-yyyy A");
  await next;
  const end = read();
  await expect.poll(() => service.acknowledgedMs.length, WAIT).toBe(2);
  expect(service.acknowledgedMs[1]).toBeLessThan(1_000);
  stop.abort();
  expect(await end).toMatchObject({ done: true });
  expect(service.traffic.problems).toEqual([]);
});

test("while Slack cannot be reached the channel says so, and goes on trying", async () => {
  const service = await SlackServer.start();
  await service.close();
  const stop = new AbortController();
  const batches = service.channel.listen?.(undefined, stop.signal, () => Promise.resolve([]));
  const reader = batches?.[Symbol.asyncIterator]();
  for (let count = 0; count < 3; count += 1)
    expect((await reader?.next())?.value).toMatchObject({ replies: [], trouble: "Slack cannot be reached" });
  stop.abort();
  await reader?.return?.();
});

test("the end of a run is told in the thread of its question", async () => {
  const stage = await aScene();
  const { service, scene } = stage;
  const run = await scene.startedRun();
  const input = scene.input({ hold: "3m" });
  const { question } = await scene.engine.ask(input, AGENT, { runId: run.id, epoch: run.epoch });
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await service.shown()[0]?.buttons[0]?.press();
  await expect.poll(async () => (await scene.engine.read(question.id)).question.status, WAIT).toBe("answered");
  await scene.engine.handOver(question.id);
  await scene.engine.given(question.id, "test");
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  const [asked] = service.messages.values();
  const told = () => [...service.messages.values()].find(({ thread }) => thread !== undefined);
  await expect.poll(told, WAIT).toMatchObject({ thread: asked?.ts, channel: CHANNEL });
  expect(told()?.text.replaceAll("\u2060", "")).toBe("✅ Run #1 has finished");
});

test("a card that Slack refuses is replaced by its text when the question closes", async () => {
  const service = await SlackServer.start();
  onTestFinished(() => service.close());
  const sent = await service.channel.send({ channel: CHANNEL, text: "Old?", blocks: [] });
  const outside = sent.ok ? (sent.outside ?? "") : "";
  const edited = await service.channel.edit?.(outside, { text: "Answered", blocks: [{ type: "header" }] });
  expect(edited).toMatchObject({ ok: true });
  expect([...service.messages.values()]).toMatchObject([{ text: "Answered", blocks: [] }]);
  expect(service.traffic.problems).toHaveLength(1);
});

test("setup slack goes from nothing to an answered test question, and keeps the tokens to itself", async () => {
  const service = await SlackServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const file = (name: string, text: string) => {
    const path = join(scene.home, name);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return path;
  };
  const tokens = ["--token-file", file("bot", BOT_TOKEN), "--app-token-file", file("app", APP_TOKEN)];
  const setUp = scene.follow("setup", "slack", CHANNEL, "--server", `${service.base}/api`, "--member", MIKA, ...tokens);
  await expect.poll(() => service.shown().length, { timeout: 60_000, interval: 200 }).toBe(1);
  await service.shown()[0]?.buttons[0]?.press();
  expect(await setUp.ended).toMatchObject({ exit: 0, stderr: expect.stringContaining("It works.") });
  expect(setUp.stderr()).toContain("@askd in Acme");
  expect(setUp.stderr()).not.toContain(BOT_TOKEN);
  expect(service.traffic.problems).toEqual([]);
  expect(service.shown()[0]?.text).toContain("Answered by");
}, 120_000);
