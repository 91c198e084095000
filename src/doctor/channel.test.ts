import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { engineOn } from "../app.ts";
import { loadConfig } from "../config/load.ts";
import { parseAsk } from "../core/question/ask-input.ts";
import { webhookChannel } from "../channels/webhook/webhook.ts";
import { AGENT } from "../../test/builders.ts";
import { OUTBOUND } from "../../test/channels/loopback-server.ts";
import { NtfyServer } from "../../test/channels/ntfy-server.ts";
import { TelegramServer } from "../../test/channels/telegram-server.ts";
import { WebhookServer } from "../../test/channels/webhook-server.ts";
import { ROOMY } from "../../test/scene.ts";
import { Ward } from "../../test/ward.ts";
import { sendTests } from "./test-message.ts";

/** The content of the user's own file. */
async function settings(ward: Ward, text: string) {
  const userFile = join(ward.root, "config.toml");
  writeFileSync(userFile, text, { mode: 0o600 });
  return loadConfig({
    env: { ASKD_CONFIG_SYSTEM: join(ward.root, "none") },
    cwd: ward.project,
    homeDir: ward.home,
    userFile,
  });
}

describe("a channel", () => {
  test("whose credential is missing is found", async () => {
    const ward = new Ward();
    const config = await settings(ward, '[channels.telegram]\ntoken_env = "MY_BOT"\n');
    expect(await ward.troubles({ config })).toEqual([
      "channel_credential: The variable MY_BOT, which channels.telegram.token_env names, is not set: nobody is told through it",
    ]);
    const env = { ...ward.env, MY_BOT: "123:abc" };
    expect(await ward.troubles({ config, env })).toEqual([]);
    const said = (await ward.look({ config, env })).filter(({ area }) => area === "channels");
    expect(said).toContainEqual(expect.objectContaining({ subject: "telegram", level: "ok" }));
  });

  test("that lacks what it needs is not called good", async () => {
    const ward = new Ward();
    const config = await settings(ward, '[channels.github]\ntoken_env = "GITHUB"\n');
    expect(await ward.troubles({ config })).toContain("channel_credential: names no repo: nobody is told through it");
  });

  test("whose secret others can read, or that names no credential at all, is found", async () => {
    const ward = new Ward();
    const file = join(ward.root, "secret");
    writeFileSync(file, "x", { mode: 0o644 });
    const config = await settings(
      ward,
      `[channels.webhook]\nformat = "slack"\n[channels.ntfy]\ntopic = "a"\ntoken_file = "${file}"\n`,
    );
    expect(await ward.troubles({ config })).toEqual([
      "channel_credential: names no url: nobody is told through it",
      expect.stringContaining(`Others can read ${file}`),
    ]);
  });

  test("whose certificate others can read is fine: it is no secret", async () => {
    const ward = new Ward();
    const file = join(ward.root, "ca.pem");
    writeFileSync(file, "x", { mode: 0o644 });
    const lines = ["[channels.email]", 'from = "askd@example.com"', 'smtp = { host = "localhost" }'];
    const config = await settings(ward, `${lines.join("\n")}\nca_file = "${file}"\n`);
    expect((await ward.troubles({ config })).join("\n")).not.toContain("Others can read");
  });

  test("that fails is found with the reason and the way to try it, and one that works says when it sent last", async () => {
    const service = await WebhookServer.start("standard");
    onTestFinished(() => service.close());
    const rules = { ...ROOMY, reach: [service.reach] };
    const ward = new Ward({ rules });
    const config = await settings(ward, '[channels.webhook]\nurl = "https://example.com/hook"\n');
    const sayChannel = async () => {
      const found = (await ward.look({ config })).filter(({ subject }) => subject === "webhook");
      return found.map(({ code, level, text, fix }) => ({ code, level, text, fix }));
    };
    const tell = () =>
      ward.withStore(async (store) => {
        const openChannel = () => Promise.resolve(service.channel);
        const engine = engineOn(store, { rules, openChannel, onFailure: () => undefined });
        await engine.ask(parseAsk({ question: "Which?" }, { via: "cli" }, rules, await engine.now()), AGENT);
        await engine.doDue();
      });
    await tell();
    expect(await sayChannel()).toEqual([
      { code: "channel", level: "ok", text: expect.stringMatching(/last sent \d{4}-/), fix: undefined },
    ]);
    service.traffic.fail({ status: 500 });
    await tell();
    expect(await sayChannel()).toEqual([
      {
        code: "channel_failing",
        level: "problem",
        text: expect.stringMatching(/^has failed since \d{4}-.*500/),
        fix: "askd test webhook",
      },
    ]);
  });

  test("that is not set up is no problem", async () => {
    const found = (await new Ward().look()).filter(({ area }) => area === "channels");
    expect(found).toMatchObject([
      { subject: "bell", level: "ok" },
      { subject: "desktop, github, slack, chat, email, webhook, ntfy, telegram, apprise", level: "off" },
    ]);
  });
});

test("settings that are wrong are found, with the line", async () => {
  const ward = new Ward();
  const config = await settings(ward, '[questions]\nlive_window = "soon"\nmax_per_runs = 3\n');
  expect(await ward.troubles({ config })).toEqual([
    expect.stringMatching(/^settings_wrong: .*config\.toml:2:\d+: questions\.live_window cannot be "soon"/),
    expect.stringMatching(/^settings_wrong: .*config\.toml:3:\d+: There is no setting "questions.max_per_runs"/),
  ]);
});

describe("a test message", () => {
  const at = { listPeople: () => Promise.resolve([]), ring: () => true };
  const rules = (name: string) => ({ ...ROOMY, reach: [{ name, person: undefined, isPersonal: name === "telegram" }] });

  test("really goes to the webhook, signed, and to ntfy", async () => {
    for (const service of [await WebhookServer.start("standard"), await NtfyServer.start()]) {
      const openChannel = () => Promise.resolve(service.channel);
      const found = await sendTests({ ...at, rules: rules(service.reach.name), openChannel });
      expect(found.map(({ subject, text }) => `${subject}: ${text}`)).toEqual([
        "bell: test sent",
        `${service.reach.name}: test sent`,
      ]);
      expect(service.traffic.everythingSent()).toContain("This is a test");
      expect(service.traffic.problems).toEqual([]);
      await service.close();
    }
  });

  test("that does not get through is a problem, and so is a channel without people", async () => {
    const service = await TelegramServer.start();
    const openChannel = () => Promise.resolve(service.channel);
    const found = await sendTests({ ...at, rules: rules("telegram"), openChannel, ring: () => false });
    expect(found).toMatchObject([
      { subject: "bell", level: "off", text: "not rung: this is not a terminal" },
      { subject: "telegram", level: "problem", text: expect.stringContaining("askd setup telegram") },
    ]);
    const nowhere = webhookChannel(
      { readUrl: () => "http://127.0.0.1:2/", format: undefined, readSecret: () => undefined },
      OUTBOUND,
    );
    const failed = await sendTests({ ...at, rules: rules("webhook"), openChannel: () => Promise.resolve(nowhere) });
    expect(failed[1]).toMatchObject({ level: "problem", text: expect.stringContaining("ECONNREFUSED") });
    await service.close();
  });
});
