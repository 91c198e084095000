import type { Channel, OpenChannel } from "../core/channel/channel.ts";
import type { ChannelSettings } from "../core/channel/channel-settings.ts";
import { Refusal } from "../core/refusal.ts";
import type { Outbound } from "./outbound.ts";

export interface ChannelDeps {
  settings: ChannelSettings;
  outbound: Outbound;
}

type ChannelName = keyof ChannelSettings;

/** The channels of askd; each is loaded when it is first used. */
const CHANNELS: Readonly<Record<ChannelName, (deps: ChannelDeps) => Promise<Channel | undefined>>> = {
  telegram: async ({ settings: { telegram }, outbound }) =>
    telegram && (await import("./telegram/telegram.ts")).telegramChannel(telegram, outbound),
  ntfy: async ({ settings: { ntfy }, outbound }) =>
    ntfy && (await import("./ntfy/ntfy.ts")).ntfyChannel(ntfy, outbound),
  email: async ({ settings: { email }, outbound }) =>
    email && (await import("./email/email.ts")).emailChannel(email, outbound),
  github: async ({ settings: { github }, outbound }) =>
    github && (await import("./github/github.ts")).githubChannel(github, outbound),
  slack: async ({ settings: { slack }, outbound }) =>
    slack && (await import("./slack/slack.ts")).slackChannel(slack, outbound),
  chat: async ({ settings: { chat }, outbound }) =>
    chat && (await import("./chat/chat.ts")).chatChannel(chat, outbound),
  webhook: async ({ settings: { webhook }, outbound }) =>
    webhook && (await import("./webhook/webhook.ts")).webhookChannel(webhook, outbound),
  desktop: async ({ settings: { desktop }, outbound }) =>
    desktop && (await import("./desktop/desktop.ts")).desktopChannel(desktop, outbound),
  apprise: async ({ settings: { apprise }, outbound }) =>
    apprise && (await import("./apprise/apprise.ts")).appriseChannel(apprise, outbound),
};

/** Opens configured channels by name, each once. */
export function channelOpener(deps: ChannelDeps): OpenChannel {
  const opened = new Map<string, Channel>();
  return async (name) => {
    const known = opened.get(name);
    if (known) return known;
    const channel = isChannel(name) ? await CHANNELS[name](deps) : undefined;
    if (!channel) {
      throw new Refusal("bad_input", `The channel ${name} is not configured here`, {
        hint: `Type: askd setup ${name}`,
      });
    }
    opened.set(name, channel);
    return channel;
  };
}

function isChannel(name: string): name is ChannelName {
  return Object.hasOwn(CHANNELS, name);
}
