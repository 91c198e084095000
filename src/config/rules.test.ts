import { expect, test } from "vitest";
import { DEFAULT_RULES } from "../core/rules.ts";
import { channelsOf, findChannelSettings, reachOf } from "./reach.ts";
import { rulesOf } from "./rules.ts";
import { DEFAULTS, Values } from "./schema.ts";

test("what is shown as the default is what the product does", () => {
  expect(rulesOf(Values.parse(DEFAULTS))).toEqual(DEFAULT_RULES);
  expect(rulesOf({})).toEqual(DEFAULT_RULES);
});

test.each([
  ["nothing", {}, false],
  ["ways that anybody can use who has them", { ntfy: { topic: "x" }, webhook: {}, desktop: { enabled: true } }, false],
  ["mail that is only sent", { email: { to: ["a@example.com"], smtp: { host: "mail.example.com" } } }, false],
  ["mail whose senders nobody checks", { email: { imap: { host: "mail.example.com" } } }, false],
  ["mail whose senders the server checks", { email: { authserv: "mx.example.com" } }, true],
  ["Slack", { slack: { channel: "#agents" } }, true],
  ["GitHub, whose token nobody has set", { github: { token_env: "NOBODY_HAS_SET_THIS" } }, true],
  ["a section without a line", { slack: {} }, true],
])("high risk needs a proven identity with %s configured: %j -> %s", (_what, channels, isNeeded) => {
  expect(rulesOf(Values.parse({ channels })).personChannel).toBe(isNeeded);
});

test("the short forms in [notifications] stand for settings of channels, which win over them", () => {
  const notifications = {
    terminal_bell: false,
    macos_notification: true,
    webhook_url: "https://hooks.example.com/x",
  };
  const mac = { platform: "darwin", user: "ada" };
  const linux = { platform: "linux", user: "ada" };
  const short = {
    terminal: { bell: false },
    desktop: { enabled: true },
    webhook: { url: "https://hooks.example.com/x" },
  };
  expect(channelsOf({ notifications }, mac)).toEqual(short);
  expect(channelsOf({ notifications }, linux)).toEqual({ terminal: short.terminal, webhook: short.webhook });
  const channels = { terminal: { bell: true }, desktop: { enabled: false }, webhook: { url_env: "HOOK" } };
  expect(channelsOf({ notifications, channels }, mac)).toEqual(channels);
  expect(reachOf({ notifications }, mac).map(({ name, person }) => [name, person])).toEqual([
    ["desktop", "ada"],
    ["webhook", undefined],
  ]);
  expect(reachOf({ notifications }, linux).map(({ name }) => name)).toEqual(["webhook"]);
});

test.each([
  [undefined, "C1", false],
  [undefined, undefined, true],
  ["full", "C1", true],
  ["summary", undefined, false],
] as const)(
  "visibility %s with the channel %s: the context of questions is shown -> %s",
  (visibility, channel, isShown) => {
    const section = { channel, visibility };
    const { slack, chat } = findChannelSettings(
      { channels: { slack: section, chat: { platform: "discord", ...section } } },
      {},
    );
    expect([slack?.hasContext, chat?.hasContext]).toEqual([isShown, isShown]);
  },
);
