import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

/** The variables that say where things are; the settings are in a file. */
function anOwnPlace(settings = "") {
  const dir = mkdtempSync(join(tmpdir(), "askd-background-"));
  onTestFinished(() => removeFolder(dir));
  writeFileSync(join(dir, "config.toml"), settings, { mode: 0o600 });
  return { ASKD_HOME: "/h", ASKD_CONFIG_DIR: dir, ASKD_CONFIG_SYSTEM: "/s/config.toml" };
}

const SETTINGS = `
[notifications]
language = "en"
[channels.telegram]
token_env = "BOT_TOKEN"
[channels.desktop]
enabled = true
[hooks.ci]
secret_env = "CI_SECRET"
[audit]
anchor_url = "https://example.com/anchor"
anchor_secret_env = "ANCHOR_SECRET"
[workflows]
secrets = ["DEPLOY_KEY"]
`;
const NAMED = {
  BOT_TOKEN: "123:abc",
  CI_SECRET: "shared-with-ci",
  ANCHOR_SECRET: "shared-with-the-anchor",
  DEPLOY_KEY: "a-key",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus",
  DISPLAY: ":0",
  WAYLAND_DISPLAY: "wayland-0",
  TZ: "Europe/Berlin",
};

/** The environment of the process that a command starts in the background. */
async function envOf(argv: readonly string[], env: Record<string, string>) {
  let started: Readonly<Record<string, string | undefined>> = {};
  const reach = [{ name: "desktop", person: "ada", isPersonal: false }];
  await type(new Scene({ rules: { reach } }), argv, {
    env,
    isLocked: () => Promise.resolve(false),
    detach: (child) => {
      started = child.env;
      return Promise.reject(new Error("it is not started here"));
    },
  });
  return started;
}

test("a server in the background has the same settings as the command that starts it", async () => {
  const own = { ...anOwnPlace(), ASKD_PORT: "0" };
  expect(await envOf(["service", "start"], { ...own, SECRET_TOKEN: "x" })).toEqual(own);
});

test.each([
  { what: "server", argv: ["service", "start"] },
  { what: "worker", argv: ["ask", "Redis or Memcached?"] },
])(
  "a $what in the background reaches every channel that its starter reaches, and knows no other secret",
  async (row) => {
    const env = { ...anOwnPlace(SETTINGS), ...NAMED };
    expect(await envOf(row.argv, { ...env, AGENTS_OWN_KEY: "sk-1" })).toEqual(env);
  },
);
