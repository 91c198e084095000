import { expect, onTestFinished, test } from "vitest";
import { readHook } from "../../src/channels/slack/hook.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { Instant } from "../../src/core/instant.ts";
import type { Store } from "../../src/store/store.ts";
import { hooksPart } from "../../src/server/hooks.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { Scene } from "../scene.ts";
import { ServedScene } from "../served.ts";
import { bringForgedHooks, hookOf, signHook } from "./forged-hook.ts";
import { MIKA, SlackServer } from "./slack-server.ts";

const WAIT = { timeout: 10_000 };
const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

async function aStage(
  settings: Parameters<typeof SlackServer.start>[0] = { mode: "http" },
  store?: (now: () => Instant) => Store,
) {
  const service = await SlackServer.start(settings);
  const scene = new Scene({
    rules: { reach: [service.reach], personChannel: true, undoMs: { web: 0, slack: 0, cli: 0, api: 0 } },
    openChannel: () => Promise.resolve(service.channel),
    store,
  });
  await scene.engine.putPerson({ id: "mika", version: 0, groups: [], slack: MIKA }, SYSTEM);
  const bugs: unknown[] = [];
  const part = hooksPart({ receive: scene.local.receiveHook, onBug: (error) => bugs.push(error) });
  const served = await ServedScene.start({ parts: [part] }, scene);
  onTestFinished(async () => {
    await served.stop();
    await service.close();
    expect([...service.traffic.problems, ...bugs]).toEqual([]);
  });
  const post = (hook: ReturnType<typeof signHook>) =>
    fetch(`${served.url}/hooks/slack`, { method: "POST", headers: hook.headers, body: hook.body });
  return { service, scene, post };
}

const nowS = () => Math.floor(Date.now() / 1000);

function sign(body: string, type: string) {
  return signHook(body, type, { at: nowS() });
}

test("the example that Slack publishes is signed, and no other", () => {
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const headers = {
    "content-type": FORM,
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };
  const at = { secret: "8f742231b10e8888abcd99yyyzzz85a5", nowMs: 1_531_420_618_000 };
  expect(readHook(hookOf({ body, headers }), at)).toMatchObject({
    replies: [],
    response: { text: expect.stringContaining("/answer") },
  });
  expect(readHook(hookOf({ body: `${body} `, headers }), at)).toBeUndefined();
  expect(readHook(hookOf({ body, headers }), { ...at, nowMs: at.nowMs + 301_000 })).toBeUndefined();
  expect(readHook(hookOf({ body, headers }), { ...at, nowMs: at.nowMs - 301_000 })).toBeUndefined();
});

test("of forged and mutated requests none is accepted, and genuine ones are read", () => {
  expect(bringForgedHooks(3_000, 7)).toEqual({ forged: 3_000, accepted: 0, genuine: 3 });
});

test("a press, a command and a thread reply come by signed requests, and count once however often they come", async () => {
  const { service, scene, post } = await aStage();
  const challenge = sign(JSON.stringify({ type: "url_verification", challenge: "c1" }), JSON_TYPE);
  expect(await (await post(challenge)).json()).toEqual({ challenge: "c1" });
  const press = async () => {
    await service.shown().at(-1)?.buttons[1]?.press();
    return sign(new URLSearchParams({ payload: JSON.stringify(service.last?.payload) }).toString(), FORM);
  };
  const said = async () => {
    await service.say("B");
    return sign(JSON.stringify(service.last?.payload), JSON_TYPE);
  };
  const command = async (id: string) => {
    await service.command(`${id} B`);
    const pairs = Object.entries(service.last?.payload ?? {});
    const fields = pairs.map(([key, value]): [string, string] => [key, String(value)]);
    return sign(new URLSearchParams(fields).toString(), FORM);
  };
  for (const bring of [press, said, command]) {
    const { question } = await scene.ask({ question: `Which, ${bring.name}?` });
    await scene.pass(0);
    const hook = await bring(question.id);
    const replies = await Promise.all([post(hook), post(hook), post({ ...hook, body: `${hook.body} ` })]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 401]);
    const { question: now, run } = await scene.engine.read(question.id);
    expect(now).toMatchObject({ status: "answered", answer: { by: { id: "mika", strength: "person" } } });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.filter((type) => type === "question.answered")).toHaveLength(1);
  }
  await scene.pass(0);
  await expect
    .poll(() => service.shown().map(({ text }) => text.includes("Answered by mika (Slack)")), WAIT)
    .toEqual([true, true, true]);
});

test("the address does not exist where replies come over connections", async () => {
  const { post } = await aStage({ mode: "socket" });
  expect((await post(sign("{}", JSON_TYPE))).status).toBe(404);
});

test("a request is responded to in time, whatever the store does, and counts once the store goes on", async () => {
  const store = { waits: Promise.resolve(), letGo: () => undefined as void };
  class SlowStore extends MemoryStore {
    override async commit(...given: Parameters<MemoryStore["commit"]>) {
      await store.waits;
      return super.commit(...given);
    }
  }
  const { service, scene, post } = await aStage({ mode: "http" }, (now) => new SlowStore(now));
  const { question } = await scene.ask();
  await scene.pass(0);
  await service.shown().at(-1)?.buttons[1]?.press();
  store.waits = new Promise((resolve) => (store.letGo = resolve));
  const startedAt = performance.now();
  const payload = JSON.stringify(service.last?.payload);
  const reply = await post(sign(new URLSearchParams({ payload }).toString(), FORM));
  expect(reply.status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  store.letGo();
  await expect.poll(async () => (await scene.engine.read(question.id)).question.status, WAIT).toBe("answered");
});
