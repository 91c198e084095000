import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { NtfyServer } from "../../test/channels/ntfy-server.ts";
import { TOKEN, TelegramServer } from "../../test/channels/telegram-server.ts";
import { Terminal } from "../../test/tmux.ts";

/** Starts a command in a terminal, which shows how it ended; `{dir}` in the command is its home. */
function start(command: string, scene: BuiltScene, more: Readonly<Record<string, string>> = {}) {
  const env = { HOME: scene.home, ASKD_HOME: scene.home, ASKD_NO_SERVICE: "1", ...more };
  const terminal = new Terminal({ columns: 120, rows: 60, cwd: scene.project, env });
  terminal.enter(`'${process.execPath}' '${BIN}' ${command.replaceAll("{dir}", scene.home)}; echo "exit was $?"`);
  return terminal;
}

const SLACK_FILES = "--token-file {dir}/token --app-token-file {dir}/token";

test.each([
  ["setup telegram", /paste the token here:/],
  ["setup email ada@gmail.com", /Paste the password/],
  ["setup github acme/api", /paste the token here:/],
  ["setup chat discord --app-id 1 --public-key 00", /Paste /],
  ["setup apprise", /Paste the addresses/],
  ["setup slack", /paste the Bot User OAuth Token/],
  ["setup slack --token-file {dir}/token", /and paste it \(xapp-…\)/],
  [`setup slack ${SLACK_FILES}`, /Paste your own member ID/],
])("Ctrl-C at the prompt of askd %s exits with 130", async (command, prompt) => {
  const scene = new BuiltScene();
  writeFileSync(join(scene.home, "token"), "xoxb-1-2-abcdefghijk", { mode: 0o600 });
  const terminal = start(command, scene);
  await terminal.shows(prompt);
  terminal.press("C-c");
  const screen = await terminal.shows(/exit was \d+/);
  expect(screen).toContain("exit was 130");
  expect(screen).not.toContain("error:");
});

test("Ctrl-C while askd next --follow waits for a question, in lines, exits with 130", async () => {
  const scene = new BuiltScene();
  await scene.typeWith({ ASKD_NO_SERVICE: "1" }, "ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached");
  const terminal = start("next --follow --undo-window 0s", scene, { ASKD_ACCESSIBLE: "1" });
  await terminal.shows(/Your answer/);
  terminal.enter("1");
  await terminal.shows(/Answered: Redis/);
  terminal.press("C-c");
  expect(await terminal.shows(/exit was \d+/)).toContain("exit was 130");
});

test("Ctrl-C at the test question of askd init exits with 130", async () => {
  const scene = new BuiltScene();
  const terminal = start("init --client claude", scene, { ASKD_NO_SERVICE: "" });
  await terminal.shows(/Go ahead\?/);
  terminal.press("Enter");
  await terminal.shows(/1 Yes {3}2 No\n +>/);
  terminal.press("C-c");
  expect(await terminal.shows(/exit was \d+/)).toMatch(/The agents are wired\.[\s\S]*exit was 130/);
});

test("Ctrl-C while setup telegram waits for the account exits with 130", async () => {
  const service = await TelegramServer.start();
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  writeFileSync(join(scene.home, "token"), TOKEN, { mode: 0o600 });
  const terminal = start(`setup telegram --token-file {dir}/token --server ${service.base}`, scene);
  await terminal.shows(/within 10 minutes/);
  terminal.press("C-c");
  expect(await terminal.shows(/exit was \d+/)).toContain("exit was 130");
});

test("Ctrl-C while askd test waits for the answer exits with 130 and withdraws the question", async () => {
  const service = await NtfyServer.start({ isOpen: true });
  onTestFinished(() => service.close());
  const scene = new BuiltScene();
  for (const [key, value] of [
    ["url", service.base],
    ["topic", "askd-q-9f3k"],
    ["reply_topic", "askd-a-7h2m"],
  ] as const) {
    await scene.type("config", "set", "--user", `channels.ntfy.${key}`, value);
  }
  const terminal = start("test ntfy", scene);
  await terminal.shows(/Waiting for 2 minutes/);
  terminal.press("C-c");
  expect(await terminal.shows(/exit was \d+/)).toContain("exit was 130");
  const { stdout } = await scene.type("list", "--json=status");
  expect(JSON.parse(stdout.toString())).toEqual([{ status: "cancelled" }]);
});

test("a pasted token is not shown", async () => {
  const terminal = start("setup telegram", new BuiltScene());
  await terminal.shows(/not shown/);
  terminal.enter("hunter2-and-more");
  expect(await terminal.shows(/exit was 2/)).not.toContain("hunter2");
});
