import type { ChannelResult } from "../../core/channel/channel.ts";
import type { MailServerSettings } from "../../core/channel/channel-settings.ts";
import { withoutAddresses } from "./incoming-mail.ts";

const CONNECT_MS = 8_000;
const SILENCE_MS = 15_000;
const MOST_WHY_CHARS = 200;

/** A mail as it is handed to the server. */
export interface OutgoingMail {
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
  html?: string | undefined;
  messageId: string;
  inReplyTo?: string | undefined;
  references?: string | undefined;
  replyTo?: string | undefined;
  /** Where a bounce goes. */
  returnPath: string;
  headers: Readonly<Record<string, string>>;
}

/** Hands a mail to the server, always over TLS. */
export async function sendMail(server: MailServerSettings, mail: OutgoingMail): Promise<ChannelResult> {
  const { returnPath, to, headers, ...rest } = mail;
  const transport = await transportTo(server);
  try {
    await transport.sendMail({
      ...rest,
      to: [...to],
      headers: { ...headers },
      envelope: { from: returnPath, to: [...to] },
      disableFileAccess: true,
      disableUrlAccess: true,
      textEncoding: "quoted-printable",
    });
    return { ok: true, outside: mail.messageId };
  } catch (error) {
    return judgeFailure(error);
  } finally {
    transport.close();
  }
}

/** Connects and signs in, and sends nothing. */
export async function verifySmtp(server: MailServerSettings): Promise<void> {
  const transport = await transportTo(server);
  try {
    await transport.verify();
  } catch (error) {
    const failed = judgeFailure(error);
    throw new Error(failed.ok ? "" : `${server.host}:${server.port}: ${failed.why}`, { cause: error });
  } finally {
    transport.close();
  }
}

async function transportTo({ host, port, tls, user, readPassword, readCa }: MailServerSettings) {
  const { createTransport } = await import("nodemailer");
  const ca = readCa();
  return createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    auth: { user, pass: readPassword() },
    tls: { minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) },
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Decides what a failure means: a refused password, an address that does not exist, or worth another try. */
function judgeFailure(error: unknown): ChannelResult {
  const {
    code = "",
    responseCode = 0,
    response,
    message,
  } = error as {
    code?: string;
    responseCode?: number;
    response?: string;
    message: string;
  }; // nodemailer adds these to its errors
  if (code === "EAUTH" && responseCode !== 454 && responseCode >= 500)
    return { ok: false, why: "the mail server refuses the user name or password", isRefused: true };
  const why = withoutAddresses((response ?? message).replace(/\s+/g, " ").trim()).slice(0, MOST_WHY_CHARS);
  if (responseCode === 0) return { ok: false, why: `not reachable (${sayCode(error, code, message)})` };
  const isFinal = responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
  return { ok: false, why, isFinal, retryAfterMs: readRetryAfter(response ?? message) };
}

function sayCode(error: unknown, code: string, message: string) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const inner = cause instanceof Error && "code" in cause ? String(cause.code) : code;
  return /certificate|self.signed|altnames/i.test(message) ? `${inner}: its certificate is not trusted` : inner;
}

/** Servers that let strangers wait say for how long in words. */
function readRetryAfter(response: string): number | undefined {
  const [, count, unit] = /\b(?:in|after|for) (\d{1,5}) ?(s|sec|seconds?|m|min|minutes?)\b/i.exec(response) ?? [];
  if (count === undefined) return undefined;
  return Number(count) * (unit?.toLowerCase().startsWith("m") ? 60_000 : 1000);
}
