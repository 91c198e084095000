import { expect, test } from "vitest";
import { listChannels } from "./channel-list.ts";

test("channels are listed with their settings, and addresses without what may be secret in them", () => {
  const channels = listChannels({
    channels: {
      slack: { mode: "socket", channel: "#agents", token_env: "SLACK_TOKEN" },
      email: { to: ["a@example.com", "b@example.com"], smtp: { host: "mail.example.com", port: 587 } },
    },
    notifications: { terminal_bell: true, webhook_url: "https://hooks.slack.com/services/T0/B0/secret" },
  });
  expect(channels).toEqual([
    {
      name: "slack",
      settings: [
        ["mode", "socket"],
        ["channel", "#agents"],
        ["token_env", "SLACK_TOKEN"],
      ],
    },
    {
      name: "email",
      settings: [
        ["to", "a@example.com, b@example.com"],
        ["smtp.host", "mail.example.com"],
        ["smtp.port", "587"],
      ],
    },
    {
      name: "notifications",
      settings: [
        ["terminal_bell", "true"],
        ["webhook_url", "hooks.slack.com/…"],
      ],
    },
  ]);
  expect(listChannels({})).toEqual([]);
});
