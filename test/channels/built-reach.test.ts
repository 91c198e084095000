import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { BuiltScene } from "../built.ts";
import { HEADLESS, QUESTION } from "../hooked.ts";
import { hookInput } from "../hooks.ts";
import { LoopbackServer } from "./loopback-server.ts";
import { NtfyServer } from "./ntfy-server.ts";
import { CHAT, TOKEN, TelegramServer } from "./telegram-server.ts";

const WAIT = { timeout: 30_000, interval: 200 };

/** What a client writes to `askd mcp` that posts a question and leaves. */
const POSTED = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a-client", version: "1" } },
  },
  { method: "notifications/initialized" },
  {
    id: 2,
    method: "tools/call",
    params: { name: "post_question", arguments: { question: "Which cache?", options: ["Redis", "Memcached"] } },
  },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

async function withNtfy() {
  const service = await NtfyServer.start({ isOpen: true });
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const set = (key: string, value: string) => scene.type("config", "set", "--user", key, value);
  await set("channels.ntfy.url", service.base);
  await set("channels.ntfy.topic", "askd-q-9f3k");
  await set("channels.ntfy.reply_topic", "askd-a-7h2m");
  return { service, scene };
}

async function jsonOf(scene: BuiltScene, ...argv: string[]): Promise<unknown> {
  return JSON.parse((await scene.type(...argv, "--json")).stdout.toString());
}

test("a question that is asked with nothing running reaches a phone, is answered there, and everything says so", async () => {
  const { service, scene } = await withNtfy();
  const asked = await scene.type("ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached");
  expect(asked.exit).toBe(0);
  const id = asked.stdout.toString().trim();
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  expect(await jsonOf(scene, "channels")).toMatchObject([{ name: "ntfy", failing: null }]);
  const shown = await scene.type("show", id);
  expect(shown.stdout.toString()).toMatch(/Told: ntfy sent/);
  await service.shown()[0]?.buttons[1]?.press();
  await expect.poll(() => jsonOf(scene, "check", id), WAIT).toMatchObject({ status: "answered", answer: "Memcached" });
  await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("Answered by ntfy");
  expect(await jsonOf(scene, "show", id)).toMatchObject({
    questions: [{ notified_at: expect.any(String), deliveries: [{ channel: "ntfy", state: "closed" }] }],
  });
  expect(service.traffic.problems).toEqual([]);
}, 120_000);

test("a claim and an answer with nothing running start a worker for the message that people have", async () => {
  const { service, scene } = await withNtfy();
  await scene.type("ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached");
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await scene.endWorkers();
  expect((await scene.type("claim", "1")).exit).toBe(0);
  await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("is on it");
  await scene.endWorkers();
  expect((await scene.type("answer", "1", "Redis")).exit).toBe(0);
  await expect.poll(() => service.shown()[0]?.text, WAIT).toMatch(/Answered by \S+ \(cli\): Redis/);
  expect(service.shown()[0]?.buttons).toEqual([]);
}, 120_000);

test("in CI the command says that nobody is told, and with --wait it tells people itself", async () => {
  const { service, scene } = await withNtfy();
  const asked = await scene.typeWith({ CI: "1" }, "ask", "Deploy?", "-o", "yes", "-o", "no");
  expect(asked.stderr).toMatch(/Nobody is told yet \(ntfy\).*askd worker/);
  expect(service.shown()).toEqual([]);
  const waiting = scene.typeWith({ CI: "1" }, "ask", "Release?", "-o", "yes", "-o", "no", "--wait", "40s");
  await expect.poll(() => service.shown().some(({ text }) => text.includes("Release?")), WAIT).toBe(true);
  await service
    .shown()
    .find(({ text }) => text.includes("Release?"))
    ?.buttons[0]?.press();
  expect(await waiting).toMatchObject({ exit: 0, stdout: Buffer.from("yes\n") });
}, 120_000);

test.each(["hook", "mcp"])(
  "a question that comes through askd %s with nothing running is told and answered after its agent has gone",
  async (door) => {
    const { service, scene } = await withNtfy();
    const env = { ...HEADLESS, AGENTS_OWN_KEY: "sk-of-the-agent" };
    const ended = await (door === "hook"
      ? scene.typeInto({ text: JSON.stringify(hookInput(QUESTION)) }, env, "hook", "claude", "--hold", "1s")
      : scene.typeInto({ text: POSTED, until: `"id":2` }, env, "mcp", "--tools", "post_question"));
    expect(ended.exit).toBe(0);
    await expect.poll(() => service.shown().length, WAIT).toBe(1);
    const [worker, ...others] = scene.workers();
    expect(others).toEqual([]);
    expect(readFileSync(`/proc/${worker}/environ`, "utf8")).not.toMatch(/sk-of-the-agent|CLAUDE/);
    await service.shown()[0]?.buttons[0]?.press();
    await expect.poll(() => jsonOf(scene, "show", "1"), WAIT).toMatchObject({ questions: [{ status: "answered" }] });
    await expect.poll(() => service.shown()[0]?.text, WAIT).toContain("Answered by ntfy");
  },
  120_000,
);

test("in CI a hook brings the messages itself while it holds the call, and starts nothing", async () => {
  const { service, scene } = await withNtfy();
  const hooked = scene.typeInto(
    { text: JSON.stringify(hookInput(QUESTION)) },
    { ...HEADLESS, CI: "1" },
    "hook",
    "claude",
    "--hold",
    "40s",
  );
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  expect(scene.workers()).toEqual([]);
  await service.shown()[0]?.buttons[0]?.press();
  const { exit, stdout } = await hooked;
  expect(exit).toBe(0);
  expect(stdout.toString()).toContain("Redis");
}, 120_000);

test("a dry run shows exactly what would leave, and asks nothing", async () => {
  const { service, scene } = await withNtfy();
  const secret = "hunter2hunter2hunter2";
  const shown = await scene.typeWith({ API_TOKEN: secret }, "ask", `Is ${secret} fine?`, "--dry-run", "--via", "ntfy");
  expect(shown.exit).toBe(0);
  expect(shown.stdout.toString()).toContain('"title": "Is [redacted] fine?"');
  expect(shown.stdout.toString()).not.toContain(secret);
  expect(service.shown()).toEqual([]);
  expect(await jsonOf(scene, "list")).toEqual([]);
}, 60_000);

test("setup ntfy goes from nothing to an answered test question, and test and doctor --send send one again", async () => {
  const service = await NtfyServer.start({ isOpen: true });
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const setUp = scene.type("setup", "ntfy", "--server", service.base);
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await service.shown()[0]?.buttons[0]?.press();
  const { exit, stderr } = await setUp;
  expect(stderr).toMatch(/subscribe to: askd-q-[0-9a-f]{32}/);
  expect(stderr).toContain("It works.");
  expect(exit).toBe(0);
  const before = service.traffic.requests();
  const open = () => service.shown().find(({ buttons }) => buttons.length > 0);
  const tested = scene.type("test", "ntfy");
  await expect.poll(open, WAIT).toBeDefined();
  await open()?.buttons[0]?.press();
  expect(await tested).toMatchObject({ exit: 0, stderr: expect.stringContaining("It works.") });
  const between = service.traffic.requests();
  expect(between).toBeGreaterThan(before);
  const sent = await scene.type("doctor", "--send");
  expect(sent.stdout.toString()).toMatch(/✓.*ntfy/);
  expect(service.traffic.requests()).toBeGreaterThan(between);
}, 120_000);

test("setup telegram pairs an account and asks a test question there", async () => {
  const service = await TelegramServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const file = join(scene.home, "token");
  writeFileSync(file, TOKEN, { mode: 0o600 });
  const setUp = scene.follow("setup", "telegram", "--token-file", file, "--server", service.base);
  await expect.poll(() => setUp.stderr(), WAIT).toMatch(/start=[\w-]+/);
  await service.say(`/start ${/start=([\w-]+)/.exec(setUp.stderr())?.[1] ?? ""}`, CHAT);
  await expect.poll(() => service.shown().length, WAIT).toBe(1);
  await service.shown()[0]?.buttons[0]?.press();
  expect(await setUp.ended).toMatchObject({ exit: 0, stderr: expect.stringContaining("It works.") });
  expect(setUp.stderr()).not.toContain(TOKEN);
  expect(service.traffic.problems).toEqual([]);
}, 120_000);

test("setup webhook posts a signed test, and says what the receiver needs to check it", async () => {
  const service = new LoopbackServer();
  const posts: Array<{ text: string; headers: Record<string, string> }> = [];
  service.handle = ({ text, headers }, response) => {
    posts.push({ text, headers: headers as Record<string, string> });
    response.writeHead(204).end();
  };
  const url = `${await service.listen()}/hook`;
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  await scene.type("config", "set", "--user", "callbacks.allow_loopback", "true");
  const { exit, stderr } = await scene.type("setup", "webhook", url);
  expect([exit, stderr]).toEqual([0, expect.stringContaining("The test message was sent.")]);
  const file = /The secret that signs messages is in (\S+);/.exec(stderr)?.[1] ?? "";
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [first, ...later] = posts.map(({ text, headers }) =>
    new Webhook(readFileSync(file, "utf8")).verify(text, headers),
  );
  expect(first).toMatchObject({ type: "question.asked", data: { text: expect.stringContaining("This is a test") } });
  expect(later).toMatchObject([{ type: "question.changed", data: { question: { status: "closed" } } }]);
}, 60_000);

test("a bad token is said in plain words", async () => {
  const service = await TelegramServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const file = join(scene.home, "token");
  writeFileSync(file, "999:wrongwrongwrongwrongwrong", { mode: 0o600 });
  await scene.type("setup", "telegram", "--token-file", file, "--server", service.base, "--no-test");
  const { exit, stderr } = await scene.type("test", "telegram");
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(/Unauthorized|refuses/);
  expect(stderr).not.toContain("wrongwrong");
}, 60_000);

test("Telegram without a paired account reaches nobody: ask, status and channels say so, and what to type", async () => {
  const service = await TelegramServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  const file = join(scene.home, "token");
  writeFileSync(file, TOKEN, { mode: 0o600 });
  await scene.type("setup", "telegram", "--token-file", file, "--server", service.base, "--no-test");
  const nobody = "Nobody is told through Telegram: no account is paired yet. Type: askd setup telegram";
  const asked = await scene.type("ask", "Deploy?", "-o", "yes", "-o", "no", "--risk", "high");
  expect(asked.exit).toBe(0);
  expect(asked.stderr).toContain(nobody);
  expect(asked.stderr).toContain("nobody can answer it before an account is paired");
  expect((await scene.type("status")).stderr).toContain(nobody);
  expect((await scene.type("channels")).stdout.toString()).toContain(nobody);
  expect(await jsonOf(scene, "channels")).toMatchObject([{ name: "telegram", recipients: 0 }]);
}, 120_000);

test.each(["http://example.com/hook", "http://127.0.0.1:9/hook", "https://10.0.0.1/hook", "nonsense"])(
  "setup webhook %s is refused at once, and writes nothing",
  async (url) => {
    const scene = new BuiltScene();
    const { exit, stderr } = await scene.type("setup", "webhook", url);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/Nothing would be sent there|This is no address/);
    expect(await jsonOf(scene, "channels")).toEqual([]);
  },
  60_000,
);
