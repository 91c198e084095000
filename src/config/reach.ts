import { readFileSync } from "node:fs";
import type { SignedHook } from "../core/answer/hook-answer.ts";
import type {
  ChannelSettings,
  ChatSettings,
  EmailSettings,
  GithubSettings,
  MailServerSettings,
  SlackSettings,
} from "../core/channel/channel-settings.ts";
import { Refusal } from "../core/refusal.ts";
import type { ReachChannel } from "../core/rules.ts";
import { parseDuration } from "../core/text/duration.ts";
import { readSecret } from "./secret.ts";
import type { Values } from "./schema.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Channels = NonNullable<Values["channels"]>;

const NTFY_URL = "https://ntfy.sh";
const TELEGRAM_URL = "https://api.telegram.org";
const GITHUB_URL = "https://api.github.com";
/** GitHub asks programs for a second between changes. */
const GITHUB_WRITE_MS = 1_000;
const GITHUB_POLL = "15s";
const SLACK_URL = "https://slack.com/api";

/** The machine that settings are read on. */
interface Machine {
  /** The kind of machine, in the words of Node. */
  platform: string;
  /** The name of its user. */
  user: string | undefined;
}

const THIS_MACHINE: Machine = { platform: process.platform, user: undefined };

/**
 * The configured channels. The short forms in `[notifications]` stand for a setting of a section, which wins if it is
 * there; `macos_notification` means macOS alone.
 */
export function channelsOf({ channels = {}, notifications = {} }: Values, { platform } = THIS_MACHINE): Channels {
  const { webhook_url: url, terminal_bell: bell, macos_notification: isForMacos } = notifications;
  const short: Channels = {
    ...(url !== undefined && { webhook: { url } }),
    ...(bell !== undefined && { terminal: { bell } }),
    ...(isForMacos !== undefined && platform === "darwin" && { desktop: { enabled: isForMacos } }),
  };
  return { ...short, ...channels };
}

/** The channels that people are told through, in order. Channels that lack a required setting are left out. */
export function reachOf(values: Values, machine = THIS_MACHINE): ReachChannel[] {
  const { telegram, ntfy, webhook, email, desktop, apprise, slack, github, chat } = channelsOf(values, machine);
  return [
    ...(desktop?.enabled ? [{ name: "desktop", person: desktop.person ?? machine.user, isPersonal: false }] : []),
    ...(telegram && (telegram.token_env ?? telegram.token_file) !== undefined
      ? [{ name: "telegram", person: undefined, isPersonal: true }]
      : []),
    ...slackReach(slack),
    ...chatReach(chat),
    ...(ntfy?.topic === undefined ? [] : [{ name: "ntfy", person: ntfy.person, isPersonal: false }]),
    ...(email?.from === undefined || email.smtp?.host === undefined
      ? []
      : [{ name: "email", person: undefined, isPersonal: (email.to ?? []).length === 0 }]),
    ...githubReach(github),
    ...((webhook?.url ?? webhook?.url_env) === undefined
      ? []
      : [{ name: "webhook", person: undefined, isPersonal: false }]),
    ...((apprise?.urls_env ?? apprise?.urls_file) === undefined
      ? []
      : [{ name: "apprise", person: undefined, isPersonal: false }]),
  ];
}

/** With a channel, all see one message; without it, each person gets their own. */
function slackReach(slack: SlackSection | undefined): ReachChannel[] {
  if (!slack || (slack.token_env ?? slack.token_file) === undefined) return [];
  const isShared = slack.channel !== undefined;
  return [{ name: "slack", person: undefined, isPersonal: !isShared, isShared }];
}

type ChatSection = NonNullable<Channels["chat"]>;

/** As with Slack: one message that all see, or one for each person. */
function chatReach(chat: ChatSection | undefined): ReachChannel[] {
  if (chat?.platform === undefined || (chat.token_env ?? chat.token_file) === undefined) return [];
  const isShared = chat.channel !== undefined;
  return [{ name: "chat", person: undefined, isPersonal: !isShared, isShared }];
}

/** The addresses that a question may name: those that the settings of a channel name themselves. */
export function addressesOf(values: Values): Record<string, string[]> {
  const { slack, email, webhook, ntfy } = channelsOf(values);
  const named: Record<string, readonly string[]> = {
    slack: slack?.channel === undefined ? [] : [slack.channel],
    email: email?.to ?? [],
    webhook: webhook?.url === undefined ? [] : [webhook.url],
    ntfy: ntfy?.topic === undefined ? [] : [ntfy.topic],
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, list]) => (list.length > 0 ? [[name, [...list]]] : [])),
  );
}

/** The settings of each channel, with its secrets unread. */
export function findChannelSettings(values: Values, env: Env): ChannelSettings {
  const { webhook, ntfy, telegram, email, apprise, slack, github, chat } = channelsOf(values);
  return {
    github: github && githubSettings(github, env),
    slack: slack && slackSettings(slack, env),
    chat: chat && chatSettings(chat, env),
    email: email && emailSettings(email, env),
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
    apprise: apprise && {
      readUrls: () => getSecret("channels.apprise.urls", apprise.urls_env, apprise.urls_file, env),
    },
    // It needs no setting: a worker also shows what was asked in a project that enables it.
    desktop: { platform: process.platform, env },
  };
}

/** The programs that may post answers. */
export function findHooks({ hooks = {} }: Values, env: Env): SignedHook[] {
  return Object.entries(hooks).map(([name, hook]) => ({
    name,
    readSecret: () => findSecret(`hooks.${name}.secret`, hook.secret_env, hook.secret_file, env),
    isOnBehalf: hook.on_behalf ?? false,
    startsWorkflows: hook.starts_workflows ?? false,
  }));
}

/** The variables that hold the secrets of these programs. */
export function hookVariables({ hooks = {} }: Values): string[] {
  return Object.values(hooks).flatMap(({ secret_env: variable }) => variable ?? []);
}

/** The variables that lead to the desktop of this user. */
const DESKTOP_VARIABLES: readonly string[] = [
  "DBUS_SESSION_BUS_ADDRESS",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "WSL_DISTRO_NAME",
];

/** The variables that channels need, their secrets among them: a worker in the background needs them too. */
export function channelVariables(values: Values): string[] {
  return [...channelSecrets(values), ...DESKTOP_VARIABLES];
}

/** The variables that hold the secrets of channels. */
export function channelSecrets(values: Values): string[] {
  const { webhook, ntfy, telegram, email, apprise, slack, github, chat } = channelsOf(values);
  const names = [
    github?.token_env,
    github?.webhook_secret_env,
    slack?.token_env,
    slack?.app_token_env,
    slack?.signing_secret_env,
    chat?.token_env,
    chat?.secret_env,
    webhook?.url_env,
    webhook?.secret_env,
    ntfy?.token_env,
    ntfy?.reply_token_env,
    telegram?.token_env,
    email?.smtp?.password_env,
    email?.imap?.password_env,
    apprise?.urls_env,
  ];
  return names.filter((name) => name !== undefined);
}

type GithubSection = NonNullable<Channels["github"]>;

function githubReach(github: GithubSection | undefined): ReachChannel[] {
  if (!github || githubRepos(github).length === 0) return [];
  const { token_env: variable, token_file: file, app_id: app, app_key_file: key, issue } = github;
  if ((variable ?? file) === undefined && (app === undefined || key === undefined)) return [];
  return [{ name: "github", person: undefined, isPersonal: false, needsIssue: issue === undefined, hasIssues: true }];
}

/** The repositories of the settings; the one of the fallback is among them. */
function githubRepos({ repo, repos = [], issue }: GithubSection): string[] {
  const named = [repo, ...repos, issue?.split("#")[0]].filter((name) => name !== undefined);
  return [...new Set(named)];
}

function githubSettings(github: GithubSection, env: Env): GithubSettings {
  const { issue, app_id: id, app_key_file: key } = github;
  const [repo = "", number] = issue?.split("#") ?? [];
  return {
    url: (github.url ?? GITHUB_URL).replace(/\/+$/, ""),
    repos: githubRepos(github),
    fallback: issue === undefined ? undefined : { repo, number: Number(number) },
    teams: github.teams ?? [],
    mention: (github.mention ?? []).map((name) => name.replace(/^@/, "")),
    visibility: github.visibility ?? "summary",
    pollMs: parseDuration(github.poll ?? GITHUB_POLL),
    writeMs: GITHUB_WRITE_MS,
    readToken: () => getSecret("channels.github.token", github.token_env, github.token_file, env),
    app:
      id === undefined || key === undefined || github.mode === "poll"
        ? undefined
        : { id, readKey: () => getSecret("channels.github.app_key", undefined, key, env) },
    readHookSecret: () =>
      findSecret("channels.github.webhook_secret", github.webhook_secret_env, github.webhook_secret_file, env),
  };
}

type SlackSection = NonNullable<Channels["slack"]>;

function slackSettings(slack: SlackSection, env: Env): SlackSettings {
  const secret = (key: string, variable: string | undefined, file: string | undefined) => () =>
    getSecret(`channels.slack.${key}`, variable, file, env);
  return {
    url: (slack.url ?? SLACK_URL).replace(/\/+$/, ""),
    mode: slack.mode ?? "socket",
    channel: slack.channel,
    mention: slack.mention,
    hasContext: showsContext(slack),
    readToken: secret("token", slack.token_env, slack.token_file),
    readAppToken: secret("app_token", slack.app_token_env, slack.app_token_file),
    readSigningSecret: secret("signing_secret", slack.signing_secret_env, slack.signing_secret_file),
  };
}

/** Only Discord lets a program connect; the others post to us. */
function chatSettings(chat: ChatSection, env: Env): ChatSettings {
  const platform = chat.platform ?? "discord";
  return {
    platform,
    mode: platform === "discord" ? (chat.mode ?? "connection") : "http",
    channel: chat.channel,
    hasContext: showsContext(chat),
    url: chat.url?.replace(/\/+$/, ""),
    appId: chat.app_id,
    publicKey: chat.public_key,
    tenantId: chat.tenant_id,
    readToken: () => getSecret("channels.chat.token", chat.token_env, chat.token_file, env),
    readSecret: () => getSecret("channels.chat.secret", chat.secret_env, chat.secret_file, env),
  };
}

type EmailSection = NonNullable<Channels["email"]>;

/** The mailbox has the user and password of the sending server unless it names its own. */
function emailSettings(email: EmailSection, env: Env): EmailSettings {
  const { smtp = {}, imap } = email;
  return {
    from: email.from ?? "",
    to: email.to ?? [],
    smtp: mailServer("smtp", smtp, email, env),
    imap: imap && mailServer("imap", imap, email, env),
    authserv: email.authserv,
    removesForgedResults: email.authserv_removes_forged ?? false,
    hasTags: email.plus_addressing ?? true,
  };
}

const MAIL_PORTS = { smtp: { implicit: 465, starttls: 587 }, imap: { implicit: 993, starttls: 143 } } as const;

function mailServer(
  kind: "smtp" | "imap",
  server: NonNullable<EmailSection["smtp"]>,
  email: EmailSection,
  env: Env,
): MailServerSettings {
  const port = server.port ?? (kind === "smtp" ? MAIL_PORTS.smtp.starttls : MAIL_PORTS.imap.implicit);
  const { password_env: variable, password_file: file } =
    (server.password_env ?? server.password_file) === undefined ? (email.smtp ?? {}) : server;
  return {
    host: server.host ?? email.smtp?.host ?? "",
    port,
    tls: server.tls ?? (port === MAIL_PORTS[kind].implicit ? "implicit" : "starttls"),
    user: server.user ?? email.smtp?.user ?? parseFrom(email.from ?? ""),
    readPassword: () => getSecret(`channels.email.${kind}.password`, variable, file, env),
    readCa: () => (email.ca_file === undefined ? undefined : readFileSync(email.ca_file, "utf8")),
  };
}

/** At most providers the user is the address. */
function parseFrom(from: string) {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim();
}

function findSecret(key: string, variable: string | undefined, file: string | undefined, env: Env) {
  return readSecret({ variable, file, key: variable === undefined ? `${key}_file` : `${key}_env` }, env);
}

function getSecret(key: string, variable: string | undefined, file: string | undefined, env: Env): string {
  const secret = findSecret(key, variable, file, env);
  if (secret !== undefined) return secret;
  throw new Refusal("sign_in", `${key} is not configured`, { hint: `Type: askd config set --user ${key}_file <file>` });
}

/** The context of a question may hold code and logs: in a channel where others read along it is left out unless set. */
function showsContext({ channel, visibility }: Pick<SlackSection | ChatSection, "channel" | "visibility">) {
  return visibility === undefined ? channel === undefined : visibility === "full";
}
