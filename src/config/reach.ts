import type { ChannelSettings } from "../core/channel/channel-settings.ts";
import { Refusal } from "../core/refusal.ts";
import type { ReachChannel } from "../core/rules.ts";
import { readSecret } from "./secret.ts";
import type { Values } from "./schema.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Channels = NonNullable<Values["channels"]>;

const NTFY_URL = "https://ntfy.sh";
const TELEGRAM_URL = "https://api.telegram.org";

/** The configured channels; the short forms in `[notifications]` stand for their sections. */
export function channelsOf({ channels = {}, notifications = {} }: Values): Channels {
  const { webhook_url: url } = notifications;
  if (url === undefined || channels.webhook !== undefined) return channels;
  return { ...channels, webhook: { url } };
}

/** The channels that people are told through, in order. Channels that lack a required setting are left out. */
export function reachOf(values: Values): ReachChannel[] {
  const { telegram, ntfy, webhook } = channelsOf(values);
  return [
    ...(telegram && (telegram.token_env ?? telegram.token_file) !== undefined
      ? [{ name: "telegram", person: undefined, isPersonal: true }]
      : []),
    ...(ntfy?.topic === undefined ? [] : [{ name: "ntfy", person: ntfy.person, isPersonal: false }]),
    ...((webhook?.url ?? webhook?.url_env) === undefined
      ? []
      : [{ name: "webhook", person: undefined, isPersonal: false }]),
  ];
}

/** The settings of each channel, with its secrets unread. */
export function findChannelSettings(values: Values, env: Env): ChannelSettings {
  const { webhook, ntfy, telegram } = channelsOf(values);
  return {
    webhook: webhook && {
      readUrl: () => webhook.url ?? getSecret("channels.webhook.url", webhook.url_env, undefined, env),
      format: webhook.format,
      readSecret: () => findSecret("channels.webhook.secret", webhook.secret_env, webhook.secret_file, env),
    },
    ntfy: ntfy && {
      url: (ntfy.url ?? NTFY_URL).replace(/\/+$/, ""),
      topic: ntfy.topic ?? "",
      replyTopic: ntfy.reply_topic,
      readToken: () => findSecret("channels.ntfy.token", ntfy.token_env, ntfy.token_file, env),
      readReplyToken: () => findSecret("channels.ntfy.reply_token", ntfy.reply_token_env, ntfy.reply_token_file, env),
    },
    telegram: telegram && {
      url: (telegram.url ?? TELEGRAM_URL).replace(/\/+$/, ""),
      readToken: () => getSecret("channels.telegram.token", telegram.token_env, telegram.token_file, env),
    },
  };
}

/** The variables that hold secrets of channels: a worker in the background needs them too. */
export function channelVariables(values: Values): string[] {
  const { webhook, ntfy, telegram } = channelsOf(values);
  const names = [webhook?.url_env, webhook?.secret_env, ntfy?.token_env, ntfy?.reply_token_env, telegram?.token_env];
  return names.filter((name) => name !== undefined);
}

function findSecret(key: string, variable: string | undefined, file: string | undefined, env: Env) {
  return readSecret({ variable, file, key: variable === undefined ? `${key}_file` : `${key}_env` }, env);
}

function getSecret(key: string, variable: string | undefined, file: string | undefined, env: Env): string {
  const secret = findSecret(key, variable, file, env);
  if (secret !== undefined) return secret;
  throw new Refusal("sign_in", `${key} is not configured`, { hint: `Type: askd config set --user ${key}_file <file>` });
}
