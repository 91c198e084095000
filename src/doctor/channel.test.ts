import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { instant } from "../core/instant.ts";
import { ROOMY } from "../../test/scene.ts";
import { Ward } from "../../test/ward.ts";
import { sendTests } from "./send.ts";

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
    const config = await settings(ward, '[channels.github]\ntoken_env = "MY_GITHUB"\nmode = "poll"\n');
    expect(await ward.troubles({ config })).toEqual([
      "channel_credential: The variable MY_GITHUB, which channels.github.token_env names, is not set: nobody is told through it",
    ]);
    const env = { ...ward.env, MY_GITHUB: "ghp_x" };
    expect(await ward.troubles({ config, env })).toEqual([]);
    const said = (await ward.look({ config, env })).filter(({ area }) => area === "channels");
    expect(said).toContainEqual(expect.objectContaining({ subject: "github", level: "ok", text: "(token, poll)" }));
  });

  test("whose secret others can read, or that names no credential at all, is found", async () => {
    const ward = new Ward();
    const file = join(ward.root, "secret");
    writeFileSync(file, "x", { mode: 0o644 });
    const config = await settings(
      ward,
      `[channels.slack]\nchannel = "#agents"\n[channels.ntfy]\ntopic = "a"\ntoken_file = "${file}"\n`,
    );
    expect(await ward.troubles({ config })).toEqual([
      "channel_credential: names no token: nobody is told through it",
      expect.stringContaining(`Others can read ${file}`),
    ]);
  });

  test("that is not set up is no problem", async () => {
    const found = (await new Ward().look()).filter(({ area }) => area === "channels");
    expect(found).toMatchObject([
      { subject: "bell", level: "ok" },
      { subject: "desktop, github, slack, email, webhook, ntfy", level: "off" },
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
  const now = instant(Date.now());
  const at = { env: {}, platform: "linux" as const, rules: ROOMY, now, ring: () => true };

  test("really goes to the webhook, signed, and to ntfy", async () => {
    const got: Array<{ path: string; headers: Record<string, unknown>; body: string }> = [];
    const server = createServer((request, reply) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        got.push({ path: request.url ?? "", headers: request.headers, body });
        reply.writeHead(204).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    const channels = { webhook: { url, secret_env: "HOOK" }, ntfy: { url, topic: "a b" } };
    const found = await sendTests({ channels }, { ...at, env: { HOOK: secret } });
    expect(found.map(({ subject, text }) => `${subject}: ${text}`)).toEqual([
      "bell: test sent",
      "webhook: test sent",
      "ntfy: test sent",
    ]);
    const signed = got.find(({ path }) => path === "/");
    expect(new Webhook(secret).verify(signed?.body ?? "", signed?.headers as Record<string, string>)).toMatchObject({
      type: "test",
    });
    expect(got.map(({ path }) => path)).toContain("/a%20b");
  });

  test("that does not get through is a problem", async () => {
    const found = await sendTests(
      { notifications: { webhook_url: "http://127.0.0.1:2/" } },
      { ...at, ring: () => false },
    );
    expect(found).toMatchObject([
      { subject: "bell", level: "off", text: "not rung: this is not a terminal" },
      { subject: "webhook_url", level: "problem", text: expect.stringContaining("ECONNREFUSED") },
    ]);
  });
});
