import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { slackManifest } from "../../src/cli/commands/reach/setup-slack.ts";
import { ConfigHome } from "../config-home.ts";
import { Scene } from "../scene.ts";
import { type } from "../typed.ts";
import { SlackManifest } from "./slack-manifest.ts";

type Manifest = ReturnType<typeof slackManifest>;

const TOKENS = "xapp-1-A0-123-abcdef xoxb-1-2-abcdefghijk\n";

function piped(text: string, home = new ConfigHome()) {
  const { home: homeDir, project: cwd, userFile } = home;
  const stdin = { isTty: false, readAll: () => Promise.resolve(text), readLine: () => Promise.resolve(undefined) };
  return { home, userFile, world: { stdin, homeDir, cwd, env: { ASKD_CONFIG_SYSTEM: home.systemFile } } };
}

test("setup slack takes both tokens from a pipe, in any order, into files of their own", async () => {
  const { world, userFile, home } = piped(TOKENS);
  const { exit, stderr } = await type(new Scene(), ["setup", "slack", "#agents", "--no-test"], world);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(stderr).toContain("https://api.slack.com/apps?new_app=1&manifest_json=%7B%22_metadata%22");
  expect(stderr).not.toMatch(/xoxb-1-2|xapp-1-A0/);
  const folder = join(home.home, ".config/askd");
  for (const [name, start] of [
    ["slack-token", "xoxb-1-2"],
    ["slack-app-token", "xapp-1-A0"],
  ] as const) {
    expect(readFileSync(join(folder, name), "utf8")).toContain(start);
    expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  }
  expect(readFileSync(userFile, "utf8")).toMatch(/\[channels\.slack\][^[]*mode = "socket"[^[]*channel = "#agents"/);
});

test.each([
  ["one token is missing", "xoxb-1-2-abcdefghijk", ["setup", "slack"], /no app-level token.*\n.*xapp-…/s],
  ["something else is pasted", "hunter2", ["setup", "slack"], /no token of a bot/],
  ["nothing is piped", "", ["setup", "slack"], /Pipe the bot's token and the app-level token in.*--token-file/],
  ["one token is missing", "xoxb-1-2-abcdefghijk", ["setup", "slack"], /app-level token in.*--app-token-file/],
  ["the member is none", TOKENS, ["setup", "slack", "--member", "ada"], /no member ID/],
  ["Slack cannot reach this server", TOKENS, ["setup", "slack", "--http"], /server\.public_url/],
])("nothing is set up if %s", async (_why, text, argv, words) => {
  const { world, userFile } = piped(text);
  const { exit, stderr } = await type(new Scene(), [...argv, "--no-test"], world);
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(words);
  expect(() => readFileSync(userFile, "utf8")).toThrow(/ENOENT/);
});

test("for requests the signing secret is piped beside the token, or named as a file", async () => {
  const setUp = async (text: string, ...flags: string[]) => {
    const { world, home, userFile } = piped(text);
    home.write(userFile, '[server]\npublic_url = "https://askd.example.com/"\n');
    const done = await type(new Scene(), ["setup", "slack", "--http", "--no-test", ...flags], world);
    return { ...done, settings: readFileSync(userFile, "utf8") };
  };
  const alone = await setUp("xoxb-1-2-abcdefghijk");
  expect(alone.exit).not.toBe(0);
  expect(alone.stderr).toMatch(/no signing secret.*\n.*Pipe the bot's token and the signing secret in.*--secret-file/s);
  const both = await setUp(`${"0a".repeat(16)} xoxb-1-2-abcdefghijk`);
  expect(both).toMatchObject({ exit: 0, settings: expect.stringContaining("slack-signing-secret") });
  const named = await setUp("", "--token-file", "/run/bot", "--secret-file", "/run/signing");
  expect(named).toMatchObject({ exit: 0, settings: expect.stringContaining('signing_secret_file = "/run/signing"') });
});

test("the manifest is printed alone, for connections and for requests to a public address", async () => {
  const print = async (...flags: string[]) => {
    const { world, home, userFile } = piped("");
    home.write(userFile, '[server]\npublic_url = "https://askd.example.com/"\n');
    const { stdout, exit } = await type(new Scene(), ["setup", "slack", "--manifest", ...flags], world);
    expect(exit).toBe(0);
    return { text: stdout, manifest: SlackManifest.parse(JSON.parse(stdout)) };
  };
  expect((await print()).manifest.settings.socket_mode_enabled).toBe(true);
  const { text, manifest } = await print("--http");
  expect(manifest.settings.socket_mode_enabled).toBe(false);
  expect(text.match(/"https:\/\/askd\.example\.com\/hooks\/slack"/g)).toHaveLength(3);
});

test.each([
  ["a field that Slack does not document", (manifest: Manifest) => ({ ...manifest, socket_mode: true })],
  ["a name over its limit", (manifest: Manifest) => ({ ...manifest, display_information: { name: "a".repeat(36) } })],
  ["an event without its scope", (manifest: Manifest) => ({ ...manifest, oauth_config: { scopes: { bot: [] } } })],
])("the schema of a manifest finds %s", (_what, spoil) => {
  const manifest = slackManifest({ isHttp: false }, new Scene());
  expect(SlackManifest.safeParse(manifest).error).toBeUndefined();
  expect(SlackManifest.safeParse(spoil(manifest)).success).toBe(false);
});
