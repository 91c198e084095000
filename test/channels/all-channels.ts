import type { Channel } from "../../src/core/channel/channel.ts";
import { channelOpener } from "../../src/channels/channels.ts";
import type { ChannelSettings } from "../../src/core/channel/channel-settings.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { MAIL_SETTINGS } from "./mail-settings.ts";

const SETTINGS: ChannelSettings = {
  telegram: { url: "http://127.0.0.1:1", readToken: () => "1:a" },
  ntfy: {
    url: "http://127.0.0.1:1",
    topic: "questions",
    replyTopic: "answers",
    readToken: () => undefined,
    readReplyToken: () => undefined,
  },
  email: {
    ...MAIL_SETTINGS,
    from: "answers@example.com",
    to: ["team@example.com"],
    authserv: "mx.example.com",
    removesForgedResults: true,
  },
  github: {
    url: "http://127.0.0.1:1",
    repos: ["acme/api"],
    fallback: { repo: "acme/api", number: 1 },
    teams: [],
    mention: [],
    visibility: "summary",
    pollMs: 1_000,
    writeMs: 0,
    readToken: () => "ghp_a",
    app: undefined,
    readHookSecret: () => undefined,
  },
  slack: {
    url: "http://127.0.0.1:1/api",
    mode: "socket",
    channel: "C1",
    mention: undefined,
    hasContext: false,
    readToken: () => "xoxb-1",
    readAppToken: () => "xapp-1",
    readSigningSecret: () => "",
  },
  desktop: { platform: "linux", env: {} },
  apprise: { readUrls: () => "json://127.0.0.1:1" },
};

const WEBHOOKS = ["standard", "slack", "discord", "teams"] as const;
const CHATS = ["discord", "teams", "gchat", "whatsapp", "linear"] as const;

/** Every channel in each of its forms, by a name; nothing of them is sent. */
export async function allChannels(): Promise<Array<{ name: string; channel: Channel }>> {
  const open = (settings: ChannelSettings, name: string) => channelOpener({ settings, outbound: OUTBOUND })(name);
  const plain = Object.keys(SETTINGS).map(async (name) => ({ name, channel: await open(SETTINGS, name) }));
  const webhooks = WEBHOOKS.map(async (format) => {
    const webhook = { readUrl: () => "https://example.com/hook", format, readSecret: () => undefined };
    return { name: `webhook ${format}`, channel: await open({ webhook }, "webhook") };
  });
  const chats = CHATS.map(async (platform) => ({
    name: `chat ${platform}`,
    channel: await open({ chat: chatSettings(platform) }, "chat"),
  }));
  return Promise.all([...plain, ...webhooks, ...chats]);
}

function chatSettings(platform: (typeof CHATS)[number]): NonNullable<ChannelSettings["chat"]> {
  return {
    platform,
    mode: "http",
    channel: "100/500",
    hasContext: false,
    url: undefined,
    appId: "1",
    publicKey: undefined,
    tenantId: undefined,
    readToken: () => "a",
    readSecret: () => "b",
  };
}
