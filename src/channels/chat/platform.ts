import { z } from "zod";
import type { ChatSettings } from "../../core/channel/channel-settings.ts";
import type { ChatPlatform } from "../../core/channel/chat-platform.ts";
import { countBytes } from "../../core/channel/message.ts";

/** The part of a chat service that a message belongs to, in our words, and the message that it is a reply to. */
export interface ChatPlace {
  place: string;
  reference?: string | undefined;
}

/** How one chat service differs from the others. */
export interface Platform {
  title: string;
  /** The function in the adapter's package that makes one. */
  create: string;
  /** The options of the adapter. */
  options(settings: ChatSettings): Record<string, unknown>;
  /** The adapter's words for a place; the reverse of `read`. */
  thread(at: ChatPlace, settings: ChatSettings): Record<string, unknown>;
  read(thread: unknown): ChatPlace;
  /** The message that a message replies to, where the service says so in the message itself. */
  reference?(raw: unknown): string | undefined;
  /** The place of a message that was posted, where the service makes one for it. */
  posted?(raw: unknown): string | undefined;
  text: { limit: number; count(text: string): number };
  /** More options than that have no buttons: people reply with a key. */
  mostButtons: number;
  labelChars: number;
  canEdit: boolean;
  /** Everything in the place of a message is about it, replies or not: a thread of its own, or a chat with one person. */
  isPlaceOwn: boolean;
  /** A response can be put below the message that it is about. */
  canPostBelow: boolean;
  /** The headers that prove who sent a request. */
  headers: readonly string[];
}

const countUnits = (text: string) => text.length;

const DiscordThread = z.object({ guildId: z.string(), channelId: z.string(), threadId: z.string().optional() });
const TeamsThread = z.object({ conversationId: z.string() });
const GchatThread = z.object({ spaceName: z.string(), threadName: z.string().optional() });
const GchatMessage = z.object({ thread: z.object({ name: z.string() }).nullish() });
const WhatsappThread = z.object({ userWaId: z.string() });
const WhatsappMessage = z.object({ message: z.object({ context: z.object({ id: z.string() }).nullish() }) });
const LinearThread = z.object({ issueId: z.string(), commentId: z.string().optional() });

const TEAMS_URL = "https://smba.trafficmanager.net/teams";
/** In the layout of components an edit replaces everything; in embeds the adapter would leave old buttons behind. */
const COMPONENTS = "componentsv2";

const discord: Platform = {
  title: "Discord",
  create: "createDiscordAdapter",
  options: ({ readToken, appId, publicKey, url }) => ({
    botToken: readToken(),
    applicationId: appId,
    // Without a key nobody can post to us in Discord's name: replies come over our own connection.
    ...(publicKey === undefined ? { webhookVerifier: () => false } : { publicKey }),
    ...(url !== undefined && { apiUrl: url }),
    contentFormat: COMPONENTS,
  }),
  thread: ({ place }) => {
    const [guildId = "", channelId = ""] = place.split("/");
    return { guildId, channelId };
  },
  read: (thread) => {
    const { guildId, channelId, threadId } = DiscordThread.parse(thread);
    // A thread that was begun at a message has the id of that message.
    return { place: `${guildId}/${channelId}`, reference: threadId };
  },
  text: { limit: 4_000, count: countUnits },
  mostButtons: 25,
  labelChars: 80,
  canEdit: true,
  isPlaceOwn: false,
  canPostBelow: false,
  headers: ["x-signature-ed25519", "x-signature-timestamp"],
};

const teams: Platform = {
  title: "Teams",
  create: "createTeamsAdapter",
  options: ({ appId, tenantId, readToken, url }) => ({
    appId,
    appTenantId: tenantId,
    appPassword: readToken(),
    ...(url !== undefined && { apiUrl: url }),
  }),
  thread: ({ place, reference }, { url }) => ({
    conversationId: reference === undefined ? place : `${place};messageid=${reference}`,
    conversationType: place.startsWith("19:") ? "channel" : "personal",
    serviceUrl: url ?? TEAMS_URL,
  }),
  read: (thread) => {
    const [place = "", reference] = TeamsThread.parse(thread).conversationId.split(";messageid=");
    return { place, reference };
  },
  // A message may have 28 kB with everything that the card puts around the text.
  text: { limit: 14_000, count: countBytes },
  mostButtons: 6,
  labelChars: 60,
  canEdit: true,
  isPlaceOwn: false,
  canPostBelow: true,
  headers: ["authorization"],
};

const gchat: Platform = {
  title: "Google Chat",
  create: "createGoogleChatAdapter",
  options: ({ readToken, appId, url }) => ({
    credentials: z.record(z.string(), z.unknown()).parse(JSON.parse(readToken())),
    googleChatProjectNumber: appId,
    ...(url !== undefined && { apiUrl: url }),
  }),
  thread: ({ place }) => {
    const [, spaceName = place] = /^(spaces\/[^/]+)\/threads\//.exec(place) ?? [];
    return { spaceName, ...(spaceName !== place && { threadName: place }) };
  },
  read: (thread) => {
    const { spaceName, threadName } = GchatThread.parse(thread);
    return { place: threadName ?? spaceName };
  },
  posted: (raw) => GchatMessage.catch({ thread: null }).parse(raw).thread?.name,
  text: { limit: 12_000, count: countBytes },
  mostButtons: 10,
  labelChars: 60,
  canEdit: true,
  isPlaceOwn: true,
  canPostBelow: false,
  headers: ["authorization"],
};

const whatsapp: Platform = {
  title: "WhatsApp",
  create: "createWhatsAppAdapter",
  options: ({ readToken, readSecret, appId, url }) => ({
    accessToken: readToken(),
    appSecret: readSecret(),
    verifyToken: readSecret(),
    phoneNumberId: appId,
    ...(url !== undefined && { apiUrl: url }),
  }),
  thread: ({ place }, { appId }) => ({ phoneNumberId: appId, userWaId: place }),
  read: (thread) => ({ place: WhatsappThread.parse(thread).userWaId }),
  reference: (raw) => WhatsappMessage.catch({ message: {} }).parse(raw).message.context?.id,
  text: { limit: 1_024, count: countUnits },
  mostButtons: 3,
  labelChars: 20,
  canEdit: false,
  isPlaceOwn: true,
  canPostBelow: false,
  headers: ["x-hub-signature-256"],
};

const linear: Platform = {
  title: "Linear",
  create: "createLinearAdapter",
  options: ({ readToken, readSecret, url }) => ({
    apiKey: readToken(),
    webhookSecret: readSecret(),
    ...(url !== undefined && { apiUrl: url }),
  }),
  thread: ({ place, reference }) => ({ issueId: place, ...(reference !== undefined && { commentId: reference }) }),
  read: (thread) => {
    const { issueId, commentId } = LinearThread.parse(thread);
    return { place: issueId, reference: commentId };
  },
  text: { limit: 50_000, count: countUnits },
  mostButtons: 0,
  labelChars: 0,
  canEdit: true,
  isPlaceOwn: false,
  canPostBelow: true,
  headers: ["linear-signature", "linear-timestamp", "linear-event", "linear-delivery"],
};

export const PLATFORMS: Readonly<Record<ChatPlatform, Platform>> = { discord, teams, gchat, whatsapp, linear };
