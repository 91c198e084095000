import { z } from "zod";
import type {
  Channel,
  ChannelResult,
  InboundBatch,
  PairingRequest,
  Reply,
  WireMessage,
} from "../../core/channel/channel.ts";
import type { TelegramSettings } from "../../core/channel/channel-settings.ts";
import { sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import {
  type QuestionMessage,
  choicesOf,
  countCharacters,
  cutText,
  fitText,
  sayHowToReply,
} from "../../core/channel/message.ts";
import { openLabel } from "../../core/channel/page-link.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Outbound, callService, networkFailure } from "../outbound.ts";
import { type TelegramFailure, judgeFailure } from "./failure.ts";
import { escapeHtml, formatHtml } from "./html.ts";

const TEXT_CHARS = 4_096;
const NOTICE_CHARS = 200;
const LABEL_CHARS = 40;
/** How long the server may wait for an update before it answers with none. */
const POLL_S = 50;
const POLL_TIMEOUT_MS = (POLL_S + 15) * 1000;

const Envelope = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.int().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
});
const SentMessage = z.object({ message_id: z.int(), chat: z.object({ id: z.int() }) });
const Bot = z.object({ username: z.string() });
const Chat = z.object({ id: z.int(), type: z.string() });
const Update = z.object({
  update_id: z.int(),
  message: z
    .looseObject({
      message_id: z.int(),
      from: z.object({ id: z.int() }).optional(),
      chat: Chat,
      text: z.string().optional(),
      caption: z.string().optional(),
      reply_to_message: z.object({ message_id: z.int() }).optional(),
    })
    .optional(),
  callback_query: z.object({ id: z.string(), from: z.object({ id: z.int() }), data: z.string().optional() }).optional(),
});
type Update = z.infer<typeof Update>;

/** Contents without words: they are not taken, and their sender is told how to reply. */
const WORDLESS = ["voice", "audio", "video", "video_note", "photo", "document", "sticker", "animation"];
/** Names the question of an answer, such as `/answer q-456 A`. */
const ANSWER = /^\/answer(?:@\w+)?(?:\s+(q[-_][0-9a-z]+))?(?=\s|$)\s*([\s\S]*)$/i;
const START = /^\/start(?:@\w+)?(?:\s+([A-Za-z0-9_-]{1,64}))?$/;
/** The commands of replies; people try others, such as /help, to see what happens. */
const REPLY_COMMAND = /^\/(?:answer|claim|snooze|decide|ask|undo)\b/i;

type Call = (
  method: string,
  args: WireMessage,
  options?: { signal?: AbortSignal; timeoutMs?: number },
) => Promise<{ ok: true; result: unknown } | TelegramFailure>;

/** Sends questions to people who paired their Telegram account with a bot, and reads their taps and replies. */
export function telegramChannel(settings: TelegramSettings, outbound: Outbound): Channel {
  const call = caller(settings, outbound);
  return {
    name: "telegram",
    strength: "person",
    build: (message, { address }) => buildMessage(message, address),
    showsAll: (message) => fitMessage(message).isWhole,
    send: async (wire) => {
      if (wire["chat_id"] === undefined) return { ok: false, why: "this person has no paired account", isFinal: true };
      return sent(await call("sendMessage", wire));
    },
    edit: async (outside, wire) => {
      const edited = await call("editMessageText", { ...wire, ...messageOf(outside) });
      return edited.ok ? { ok: true } : judgeFailure(edited);
    },
    remind: async (outside, wire, text) => {
      const reply = outside === undefined ? {} : { reply_parameters: replyTo(outside) };
      const reminded = sent(await call("sendMessage", { chat_id: wire["chat_id"], text: plainText(text), ...reply }));
      return reminded.ok ? { ok: true, beside: reminded.outside } : reminded;
    },
    note: (text, { address }) => ({
      chat_id: address === undefined ? undefined : Number(address),
      text: plainText(text),
    }),
    respond: (respondTo, text) => respond(call, respondTo, text),
    places: {
      isPrivate: true,
      of: (outside) => String(messageOf(outside).chat_id),
      isAfter: ({ key }, outside) => Number(key.split(":").at(-1)) > (messageOf(outside).message_id ?? 0),
    },
    acknowledge: async (respondTo) => {
      const done = await call("answerCallbackQuery", { callback_query_id: respondTo.replace(/^tap /, "") });
      return done.ok ? { ok: true } : judgeFailure(done);
    },
    verify: async () => `@${(await getBot(call)).username}`,
    listen: (cursor, signal) => listen(call, cursor, signal),
  };
}

/** The bot's name, which the link for pairing needs. */
async function getBot(call: Call) {
  const got = await call("getMe", {});
  if (!got.ok) throw new Error(got.why);
  return Bot.parse(got.result);
}

/** The token is part of the address, so no address is ever reported. */
function caller({ url, readToken }: TelegramSettings, outbound: Outbound): Call {
  const base = `${url}/bot${readToken()}/`;
  return async (method, args, options = {}) => {
    try {
      const { body, status, retryAfterMs } = await callService(outbound, `${base}${method}`, {
        json: args,
        ...options,
      });
      const reply = Envelope.safeParse(body);
      if (!reply.success) return { ok: false, why: `status ${status}`, code: status, retryAfterMs };
      const { ok, result, description = "", error_code: code = status, parameters } = reply.data;
      if (ok) return { ok: true, result };
      const seconds = parameters?.retry_after;
      return { ok: false, why: description, code, retryAfterMs: seconds === undefined ? retryAfterMs : seconds * 1000 };
    } catch (error) {
      const { why, mayBeThere } = networkFailure(error);
      return { ok: false, why, mayBeThere, code: 0, retryAfterMs: undefined };
    }
  };
}

/** The text of a message. An approval that does not fit can only be denied here, and says so. */
function fitMessage(message: QuestionMessage) {
  const fit = (how: string) =>
    fitText(message, {
      limit: TEXT_CHARS,
      count: (part) => countCharacters(escapeHtml(part)),
      foreign: harmless,
      hasContext: true,
      hasTitle: true,
      how,
    });
  const whole = fit(howToReply(message));
  if (whole.isWhole || message.kind !== "approval") return whole;
  return { ...fit(`↩️ ${sayOnlyDenied(message)}`), isWhole: false };
}

function buildMessage(message: QuestionMessage, address: string | undefined): WireMessage {
  const { text, isWhole } = fitMessage(message);
  const choices = choicesOf(message, { isWhole, strength: "person" });
  const keyboard = message.isOpen ? keyboardOf(message, choices) : [];
  return {
    chat_id: address === undefined ? undefined : Number(address),
    text: formatHtml(text),
    parse_mode: "HTML",
    link_preview_options: { is_disabled: true },
    ...(keyboard.length === 0 ? {} : { reply_markup: { inline_keyboard: keyboard } }),
  };
}

function howToReply(message: QuestionMessage) {
  return `↩️ ${sayHowToReply(message, "reply.tap")}`;
}

/** One row for each choice, then what else can be done; a link only where Telegram can open it. */
function keyboardOf({ token, link, language, accepts }: QuestionMessage, choices: ReturnType<typeof choicesOf>) {
  const rows = choices.map(({ key, label }) => [
    {
      text: cutText(`${key}) ${harmless(label)}`, LABEL_CHARS, countCharacters).text,
      callback_data: `${token}:${key}`,
    },
  ]);
  const open = link?.startsWith("https://") ? [{ text: openLabel(link, language), url: link }] : [];
  // Nobody can take over a digest: it asks nothing itself.
  const claim = accepts.length === 0 ? [] : [{ text: tellIn(language, "claim"), callback_data: `${token}:/claim` }];
  return [...rows, [...claim, ...open]].filter((row) => row.length > 0);
}

function harmless(text: string) {
  return neutraliseMentions(makeVisible(text));
}

function plainText(text: string) {
  return cutText(harmless(text), TEXT_CHARS, countCharacters).text;
}

function sent(result: Awaited<ReturnType<Call>>): ChannelResult {
  if (!result.ok) return judgeFailure(result);
  const { message_id: id, chat } = SentMessage.parse(result.result);
  return { ok: true, outside: `${chat.id}:${id}` };
}

function messageOf(outside: string) {
  const [chat, message] = outside.split(":").map(Number);
  return { chat_id: chat, message_id: message };
}

function replyTo(outside: string) {
  return { message_id: messageOf(outside).message_id, allow_sending_without_reply: true };
}

async function respond(call: Call, respondTo: string, text: string): Promise<ChannelResult> {
  const [kind, ...rest] = respondTo.split(" ");
  const place = rest.join(" ");
  const done =
    kind === "tap"
      ? await call("answerCallbackQuery", {
          callback_query_id: place,
          text: cutText(text, NOTICE_CHARS, countCharacters).text,
          show_alert: text.length > 40,
        })
      : await call("sendMessage", {
          chat_id: messageOf(place).chat_id,
          text: plainText(text),
          reply_parameters: replyTo(place),
        });
  return done.ok ? { ok: true } : judgeFailure(done);
}

async function* listen(call: Call, cursor: string | undefined, signal: AbortSignal): AsyncIterable<InboundBatch> {
  // A webhook that was set elsewhere would keep updates from us.
  const freed = await call("deleteWebhook", { drop_pending_updates: false }, { signal });
  if (!freed.ok) throw new Error(freed.why);
  let offset = Number(cursor ?? 0);
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    // The first look is over at once, and shows that nobody else polls for this bot.
    const args = { offset, timeout: isFirst ? 0 : POLL_S, allowed_updates: ["message", "callback_query"] };
    const got = await call("getUpdates", args, { signal, timeoutMs: POLL_TIMEOUT_MS });
    if (signal.aborted) return;
    if (!got.ok) throw new Error(got.why);
    const updates = z.array(Update).parse(got.result);
    const last = updates.at(-1);
    if (!last && !isFirst) continue;
    // The next request confirms these updates: they are in the store by then.
    if (last) offset = last.update_id + 1;
    yield { cursor: String(offset), replies: updates.flatMap(replyOf), pairings: updates.flatMap(pairingOf) };
  }
}

/** An act is known by its own id: Telegram may bring it again in another update. */
function replyOf({ message, callback_query: tap }: Update): Reply[] {
  if (tap) {
    const [token = "", ...words] = (tap.data ?? "").split(":");
    const text = words.join(":");
    const reply = { key: `tap:${tap.id}`, from: String(tap.from.id), token, text };
    return text === "" ? [] : [{ ...reply, respondTo: `tap ${tap.id}`, expectsResponse: true }];
  }
  if (!message?.from || !isPrivate(message) || isGreeting(message)) return [];
  const { chat, text = message.caption, reply_to_message: answered } = message;
  if (text === undefined && !WORDLESS.some((kind) => kind in message)) return [];
  const [, question, words] = ANSWER.exec(text ?? "") ?? [];
  return [
    {
      key: `message:${chat.id}:${message.message_id}`,
      from: String(message.from.id),
      place: String(chat.id),
      outside: answered && `${chat.id}:${answered.message_id}`,
      question: question?.toLowerCase(),
      text: words ?? text ?? "",
      respondTo: `message ${chat.id}:${message.message_id}`,
    },
  ];
}

function pairingOf({ update_id: id, message }: Update): PairingRequest[] {
  if (!message?.from || !isPrivate(message) || !isGreeting(message)) return [];
  const respondTo = `message ${message.chat.id}:${message.message_id}`;
  const code = START.exec(message.text ?? "")?.[1];
  return [{ key: String(id), from: String(message.from.id), code, respondTo }];
}

/** A command that begins to talk, with a code or without one; a reply to a message of ours is never one. */
function isGreeting({ text = "", reply_to_message: answered }: NonNullable<Update["message"]>) {
  if (START.test(text)) return true;
  return answered === undefined && text.startsWith("/") && !REPLY_COMMAND.test(text);
}

/** In a private chat the chat is the person; in a group anybody could reply. */
function isPrivate({ chat, from }: { chat: z.infer<typeof Chat>; from?: { id: number } | undefined }) {
  return chat.type === "private" && chat.id === from?.id;
}
