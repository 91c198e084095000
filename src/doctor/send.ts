import type { Values } from "../config/schema.ts";
import { readSecret } from "../config/secret.ts";
import { runProgram } from "../agents/process/process-identity.ts";
import { signWebhook } from "../core/question/callback.ts";
import { SECOND_MS, type Instant } from "../core/instant.ts";
import { post } from "../engine/outbound/post.ts";
import { errorText } from "./run-checks.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";

const TITLE = "askd";
const WORDS = "This is a test: questions of your agents will come this way.";
const NTFY = "https://ntfy.sh";
const PROGRAM_MS = 10 * SECOND_MS;
const JSON_TYPE = { "content-type": "application/json" };

type SendContext = Pick<DoctorContext, "env" | "platform" | "rules"> & {
  now: Instant;
  /** Rings the terminal's bell; false without a terminal. */
  ring(): boolean;
};
interface Message {
  body: string;
  headers: Record<string, string>;
}

/** Sends a real test message on every configured channel and reports the results. */
export async function sendTests({ channels = {}, notifications = {} }: Values, at: SendContext): Promise<Finding[]> {
  const { webhook, ntfy, desktop } = channels;
  const url = webhook && (webhook.url ?? secretOf(webhook.url_env, undefined, at));
  const tests: Array<[subject: string, send: () => Promise<string | undefined>]> = [
    ...(desktop && desktop.enabled !== false ? [["desktop", () => notify(at)] as const] : []),
    ...(notifications.webhook_url
      ? [["webhook_url", () => hook(notifications.webhook_url ?? "", {}, at)] as const]
      : []),
    ...(webhook && url ? [["webhook", () => hook(url, webhook, at)] as const] : []),
    ...(ntfy?.topic === undefined ? [] : [["ntfy", () => push({ ...ntfy, topic: ntfy.topic ?? "" }, at)] as const]),
  ].map(([subject, send]) => [subject, send]);
  const bell = notifications.terminal_bell === false ? [] : [ring(at)];
  return [...bell, ...(await Promise.all(tests.map(([subject, send]) => report(subject, send))))];
}

async function report(subject: string, send: () => Promise<string | undefined>): Promise<Finding> {
  const about = { area: "channels", subject } as const;
  const failure = await send().catch((error: unknown) => errorText(error));
  if (failure === undefined) return { ...about, code: "test_sent", level: "ok", text: "test sent" };
  return { ...about, code: "test_failed", level: "problem", text: `the test message failed: ${failure}` };
}

function ring(at: SendContext): Finding {
  const about = { area: "channels", subject: "bell" } as const;
  if (at.ring()) return { ...about, code: "test_sent", level: "ok", text: "test sent" };
  return { ...about, code: "test_skipped", level: "off", text: "not rung: this is not a terminal" };
}

/** Shows a desktop notification; its text is an argument, never part of a script. */
async function notify({ platform, env }: SendContext): Promise<string | undefined> {
  const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
  const [program, args] =
    platform === "darwin" ? ["osascript", ["-e", script, TITLE, WORDS]] : ["notify-send", ["--", TITLE, WORDS]];
  await runProgram(program, args, { env: { ...env }, timeout: PROGRAM_MS });
  return undefined;
}

async function hook(
  url: string,
  section: { format?: string; secret_env?: string; secret_file?: string },
  at: SendContext,
): Promise<string | undefined> {
  const secret = secretOf(section.secret_env, section.secret_file, at);
  const message = messageFor(section.format ?? formatOf(url), secret, at.now);
  return sendPost(url, message, at);
}

async function push(
  {
    url = NTFY,
    topic,
    token_env,
    token_file,
  }: { url?: string; topic: string; token_env?: string; token_file?: string },
  at: SendContext,
): Promise<string | undefined> {
  const token = secretOf(token_env, token_file, at);
  const headers = { title: TITLE, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  return sendPost(`${url.replace(/\/+$/, "")}/${encodeURIComponent(topic)}`, { body: WORDS, headers }, at);
}

async function sendPost(url: string, message: Message, { rules }: SendContext): Promise<string | undefined> {
  const posted = await post(url, message, { allowLoopback: rules.callbackLoopback });
  return posted.ok ? undefined : posted.why;
}

/** The message format of an address: some services have their own. */
function formatOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  if (hostname === "hooks.slack.com") return "slack";
  if (/^discord(app)?\.com$/.test(hostname) && pathname.startsWith("/api/webhooks/")) return "discord";
  return hostname.endsWith(".webhook.office.com") ? "teams" : "standard";
}

function messageFor(format: string, secret: string | undefined, now: Instant): Message {
  const text = `${TITLE}: ${WORDS}`;
  if (format === "slack") return { body: JSON.stringify({ text }), headers: JSON_TYPE };
  if (format === "discord") return { body: JSON.stringify({ content: text }), headers: JSON_TYPE };
  if (format === "teams") {
    const content = { type: "AdaptiveCard", version: "1.4", body: [{ type: "TextBlock", text, wrap: true }] };
    const attachments = [{ contentType: "application/vnd.microsoft.card.adaptive", content }];
    return { body: JSON.stringify({ type: "message", attachments }), headers: JSON_TYPE };
  }
  const body = JSON.stringify({ type: "test", timestamp: now, data: { text: WORDS } });
  const id = `msg_test_${now.replaceAll(/\D/g, "")}`;
  return { body, headers: { ...JSON_TYPE, ...(secret !== undefined && signWebhook(secret, { id, body, now })) } };
}

function secretOf(variable: string | undefined, file: string | undefined, { env }: SendContext): string | undefined {
  return readSecret({ variable, file, key: "channels" }, env);
}
