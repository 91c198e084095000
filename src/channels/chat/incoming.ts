import type { ActionEvent, Adapter, Message } from "chat";
import { z } from "zod";
import type { Reply } from "../../core/channel/channel.ts";
import type { ChatPlace, Platform } from "./platform.ts";

const LONGEST_TEXT = 40_000;
const Raw = z.looseObject({
  id: z.string().max(255).optional(),
  recipient: z.looseObject({ name: z.string().optional() }).optional(),
});

export type Incoming = Reply;

/** Where a response goes: to the person alone where that is possible, else where they wrote. */
const ResponsePlace = z.object({
  place: z.string(),
  reference: z.string().optional(),
  account: z.string(),
  isDirect: z.boolean(),
});
export type ResponsePlace = z.infer<typeof ResponsePlace>;

export function parseResponsePlace(respondTo: string): ResponsePlace {
  return ResponsePlace.parse(JSON.parse(respondTo));
}

/** Names a message: its place and its id. */
export function outsideRef({ place }: ChatPlace, id: string): string {
  return `${place} ${id}`;
}

export function parseRef(outside: string): { place: string; id: string } {
  const at = outside.lastIndexOf(" ");
  return { place: outside.slice(0, at), id: outside.slice(at + 1) };
}

/** The reply that a press of a button is; a program's press is none. */
export function readAction(
  event: Omit<ActionEvent, "thread" | "openModal">,
  adapter: Adapter,
  platform: Platform,
): Incoming | undefined {
  const { actionId, value, user, messageId, threadId, raw } = event;
  if (user.isBot === true || user.isMe || !isAccount(user.userId)) return undefined;
  const act = Raw.catch({}).parse(raw).id ?? `${messageId}:${value ?? ""}`;
  return {
    key: `press:${act}:${user.userId}`.slice(0, 255),
    from: user.userId,
    token: actionId,
    text: value ?? "",
    name: user.fullName,
    respondTo: respondTo(platform.read(adapter.decodeThreadId(threadId)), user.userId, isDirect(adapter, threadId)),
  };
}

/**
 * The reply that a message is: to a message of ours, or in a place that belongs to one person or one question. What people
 * say to each other elsewhere is none.
 */
export function readMessage(
  { message, threadId, reference }: { message: Message; threadId: string; reference: string | undefined },
  adapter: Adapter,
  platform: Platform,
): Incoming | undefined {
  const { author, id, raw, attachments } = message;
  if (author.isBot === true || author.isMe || !isAccount(author.userId)) return undefined;
  const at = platform.read(adapter.decodeThreadId(threadId));
  const answered = reference ?? at.reference ?? platform.reference?.(raw);
  const isOwn = platform.isPlaceOwn || isDirect(adapter, threadId);
  if (answered === undefined && !isOwn) return undefined;
  return {
    key: `message:${id}`.slice(0, 255),
    from: author.userId,
    ...(answered === undefined ? { place: at.place } : { outside: outsideRef(at, answered) }),
    text: wordsOf(message.text, Raw.catch({}).parse(raw).recipient?.name),
    name: author.fullName,
    attached: attachments.flatMap(({ name }) => name ?? []),
    respondTo: respondTo({ ...at, reference: answered }, author.userId, isDirect(adapter, threadId)),
  };
}

/** Adapters write this where a service names nobody. */
function isAccount(id: string) {
  return id !== "" && id !== "unknown";
}

function isDirect(adapter: Adapter, threadId: string): boolean {
  return adapter.isDM?.(threadId) ?? false;
}

/** The words of a person without the name of the bot, with which they begin in a channel. */
function wordsOf(text: string, botName = "askd") {
  const said = text.slice(0, LONGEST_TEXT).replace(/^\s*<@!?\w+>/, "");
  const mention = `@${botName}`.toLowerCase();
  return (said.trimStart().toLowerCase().startsWith(mention) ? said.trimStart().slice(mention.length) : said).trim();
}

function respondTo({ place, reference }: ChatPlace, account: string, direct: boolean): string {
  return JSON.stringify({ place, reference, account, isDirect: direct } satisfies ResponsePlace);
}
