import { z } from "zod";
import type { Channel, ChannelResult, InboundBatch, Recipient, WireMessage } from "../../core/channel/channel.ts";
import type { SlackSettings } from "../../core/channel/channel-settings.ts";
import { cutText } from "../../core/channel/message.ts";
import type { Outbound } from "../outbound.ts";
import { buildMessage, isShownWhole, mentionOf } from "./blocks.ts";
import { callSlack } from "./client.ts";
import { judgeFailure, readFailure } from "./failure.ts";
import { buildForm } from "./form.ts";
import { readHook } from "./hook.ts";
import { explainUnread, parsePlace, readDelivery } from "./incoming.ts";
import { escapeText, harmless } from "./mrkdwn.ts";

const TEXT_CHARS = 3_000;
/** A socket has no place to go on from: what was not acknowledged comes again. */
const CURSOR = "socket";

const Posted = z.looseObject({ channel: z.string(), ts: z.string() });
const Identity = z.looseObject({ user: z.string().optional(), team: z.string().optional() });

type Call = (method: string, args: WireMessage) => Promise<unknown>;

/** Asks people in a channel of Slack or by direct messages, and reads what they press, write and send. */
export function slackChannel(settings: SlackSettings, outbound: Outbound): Channel {
  const call = caller(settings, outbound);
  return {
    name: "slack",
    strength: "person",
    build: (message, to) => ({
      ...placeOf(to, settings),
      ...buildMessage(message, to, settings),
    }),
    showsAll: (message) => isShownWhole(message, settings),
    send: async (wire) => {
      if (wire["channel"] === undefined) return { ok: false, why: "this person has no Slack account", isFinal: true };
      return attempt(async () => outsideOf(await post(call, wire)));
    },
    edit: (outside, wire) => attempt(() => edit(call, outside, wire)),
    remind: (outside, wire, text) => attempt(() => remind(call, outside, wire, text)),
    note: (text, { address }) => ({ channel: address ?? settings.channel, text: plainText(text) }),
    openForm: (reply, message) =>
      attempt(async () => {
        const view = buildForm(message, reply.outside ?? "", reply.form ?? "answer");
        await call("views.open", { trigger_id: reply.text, view });
      }),
    respond: (respondTo, text) => attempt(() => respond(call, respondTo, text)),
    verify: () => verify(settings, call, outbound),
    // Replies come one way only: over connections of ours, or to our address.
    ...(settings.mode === "socket"
      ? { listen: (_cursor, signal) => listen(settings, signal) }
      : { readHook: (hook) => readHook(hook, { secret: settings.readSigningSecret(), nowMs: outbound.nowMs() }) }),
  };
}

/** News of a run goes into the thread of its question; everything else is a message of its own. */
function placeOf({ address, thread }: Recipient, settings: SlackSettings): WireMessage {
  if (thread === undefined) return { channel: address ?? settings.channel };
  const { channel, ts } = messageOf(thread);
  return { channel, thread_ts: ts };
}

/** Each call has the token of now. */
function caller({ url, readToken }: SlackSettings, { fetch }: Outbound): Call {
  return (method, args) => callSlack({ url, token: readToken(), fetch }, method, args);
}

/** Turns the errors of the client into results. */
async function attempt(act: () => Promise<string | void>): Promise<ChannelResult> {
  try {
    const outside = await act();
    return { ok: true, outside: outside ?? undefined };
  } catch (error) {
    return judgeFailure(error);
  }
}

/** Posts a message; Slack opens no address in it. */
function post(call: Call, wire: WireMessage): Promise<unknown> {
  return call("chat.postMessage", { ...wire, unfurl_links: false, unfurl_media: false });
}

function outsideOf(reply: unknown): string {
  const { channel, ts } = Posted.parse(reply);
  return `${channel}:${ts}`;
}

function messageOf(outside: string) {
  const [channel = "", ts = ""] = outside.split(":");
  return { channel, ts };
}

/** A card that Slack refuses is replaced by its text: what is so now matters more than how it looks. */
async function edit(call: Call, outside: string, { text, blocks }: WireMessage): Promise<void> {
  const place = messageOf(outside);
  try {
    await call("chat.update", { ...place, text, blocks });
  } catch (error) {
    if (readFailure(error).code !== "invalid_blocks") throw error;
    await call("chat.update", { ...place, text, blocks: [] });
  }
}

/** A reminder in the thread is also shown in the channel, where people who did not open the thread see it. */
async function remind(call: Call, outside: string | undefined, wire: WireMessage, text: string): Promise<void> {
  const { channel, ts } = outside === undefined ? { channel: wire["channel"], ts: undefined } : messageOf(outside);
  const thread = ts === undefined ? {} : { thread_ts: ts, reply_broadcast: true };
  await post(call, { channel, text: plainText(text), ...thread });
}

/** Responds to one person, unseen by others; where the app may not write, in a direct message. */
async function respond(call: Call, respondTo: string, text: string): Promise<void> {
  const { channel, user, thread } = parsePlace(respondTo);
  const said = plainText(text);
  try {
    await call("chat.postEphemeral", { channel, user, text: said, thread_ts: thread });
  } catch (error) {
    if (!/^(channel_not_found|not_in_channel|user_not_in_channel|is_archived)$/.test(readFailure(error).code))
      throw error;
    await post(call, { channel: user, text: said });
  }
}

function plainText(text: string) {
  return cutText(escapeText(harmless(text)), TEXT_CHARS, (part) => part.length).text;
}

/** Checks both tokens, and says where questions go. */
async function verify(settings: SlackSettings, call: Call, { fetch }: Outbound): Promise<string> {
  const { channel, mention, mode, url, readAppToken, readSigningSecret } = settings;
  if (mention !== undefined && mentionOf(mention) === undefined) {
    throw new Error("channels.slack.mention is not a user id (U…), a group id (S…), here, channel or everyone");
  }
  const { user = "askd", team = "Slack" } = Identity.parse(
    await checked(() => call("auth.test", {}), "the bot's token"),
  );
  if (mode === "http") readSigningSecret();
  else
    await checked(
      () => callSlack({ url, token: readAppToken(), fetch }, "apps.connections.open", {}),
      "the app-level token",
    );
  return `@${user} in ${team}, ${channel === undefined ? "direct messages" : `channel ${channel}`}`;
}

async function checked<Value>(check: () => Promise<Value>, what: string): Promise<Value> {
  try {
    return await check();
  } catch (error) {
    const { isRefused = false, why } = judgeFailure(error);
    throw new Error(isRefused ? `Slack refuses ${what} (${readFailure(error).code})` : why, { cause: error });
  }
}

async function* listen(settings: SlackSettings, signal: AbortSignal): AsyncIterable<InboundBatch> {
  const { readAppToken, url } = settings;
  // The library of connections is loaded where they are kept.
  const { CONNECTED, DISCONNECTED, receiveEnvelopes } = await import("./socket.ts");
  for await (const { type, body } of receiveEnvelopes({ readAppToken, url, signal, acknowledge: explainUnread })) {
    const replies = readDelivery(type, body);
    const trouble = type === DISCONNECTED ? String(body) : undefined;
    const isNews = replies.length > 0 || type === CONNECTED || trouble !== undefined;
    if (isNews) yield { cursor: CURSOR, replies, pairings: [], trouble };
  }
}
