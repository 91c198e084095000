import { z } from "zod";
import type { Channel, ChannelResult, InboundBatch, WireMessage } from "../../core/channel/channel.ts";
import type { NtfySettings } from "../../core/channel/channel-settings.ts";
import { sayAnswerElsewhere } from "../../core/channel/answer-elsewhere.ts";
import {
  type Choice,
  type QuestionMessage,
  choicesOf,
  countBytes,
  countCharacters,
  cutText,
  fitText,
} from "../../core/channel/message.ts";
import { openLabel } from "../../core/channel/page-link.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Outbound, type ServiceReply, callService, networkFailure } from "../outbound.ts";
import { readJsonLines } from "./json-lines.ts";

/** A longer message becomes an attachment that no phone shows. */
const MESSAGE_BYTES = 4_096;
const TITLE_CHARS = 250;
const LABEL_CHARS = 40;
const MOST_ACTIONS = 3;
const PRIORITY = { high: 5, medium: 4, low: 3, closed: 1 } as const;
/** The server sends a line every 45 s; a connection that is silent for longer is dead. */
const SILENCE_MS = 120_000;

const Published = z.object({ id: z.string() });
const StreamEvent = z.object({ id: z.string(), event: z.string(), message: z.string().optional() });
const Sequenced = z.object({
  id: z.string(),
  sequence_id: z.string().optional(),
  title: z.string().optional(),
  message: z.string().optional(),
});

/**
 * Publishes questions to a topic of an ntfy server. Buttons publish to a second topic of the same server, which askd
 * reads, so nothing of askd has to be reachable from outside.
 */
export function ntfyChannel(settings: NtfySettings, outbound: Outbound): Channel {
  const { url, topic, replyTopic } = settings;
  const token = settings.readToken();
  const replyToken = settings.readReplyToken();
  const headers = bearer(token);
  const strength = replyTopic === undefined ? undefined : "bearer";
  const publish = async (json: WireMessage): Promise<ChannelResult> => {
    try {
      return readResult(await callService(outbound, url, { json, headers }));
    } catch (error) {
      return networkFailure(error);
    }
  };
  const lastOf = (wire: WireMessage) => `${url}/${topicOf(wire) ?? topic}/json?poll=1&since=10m`;
  return {
    name: "ntfy",
    strength,
    showsAll: (message) => fitMessage(message).isWhole,
    build: (message, to) => buildMessage(message, { topic: to.address ?? topic, url, replyTopic, replyToken }),
    send: publish,
    // A message with the same sequence id replaces the earlier one; older servers show it as a second message.
    edit: (_outside, wire) => publish(wire),
    remind: (_outside, wire, text) => publish({ ...wire, message: cutText(text, MESSAGE_BYTES, countBytes).text }),
    note: (text, { address }) => noteOf(address ?? topic, text),
    respond: (respondTo, text) => publish(noteOf(respondTo || topic, text)),
    find: async (wire) => (await findMessage(outbound, lastOf(wire), headers, wire))?.id,
    shows: async (wire) => {
      const found = await findMessage(outbound, lastOf(wire), headers, wire);
      return found !== undefined && found.title === wire["title"] && found.message === wire["message"];
    },
    verify: async () => {
      const look = (each: string) => callService(outbound, `${url}/${each}/json?poll=1&since=1s`, { headers });
      requireReadable(await look(topic), { token, what: "the topic", mayOnlyWrite: token !== undefined });
      if (replyTopic !== undefined) requireReadable(await look(replyTopic), { token, what: "the reply topic" });
      return `topic on ${new URL(url).host}${replyTopic === undefined ? ", without replies" : ""}`;
    },
    ...(replyTopic === undefined
      ? {}
      : { listen: (cursor, signal) => listen(outbound, `${url}/${replyTopic}/json`, headers, { cursor, signal }) }),
  };
}

/** Refuses a server that does not let us read a topic; a token that may only write there is enough to send. */
function requireReadable(
  { status }: ServiceReply,
  { token, what, mayOnlyWrite = false }: { token: string | undefined; what: string; mayOnlyWrite?: boolean },
) {
  if (status === 200 || (status === 403 && mayOnlyWrite)) return;
  if (token === undefined && (status === 401 || status === 403))
    throw new Error(`the server wants a token to read ${what}: set channels.ntfy.token_file`);
  if (status === 401) throw new Error("the server refuses the token");
  if (status === 403) throw new Error(`the token may not read ${what}`);
  throw new Error(`${what} cannot be read: status ${status}`);
}

function topicOf({ topic }: WireMessage) {
  return typeof topic === "string" ? topic : undefined;
}

function noteOf(topic: string, text: string): WireMessage {
  const message = cutText(makeVisible(text), MESSAGE_BYTES, countBytes).text;
  return { topic, title: "askd", message, priority: PRIORITY.low };
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

interface ButtonPlace {
  topic: string;
  url: string;
  replyTopic: string | undefined;
  replyToken: string | undefined;
}

/** The text of a message; the title of a closed one tells its outcome. */
function fitMessage(message: QuestionMessage) {
  const isClosed = !message.isOpen;
  const shown = isClosed ? { ...message, outcome: undefined } : message;
  return fitText(shown, {
    limit: MESSAGE_BYTES,
    count: countBytes,
    foreign: makeVisible,
    hasContext: false,
    hasTitle: isClosed,
    how: sayAnswerElsewhere(message, "how.also"),
  });
}

function buildMessage(message: QuestionMessage, place: ButtonPlace): WireMessage {
  const isClosed = !message.isOpen;
  const title = makeVisible(isClosed ? (message.outcome ?? message.title) : message.title);
  const { text, isWhole } = fitMessage(message);
  // The title is cut at fewer characters than a question may have; then the text has all of it.
  const strength = place.replyTopic === undefined ? undefined : "bearer";
  const choices = choicesOf(message, { isWhole, strength });
  return {
    topic: place.topic,
    title: cutText(title, TITLE_CHARS, countCharacters).text,
    message: text,
    // News ring once; what only shows an outcome does not.
    priority: message.news !== undefined ? PRIORITY.low : isClosed ? PRIORITY.closed : PRIORITY[message.risk],
    tags: [message.news === undefined && isClosed ? "white_check_mark" : "robot"],
    sequence_id: message.questionId,
    ...(message.link === undefined ? {} : { click: message.link }),
    actions: actionsOf(message, choices, place),
  };
}

/** ntfy shows three buttons: as many choices as fit beside the link, if all fit or the link leads to the others. */
function actionsOf({ link, token, language }: QuestionMessage, choices: readonly Choice[], place: ButtonPlace) {
  const open = link === undefined ? [] : [{ action: "view", label: openLabel(link, language), url: link }];
  const buttons = choices.slice(0, MOST_ACTIONS - open.length).map(({ key, label }) => ({
    action: "http",
    label: cutText(`${key}) ${makeVisible(label)}`, LABEL_CHARS, countCharacters).text,
    url: `${place.url}/${place.replyTopic ?? ""}`,
    method: "POST",
    headers: place.replyToken === undefined ? {} : { Authorization: `Bearer ${place.replyToken}` },
    body: `${token} ${key}`,
    clear: true,
  }));
  return [...buttons, ...open];
}

function readResult({ status, body, retryAfterMs }: ServiceReply): ChannelResult {
  const published = Published.safeParse(body);
  if (status === 200 && published.success) return { ok: true, outside: published.data.id };
  const why = `status ${status}`;
  if (status === 401 || status === 403)
    return { ok: false, why: `${why}: the server refuses the token`, isRefused: true };
  return { ok: false, why, isFinal: status === 400 || status === 413, retryAfterMs };
}

/** Asks the server for the last message that attempts may have published; a token that may only write sees none. */
async function findMessage(outbound: Outbound, url: string, headers: Record<string, string>, wire: WireMessage) {
  try {
    const response = await outbound.fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(10_000) });
    if (response.status !== 200) return undefined;
    const lines = (await response.text()).split("\n").map((line) => Sequenced.safeParse(parseLine(line)));
    return lines.findLast((line) => line.data?.sequence_id === wire["sequence_id"])?.data;
  } catch {
    return undefined; // it cannot be asked: the message is sent again
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // an empty line
  }
}

/** Everything that the server still has. */
const ALL = "all";

async function* listen(
  outbound: Outbound,
  url: string,
  headers: Record<string, string>,
  { cursor, signal }: { cursor: string | undefined; signal: AbortSignal },
): AsyncIterable<InboundBatch> {
  // The server keeps messages for some hours: what came while nobody listened is read first.
  const response = await outbound.fetch(`${url}?since=${encodeURIComponent(cursor ?? ALL)}`, {
    headers,
    redirect: "error",
    signal,
  });
  if (response.status !== 200) throw new Error(`the reply topic cannot be read: status ${response.status}`);
  yield { cursor: cursor ?? ALL, replies: [], pairings: [] };
  for await (const line of readJsonLines(response, { silenceMs: SILENCE_MS, signal })) {
    const event = StreamEvent.safeParse(line);
    if (!event.success || event.data.event !== "message") continue;
    const { id, message = "" } = event.data;
    const [token = "", ...words] = message.trim().split(/\s+/);
    const reply = { key: id, from: undefined, token, text: words.join(" "), respondTo: "" };
    yield { cursor: id, replies: words.length === 0 ? [] : [reply], pairings: [] };
  }
}
