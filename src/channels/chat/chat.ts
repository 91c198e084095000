import { z } from "zod";
import type {
  Channel,
  ChannelResult,
  HookBatch,
  InboundBatch,
  InboundHook,
  Recipient,
  WireMessage,
} from "../../core/channel/channel.ts";
import type { ChatSettings } from "../../core/channel/channel-settings.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Outbound, callService } from "../outbound.ts";
import { AdapterFailure, ChatBridge } from "./bridge.ts";
import { fitCard, questionCard, wordsCard } from "./card.ts";
import { keepConnected, type replyAdapter } from "./discord-gateway.ts";
import { judgeFailure } from "./failure.ts";
import { outsideRef, parseRef, parseResponsePlace } from "./incoming.ts";
import { type ChatPlace, PLATFORMS } from "./platform.ts";

/** A connection has no place to go on from. */
const CURSOR = "connection";
const DISCORD_URL = "https://discord.com/api/v10";

type Card = ReturnType<typeof wordsCard>;
const Wire = z.object({
  /** Where the message goes: a place that all see, or a person's own account. */
  place: z.string().optional(),
  account: z.string().optional(),
  card: z.custom<Card>(),
});
const Named = z.looseObject({ username: z.string() });

/**
 * Asks people in one chat service by its adapter of the Chat SDK: Discord, Teams, Google Chat, WhatsApp or Linear. The
 * adapter is installed by the user, and loaded when a message is sent or read.
 */
export function chatChannel(settings: ChatSettings, outbound: Outbound): Channel {
  const platform = PLATFORMS[settings.platform];
  let opened: Promise<ChatBridge> | undefined;
  const open = () => {
    opened ??= ChatBridge.open(settings).catch((error: unknown) => {
      opened = undefined; // tried again as soon as somebody has installed it
      throw error;
    });
    return opened;
  };
  const desk: Desk = { settings, open };
  return {
    name: "chat",
    strength: "person",
    build: (message, to) => ({ ...placeOf(to, settings), card: questionCard(message, platform, settings.hasContext) }),
    showsAll: (message) => fitCard(message, platform, settings.hasContext).isWhole,
    send: (wire) => send(desk, wire),
    ...(platform.canEdit
      ? { edit: (outside, wire) => edit(desk, outside, wire) }
      : { face: ({ isOpen, outcome }) => ({ isOpen, outcome }) }),
    remind: async (_outside, wire, text) => {
      const reminded = await send(desk, { ...wire, card: wordsCard(text, platform) });
      return reminded.ok ? { ok: true, beside: reminded.outside } : reminded;
    },
    note: (text, to) => ({ ...placeOf(to, settings), card: wordsCard(text, platform) }),
    respond: (respondTo, text) => respond(desk, respondTo, text),
    places: {
      of: (outside) => parseRef(outside).place,
      isAfter: ({ key }, outside) => isLater(key.slice("message:".length), parseRef(outside).id),
    },
    verify: () => verify(desk, outbound),
    ...(settings.mode === "connection"
      ? { listen: (_cursor, signal) => listen(desk, signal) }
      : { readHook: (hook) => readHook(desk, hook) }),
  };
}

interface Desk {
  settings: ChatSettings;
  open: () => Promise<ChatBridge>;
}

/** News of a run go where its question is; everything else to the person, or to the place that all see. */
function placeOf({ address, thread }: Recipient, { channel }: ChatSettings): WireMessage {
  if (thread !== undefined) return { place: parseRef(thread).place };
  return address === undefined ? { place: channel } : { account: address };
}

async function send(desk: Desk, wire: WireMessage): Promise<ChannelResult> {
  const { place, account, card } = Wire.parse(wire);
  if (place === undefined && account === undefined) {
    return { ok: false, why: "this person has no account there", isFinal: true };
  }
  return attempt(desk, async (bridge) => {
    const at = place === undefined ? await openDirect(bridge, account ?? "") : { place };
    return post(bridge, desk.settings, at, card);
  });
}

/** A conversation with one person. */
async function openDirect(bridge: ChatBridge, account: string): Promise<ChatPlace> {
  const { adapter, platform } = bridge;
  // Where every conversation is with one person, the account is the place.
  if (!adapter.openDM) return { place: account };
  const thread = await bridge.call((each) => each.openDM?.(account) ?? Promise.resolve(""));
  return platform.read(adapter.decodeThreadId(thread));
}

async function post(bridge: ChatBridge, settings: ChatSettings, at: ChatPlace, card: Card): Promise<string> {
  const { adapter, platform } = bridge;
  const thread = adapter.encodeThreadId(platform.thread(at, settings));
  const { id, raw } = await bridge.call((each) => each.postMessage(thread, { card }));
  return outsideRef({ place: platform.posted?.(raw) ?? at.place }, id);
}

function edit(desk: Desk, outside: string, wire: WireMessage): Promise<ChannelResult> {
  const { place, id } = parseRef(outside);
  const { card } = Wire.parse(wire);
  return attempt(desk, async (bridge) => {
    const thread = bridge.adapter.encodeThreadId(bridge.platform.thread({ place }, desk.settings));
    await bridge.call((adapter) => adapter.editMessage(thread, id, { card }));
  });
}

/** Responds to the person alone; where that cannot be, where they wrote. */
function respond(desk: Desk, respondTo: string, text: string): Promise<ChannelResult> {
  const { place, reference, account, isDirect } = parseResponsePlace(respondTo);
  return attempt(desk, async (bridge) => {
    const card = wordsCard(text, bridge.platform);
    const there = { place, reference: bridge.platform.canPostBelow ? reference : undefined };
    if (isDirect || !bridge.adapter.openDM) return post(bridge, desk.settings, there, card);
    try {
      return await post(bridge, desk.settings, await openDirect(bridge, account), card);
    } catch (error) {
      // Many people take no messages of bots.
      if (!(error instanceof AdapterFailure) || error.reported?.status !== 403) throw error;
      return post(bridge, desk.settings, there, card);
    }
  });
}

/** Turns errors of an adapter into results. */
async function attempt(desk: Desk, act: (bridge: ChatBridge) => Promise<string | void>): Promise<ChannelResult> {
  const bridge = await openOr(desk);
  if (!(bridge instanceof ChatBridge)) return bridge;
  try {
    const outside = await act(bridge);
    return { ok: true, outside: outside ?? undefined };
  } catch (error) {
    if (!(error instanceof AdapterFailure)) throw error;
    return judgeFailure(error.cause, error.reported, bridge.platform.title);
  }
}

/** A package that is not installed is a matter of the settings, and no reason to lose a message. */
async function openOr({ open }: Desk): Promise<ChatBridge | ChannelResult> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, why: `${error.message}. ${error.hint ?? ""}`.trim(), isRefused: true };
  }
}

/** Ids of one service grow with time where they are numbers. */
function isLater(one: string, other: string): boolean {
  const isNumber = /^\d{1,30}$/;
  return !isNumber.test(one) || !isNumber.test(other) || BigInt(one) > BigInt(other);
}

async function verify({ settings, open }: Desk, outbound: Outbound): Promise<string> {
  const bridge = await open();
  const { title } = bridge.platform;
  const where = settings.channel ?? "direct messages";
  if (settings.channel !== undefined) await requirePlace(bridge, settings, settings.channel);
  if (settings.platform !== "discord") return `${title}, ${where}`;
  const reply = await callService(outbound, `${settings.url ?? DISCORD_URL}/users/@me`, {
    headers: { authorization: `Bot ${settings.readToken()}` },
  });
  if (reply.status === 401) throw new Error("Discord refuses the bot's token");
  if (reply.status !== 200) throw new Error(`Discord says status ${reply.status}`);
  return `@${Named.parse(reply.body).username} in Discord, ${where}`;
}

/** Services that show who is typing say by that whether the bot may write there. */
async function requirePlace(bridge: ChatBridge, settings: ChatSettings, place: string): Promise<void> {
  const { adapter, platform } = bridge;
  try {
    await bridge.call((each) => each.startTyping(adapter.encodeThreadId(platform.thread({ place }, settings))));
  } catch (error) {
    if (!(error instanceof AdapterFailure)) throw error;
    throw new Error(judgeFailure(error.cause, error.reported, platform.title).why, { cause: error });
  }
}

async function* listen({ open }: Desk, signal: AbortSignal): AsyncIterable<InboundBatch> {
  const bridge = await open();
  const queue: InboundBatch[] = [];
  let wake = () => undefined as void;
  let isEnded = false;
  const add = (batch: Pick<InboundBatch, "replies" | "trouble">) => {
    queue.push({ cursor: CURSOR, pairings: [], ...batch });
    wake();
  };
  bridge.onReply = (reply) => add({ replies: [reply] });
  bridge.lastProblem = undefined;
  // Only Discord has connections, and its adapter is made here.
  const adapter = bridge.adapter as unknown as ReturnType<typeof replyAdapter>;
  adapter.onState = (trouble) => add({ replies: [], trouble });
  const stop = new AbortController();
  const connection = keepConnected(adapter, AbortSignal.any([signal, stop.signal]), () => bridge.lastProblem);
  const ending = connection.finally(() => {
    isEnded = true;
    wake();
  });
  ending.catch(() => undefined); // it is awaited below, and may fail before that
  try {
    for (;;) {
      const next = queue.shift();
      if (next) yield next;
      else if (isEnded) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await ending;
  } finally {
    stop.abort();
    await Promise.allSettled([ending]);
    bridge.onReply = () => undefined;
  }
}

async function readHook({ open }: Desk, hook: InboundHook): Promise<HookBatch | undefined> {
  const bridge = await open();
  const { status, text, replies } = await bridge.receive(hook);
  if (status === 401 || status === 403) return undefined;
  if (status >= 500) throw new Error(`the adapter of ${bridge.platform.title} failed: status ${status}`);
  if (hook.query !== undefined) return { replies, text };
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(text));
  return { replies, response: parsed.success ? parsed.data : undefined };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // an adapter also responds with plain words
  }
}
