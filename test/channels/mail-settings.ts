import type { EmailSettings } from "../../src/core/channel/channel-settings.ts";

/** A mail server that nobody connects to. */
const NO_SERVER = {
  host: "127.0.0.1",
  port: 1,
  tls: "implicit",
  user: "answers",
  readPassword: () => "",
  readCa: () => undefined,
} as const;

/** Settings of the mail channel for tests that neither send nor fetch a mail. */
export const MAIL_SETTINGS: EmailSettings = {
  from: "answers@askd.test",
  to: [],
  smtp: NO_SERVER,
  imap: NO_SERVER,
  authserv: undefined,
  removesForgedResults: false,
  hasTags: true,
};
