import type { Channel, ChannelResult, WireMessage } from "../../core/channel/channel.ts";
import type { WebhookFormat, WebhookSettings } from "../../core/channel/channel-settings.ts";
import { sayAnswerElsewhere } from "../../core/channel/answer-elsewhere.ts";
import { type QuestionMessage, countCharacters, cutText, fitText } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import type { MessageRun } from "../../core/channel/message-facts.ts";
import { type Instant, instant } from "../../core/instant.ts";
import { type Option, hashText } from "../../core/question/content.ts";
import { signWebhook } from "../../core/question/callback.ts";
import { neutraliseLinks, neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Outbound } from "../outbound.ts";

const JSON_TYPE = { "content-type": "application/json" };
/** The longest text of each form: Slack advises 4,000 characters, Discord refuses more than 2,000. */
const LIMITS = { standard: 4_000, slack: 4_000, discord: 2_000, teams: 4_000 } as const;
const TITLE_CHARS = 250;
const DISCORD = /^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/;
/** The connectors of Teams, and the workflows that take their place. */
const TEAMS = /\.(?:webhook\.office|logic\.azure|powerplatform)\.com$/;

/** Posts each change of a question to an address: signed as Standard Webhooks say, or in the form of a chat service. */
export function webhookChannel(settings: WebhookSettings, outbound: Outbound): Channel {
  const url = settings.readUrl();
  const secret = settings.readSecret();
  const format = settings.format ?? formatOf(url);
  const deliver = async (wire: WireMessage): Promise<ChannelResult> => {
    const isStandard = format === "standard";
    const now = outbound.nowMs();
    const body = JSON.stringify(isStandard ? withTimestamp(wire["body"], instant(now)) : wire["body"]);
    const headers = isStandard ? signedHeaders(secret, { id: String(wire["id"]), body }, now) : {};
    const { ok, isFinal, why, retryAfterMs } = await outbound.post(url, {
      body,
      headers: { ...JSON_TYPE, ...headers },
    });
    if (ok) return { ok: true };
    return { ok: false, why, isFinal, isRefused: /status (401|403|404)/.test(why), retryAfterMs };
  };
  return {
    name: "webhook",
    strength: undefined,
    showsAll: (message) => fitted("standard", message).isWhole,
    build: (message, { isChange = false, change = 0 }) => {
      if (format !== "standard") return { body: chatBody(format, message, isChange) };
      return withId(standardBody(message, isChange), change);
    },
    // That a message is a change is no change by itself.
    face: (message) => (format === "standard" ? standardBody(message, false) : chatBody(format, message, false)),
    send: deliver,
    edit: (_outside, wire) => deliver(wire),
    remind: (_outside, wire, text) => deliver(reminder(format, wire, text)),
    note: (text) => {
      if (format !== "standard") return { body: chatText(format, FOREIGN[format](text)) };
      return withId({ type: "note", data: { text: makeVisible(text) } }, instant(outbound.nowMs()));
    },
    verify: () => Promise.resolve(`${format} messages to ${new URL(url).host}`),
  };
}

/** The message format of an address: some services have their own. */
export function formatOf(url: string): WebhookFormat {
  const { hostname, pathname } = new URL(url);
  if (hostname === "hooks.slack.com") return "slack";
  if (DISCORD.test(hostname) && pathname.startsWith("/api/webhooks/")) return "discord";
  return TEAMS.test(hostname) ? "teams" : "standard";
}

/**
 * A body with its id. The same change that is sent twice has the same id and counts once at the receiver; a later change
 * has another one, even if it brings back a message that was there before.
 */
function withId(body: Record<string, unknown>, change: number | string): WireMessage {
  return { id: `msg_${hashText(`${change} ${JSON.stringify(body)}`).slice(0, 32)}`, body };
}

function signedHeaders(
  secret: string | undefined,
  { id, body }: { id: string; body: string },
  nowMs: number,
): Record<string, string> {
  if (secret !== undefined) return signWebhook(secret, { id, body, now: instant(nowMs) });
  return { "webhook-id": id, "webhook-timestamp": Math.floor(nowMs / 1000).toString() };
}

/** The fields in the order in which people read them: what it is, when it was posted, what it is about. */
function withTimestamp(body: unknown, timestamp: Instant) {
  const { type, data } = body as { type: string; data: unknown }; // as built below
  return { type, timestamp, data };
}

function standardBody(message: QuestionMessage, isChange: boolean) {
  const { text, isWhole } = fitted("standard", message);
  if (message.news !== undefined) return newsBody(message, message.news);
  const { facts, isOpen } = message;
  return {
    type: isOpen && !isChange ? "question.asked" : "question.changed",
    data: {
      question: {
        id: message.questionId,
        url: message.link ?? null,
        title: makeVisible(message.title),
        status: isOpen ? "open" : "closed",
        kind: message.kind,
        options:
          message.items.length === 1
            ? (message.items[0]?.options ?? []).map((option) => viewOption(option, message))
            : [],
        multiple: message.items[0]?.multiple ?? false,
        allow_text: message.allowText,
        risk: message.risk,
        risk_source: facts?.riskSource ?? "measured",
        confidence: facts?.confidence ?? null,
        due_at: message.dueAt ?? null,
        on_timeout: facts?.onTimeout
          ? { action: facts.onTimeout.policy, answer: visibleOrNull(facts.onTimeout.answer) }
          : null,
        outcome: visibleOrNull(message.outcome),
      },
      run: viewRun(message.run),
      answer_url: facts?.answerUrl ?? null,
      text,
      is_whole: isWhole,
    },
  };
}

/** News of a run, under the name of their event. */
function newsBody({ run, title, link }: QuestionMessage, type: string) {
  return { type, data: { run: viewRun(run), text: makeVisible(title), url: link ?? null } };
}

function viewRun(run: MessageRun | undefined) {
  if (!run) return null;
  const { id, number, name, agent, repo, branch, unverified } = run;
  return {
    id,
    number,
    name: visibleOrNull(name),
    agent: visibleOrNull(agent),
    repo: visibleOrNull(repo),
    branch: visibleOrNull(branch),
    unverified,
  };
}

function visibleOrNull(text: string | undefined) {
  return text === undefined ? null : makeVisible(text);
}

/** Only labels are redacted, so a redacted question keeps its values to itself; a reply names the key. */
function viewOption(option: Option, { isRedacted }: QuestionMessage) {
  const { key, value, label, description, recommended = false } = option;
  return {
    key: key.toUpperCase(),
    value: isRedacted ? null : makeVisible(value),
    label: makeVisible(label),
    description: visibleOrNull(description),
    recommended,
  };
}

/** These services cannot edit what a webhook posted: only news of weight is a new message. */
function chatBody(
  format: Exclude<WebhookFormat, "standard">,
  message: QuestionMessage,
  isChange: boolean,
): Record<string, unknown> {
  const { isOpen, title, deadline, shortId } = message;
  if (!isChange || !isOpen) return chatText(format, fitted(format, { ...message, notes: [] }).text);
  // The question is above: only what happens to it now is new.
  const lines = [`✏️ ${title} (${shortId})`, ...(deadline === undefined ? [] : [deadline])];
  return chatText(format, cutText(lines.map(FOREIGN[format]).join("\n"), LIMITS[format], countCharacters).text);
}

function chatText(format: Exclude<WebhookFormat, "standard">, text: string): Record<string, unknown> {
  if (format === "slack") return { text, unfurl_links: false, unfurl_media: false };
  // Whatever the text says, Discord mentions nobody.
  if (format === "discord") return { content: text, allowed_mentions: { parse: [] } };
  const content = { type: "AdaptiveCard", version: "1.4", body: [{ type: "TextBlock", text, wrap: true }] };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
}

function reminder(format: WebhookFormat, wire: WireMessage, text: string): WireMessage {
  if (format !== "standard") return { body: chatText(format, FOREIGN[format](text)) };
  const { data } = wire["body"] as { data: Record<string, unknown> }; // as built above
  return withId({ type: "question.reminded", data: { ...data, text } }, String(wire["id"]));
}

function fitted(format: WebhookFormat, message: QuestionMessage) {
  const foreign = FOREIGN[format];
  const { text, isWhole } = fitText(message, {
    limit: LIMITS[format] - TITLE_CHARS,
    count: countCharacters,
    foreign,
    hasContext: false,
    hasTitle: true,
    how: sayAnswerElsewhere(message, "how.command"),
  });
  const title = message.isOpen ? `❓ ${tellIn(message.language, "question")}` : "";
  return { text: cutText([title, text].filter(Boolean).join("\n"), LIMITS[format], countCharacters).text, isWhole };
}

const plain = (text: string) => neutraliseMentions(makeVisible(text));

/** Makes foreign text harmless in each form. */
const FOREIGN: Readonly<Record<WebhookFormat, (text: string) => string>> = {
  standard: makeVisible,
  // Slack reads its own commands between angle brackets; only these three characters have to be escaped.
  slack: (text) => plain(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  discord: (text) => neutraliseLinks(plain(text)),
  teams: (text) => neutraliseLinks(plain(text)),
};
