import { z } from "zod";
import { CHAT_PLATFORMS } from "../core/channel/chat-platform.ts";
import { HOUR_MS, SECOND_MS } from "../core/instant.ts";
import { address, count, duration, flag, oneOf, secretFile, section, text, variable } from "./setting-type.ts";

const token = { token_env: variable(), token_file: secretFile() };

const REPO = 'write a repository, such as "acme/api"';
const repository = () => z.string(REPO).regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, REPO);
const ISSUE = 'write an issue, such as "acme/api#12"';
const TEAMS = 'write a list of teams, such as ["acme/ops"]';
const MENTION = 'write a list of accounts and teams to mention, such as ["lena", "acme/ops"]';

const Github = section({
  ...token,
  url: address(),
  mode: oneOf(["poll", "app"]),
  repo: repository(),
  repos: z.array(repository(), 'write a list of repositories, such as ["acme/api"]').max(50),
  issue: z.string(ISSUE).regex(/^[\w.-]{1,100}\/[\w.-]{1,100}#\d{1,9}$/, ISSUE),
  teams: z.array(z.string(TEAMS).regex(/^[\w-]{1,100}\/[\w-]{1,100}$/, TEAMS), TEAMS).max(20),
  mention: z.array(z.string(MENTION).regex(/^@?[\w-]{1,100}(?:\/[\w-]{1,100})?$/, MENTION), MENTION).max(10),
  visibility: oneOf(["summary", "full"]),
  poll: duration(SECOND_MS, HOUR_MS, "15s"),
  app_id: count(1, 1_000_000_000),
  app_key_file: secretFile(),
  webhook_secret_env: variable(),
  webhook_secret_file: secretFile(),
});

const Slack = section({
  ...token,
  url: address(),
  mode: oneOf(["socket", "http"]),
  channel: text('a channel, such as "#agents",'),
  mention: text("whom to mention"),
  visibility: oneOf(["summary", "full"]),
  app_token_env: variable(),
  app_token_file: secretFile(),
  signing_secret_env: variable(),
  signing_secret_file: secretFile(),
});

const Chat = section({
  ...token,
  platform: oneOf([...CHAT_PLATFORMS]),
  url: address(),
  mode: oneOf(["connection", "http"]),
  channel: text("a place for all questions, as the guide names it,"),
  visibility: oneOf(["summary", "full"]),
  app_id: text("the id of the application"),
  public_key: text("the public key of the Discord application"),
  tenant_id: text("the id of the organisation in Microsoft's directory"),
  secret_env: variable(),
  secret_file: secretFile(),
});

const Mailbox = {
  host: text("the name of a mail server"),
  port: count(1, 65_535),
  user: text("a user name"),
  password_env: variable(),
  password_file: secretFile(),
  tls: oneOf(["implicit", "starttls"]),
};

const Email = section({
  from: text("an address"),
  to: z.array(text("an address"), "write a list of addresses"),
  authserv: text("the name in the server's Authentication-Results"),
  authserv_removes_forged: flag(),
  plus_addressing: flag(),
  ca_file: text("a file with the certificate of an authority"),
  smtp: section(Mailbox, "write a table"),
  imap: section(Mailbox, "write a table"),
});

const Webhook = section({
  url: address(),
  url_env: variable(),
  secret_env: variable(),
  secret_file: secretFile(),
  format: oneOf(["standard", "slack", "discord", "teams"]),
});

export const topic = () => {
  const error = "write a topic of letters, digits, - and _, at most 64";
  return z.string(error).regex(/^[-_A-Za-z0-9]{1,64}$/, error);
};

const Ntfy = section({
  ...token,
  url: address(),
  topic: topic(),
  reply_topic: topic(),
  reply_token_env: variable(),
  reply_token_file: secretFile(),
  person: text("the person whose phone it is"),
});

const Telegram = section({ ...token, url: address() });
const Desktop = section({
  enabled: flag().describe("Show questions on the desktop of this machine"),
  person: text("the person who sits at it"),
});
const Apprise = section({ urls_env: variable(), urls_file: secretFile() });
const Terminal = section({
  bell: flag().describe("Ring the terminal's bell when something waits for you"),
  notify: flag().describe(
    "Show it as a notification of the terminal and in the window's title; as the bell if not set",
  ),
});

/** The channel sections; each channel reads its own. */
export const Channels = section({
  github: Github,
  slack: Slack,
  chat: Chat,
  email: Email,
  webhook: Webhook,
  ntfy: Ntfy,
  telegram: Telegram,
  desktop: Desktop,
  apprise: Apprise,
  terminal: Terminal,
});
