import { z } from "zod";
import { address, count, flag, oneOf, secretFile, text, variable } from "./value.ts";

const token = { token_env: variable().optional(), token_file: secretFile().optional() };

const Github = z.object({
  ...token,
  mode: oneOf(["poll", "app"]).optional(),
  repo: text('a repository, such as "acme/api",').optional(),
  webhook_secret_env: variable().optional(),
  webhook_secret_file: secretFile().optional(),
});

const Slack = z.object({
  ...token,
  mode: oneOf(["socket", "http"]).optional(),
  channel: text('a channel, such as "#agents",').optional(),
  mention: text("whom to mention").optional(),
  visibility: oneOf(["summary", "full"]).optional(),
  app_token_env: variable().optional(),
  app_token_file: secretFile().optional(),
  signing_secret_env: variable().optional(),
  signing_secret_file: secretFile().optional(),
});

const Mailbox = {
  host: text("the name of a mail server").optional(),
  port: count(1, 65_535).optional(),
  user: text("a user name").optional(),
  password_env: variable().optional(),
  password_file: secretFile().optional(),
};

const Email = z.object({
  from: text("an address").optional(),
  to: z.array(text("an address"), { error: "write a list of addresses" }).optional(),
  smtp: z.object(Mailbox, { error: "write a table" }).optional(),
  imap: z.object(Mailbox, { error: "write a table" }).optional(),
});

const Webhook = z.object({
  url: address().optional(),
  url_env: variable().optional(),
  secret_env: variable().optional(),
  secret_file: secretFile().optional(),
  format: oneOf(["standard", "slack", "discord", "teams"]).optional(),
});

const Ntfy = z.object({ ...token, url: address().optional(), topic: text("a topic").optional() });
const Desktop = z.object({ enabled: flag().optional() });

/** The channel sections; each channel reads its own. */
export const Channels = z.object({
  github: Github.optional(),
  slack: Slack.optional(),
  email: Email.optional(),
  webhook: Webhook.optional(),
  ntfy: Ntfy.optional(),
  desktop: Desktop.optional(),
});
