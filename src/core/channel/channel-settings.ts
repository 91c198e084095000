/** The settings of the configured channels. Secrets are read when a channel is opened, and kept nowhere. */
export interface ChannelSettings {
  webhook?: WebhookSettings | undefined;
  ntfy?: NtfySettings | undefined;
  telegram?: TelegramSettings | undefined;
  desktop?: DesktopSettings | undefined;
  apprise?: AppriseSettings | undefined;
  email?: EmailSettings | undefined;
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
