import type { ChatPlatform } from "./chat-platform.ts";

/** The settings of the configured channels. Secrets are read when a channel is opened, and kept nowhere. */
export interface ChannelSettings {
  webhook?: WebhookSettings | undefined;
  ntfy?: NtfySettings | undefined;
  telegram?: TelegramSettings | undefined;
  desktop?: DesktopSettings | undefined;
  apprise?: AppriseSettings | undefined;
  email?: EmailSettings | undefined;
  slack?: SlackSettings | undefined;
  github?: GithubSettings | undefined;
  chat?: ChatSettings | undefined;
}

export interface GithubSettings {
  /** The address of the REST API. */
  url: string;
  /** The repositories that comments go to, as owner/name; issues without a repository are of the first. */
  repos: readonly string[];
  /** The issue for questions that belong to none. */
  fallback: { repo: string; number: number } | undefined;
  /** Teams whose members may answer, as organisation/team. */
  teams: readonly string[];
  /** Accounts and teams that a question mentions. */
  mention: readonly string[];
  /** `summary` leaves the context of questions out. */
  visibility: "summary" | "full";
  /** How often comments are looked for. */
  pollMs: number;
  /** The pause between two changes. */
  writeMs: number;
  readToken(): string;
  /** The GitHub App that acts in place of the owner of a token. */
  app: { id: number; readKey(): string } | undefined;
  /** The secret that signs webhooks; without it none are taken. */
  readHookSecret(): string | undefined;
}

export type WebhookFormat = "standard" | "slack" | "discord" | "teams";

export interface WebhookSettings {
  readUrl(): string;
  /** The form of the message; by the address if it is not set. */
  format: WebhookFormat | undefined;
  /** Signs messages in the standard form. */
  readSecret(): string | undefined;
}

export interface NtfySettings {
  url: string;
  topic: string;
  /** The topic that buttons publish to; without it, nobody can answer there. */
  replyTopic: string | undefined;
  readToken(): string | undefined;
  /** The token in the buttons, which the phone uses: it should be able to write to the reply topic only. */
  readReplyToken(): string | undefined;
}

export interface TelegramSettings {
  url: string;
  readToken(): string;
}

export interface DesktopSettings {
  /** The kind of desktop, in the words of Node. */
  platform: string;
  /** The environment, which names the session of the desktop. */
  env: Readonly<Record<string, string | undefined>>;
}

export interface AppriseSettings {
  /** The addresses of apprise, which hold secrets. */
  readUrls(): string;
}

/** A server that mail is handed to, or read from. */
export interface MailServerSettings {
  host: string;
  port: number;
  /** TLS from the first byte, or begun by a command. Without TLS nothing is sent or read. */
  tls: "implicit" | "starttls";
  user: string;
  readPassword(): string;
  /** The certificate of an authority of one's own. */
  readCa(): string | undefined;
}

export interface EmailSettings {
  /** The address that mail comes from and replies go to. */
  from: string;
  /** Shared addresses that get every question. */
  to: readonly string[];
  smtp: MailServerSettings;
  /** Without it, nobody can answer by mail. */
  imap: MailServerSettings | undefined;
  /** The name under which the receiving server writes what it found out about a sender. */
  authserv: string | undefined;
  /** The server removes results that others wrote in its name. */
  removesForgedResults: boolean;
  /** The server knows addresses such as answers+tag@example.com. */
  hasTags: boolean;
}

export interface SlackSettings {
  /** The address of the Web API. */
  url: string;
  /** How clicks and replies come: over a connection of ours, or to our server by signed requests. */
  mode: "socket" | "http";
  /** The channel that all questions go to; without it people get direct messages. */
  channel: string | undefined;
  /** A person, a group or everybody, mentioned with every question. */
  mention: string | undefined;
  /** Shows the context of questions too, not only of approvals. */
  hasContext: boolean;
  /** The token of the bot (`xoxb-…`). */
  readToken(): string;
  /** The app-level token (`xapp-…`), which opens connections. */
  readAppToken(): string;
  /** The secret that signs requests to our server. */
  readSigningSecret(): string;
}

export interface ChatSettings {
  platform: ChatPlatform;
  /** How replies come: over a connection of ours (Discord alone has that), or to our server by signed requests. */
  mode: "connection" | "http";
  /** The place that all questions go to, in the words of the service; without it people get direct messages. */
  channel: string | undefined;
  /** Shows the context of questions too, not only of approvals. */
  hasContext: boolean;
  /** The address of the service's API, if not the public one. */
  url: string | undefined;
  /** The id of the application, project or phone number. */
  appId: string | undefined;
  /** The key that Discord signs its requests with. */
  publicKey: string | undefined;
  /** The organisation in Microsoft's directory. */
  tenantId: string | undefined;
  readToken(): string;
  /** The secret that signs requests to our server. */
  readSecret(): string;
  /** Further options of the adapter. */
  adapterOptions?: Readonly<Record<string, unknown>> | undefined;
}
