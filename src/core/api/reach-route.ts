import { z } from "zod";
import { AttentionUse } from "../channel/attention.ts";
import { ChannelState, DeliveryStatus } from "../channel/delivery/delivery-status.ts";
import { MessagePreview } from "../channel/message-preview.ts";
import { DeliveryWait } from "../channel/delivery/delivery.ts";
import { Instant } from "../instant.ts";
import { Presence } from "../people/presence.ts";
import { OfQuestion, OfRun, type Reply, route } from "./route.ts";
import { MaybeInstant, MaybeText } from "./view.ts";

export const DeliveryView = z.object({
  channel: z.string(),
  person: MaybeText,
  state: DeliveryStatus.shape.state,
  sent_at: MaybeInstant,
  changed_at: MaybeInstant,
  reminders: z.int(),
  waits: DeliveryWait.nullable(),
  failure: z.object({ why: z.string(), at: Instant, tries: z.int() }).nullable(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

export const ChannelView = z.object({
  name: z.string(),
  last_sent_at: MaybeInstant,
  failing: z.object({ since: Instant, why: z.string(), person: MaybeText }).nullable(),
  waiting: z.int(),
  listened_until: MaybeInstant,
  recipients: z.int().nullable(),
});
export type ChannelView = z.infer<typeof ChannelView>;

const deliveriesReply: Reply<DeliveryStatus[]> = {
  rows: z.array(DeliveryStatus),
  schema: z.object({ deliveries: z.array(DeliveryView) }),
  view: (deliveries) => ({ deliveries: deliveries.map(viewDelivery) }),
};

const channelsReply: Reply<ChannelState[]> = {
  rows: z.array(ChannelState),
  schema: z.object({ channels: z.array(ChannelView) }),
  view: (channels) => ({ channels: channels.map(viewChannel) }),
};

export const AttentionView = z.object({
  person: z.string(),
  last_hour: z.int(),
  last_day: z.int(),
  collected: z.int(),
  waiting: z.int(),
  per_hour: z.int().nullable(),
});
export type AttentionView = z.infer<typeof AttentionView>;

const attentionReply: Reply<AttentionUse[]> = {
  rows: z.array(AttentionUse),
  schema: z.object({ attention: z.array(AttentionView) }),
  view: (attention) => ({ attention: attention.map(viewAttention) }),
};

const PreviewView = z.object({
  channel: z.string(),
  person: MaybeText,
  message: z.record(z.string(), z.unknown()).nullable(),
  problem: MaybeText,
});

const previewReply: Reply<MessagePreview[]> = {
  rows: z.array(MessagePreview),
  schema: z.object({ messages: z.array(PreviewView) }),
  view: (messages) => ({
    messages: messages.map(({ channel, person = null, message = null, problem = null }) => ({
      channel,
      person,
      message,
      problem,
    })),
  }),
};

const presenceReply: Reply<Presence> = { rows: Presence, schema: Presence, view: (presence) => presence };

/** Messages to people, and the channels they go through. */
export const REACH_ROUTES = {
  listDeliveries: route("GET", "/questions/{id}/deliveries", {
    may: "see_all",
    summary: "List the messages about a question and their state",
    params: OfQuestion,
    takes: ["id"],
    reply: deliveriesReply,
  }),
  listRunDeliveries: route("GET", "/runs/{id}/deliveries", {
    may: "see_all",
    summary: "List the messages about the end of a run and their state",
    params: OfRun,
    takes: ["id"],
    reply: deliveriesReply,
  }),
  previewMessages: route("GET", "/questions/{id}/messages", {
    may: "see_all",
    summary: "Preview the message of each channel for a question; sends nothing",
    params: OfQuestion,
    takes: ["id"],
    reply: previewReply,
  }),
  listAttention: route("GET", "/attention", {
    may: "see_all",
    summary: "How often each person was interrupted lately, and their limit",
    takes: [],
    reply: attentionReply,
  }),
  listChannels: route("GET", "/channels", {
    may: "see_all",
    summary: "List the channels with their state and last deliveries",
    takes: [],
    reply: channelsReply,
  }),
  reportPresence: route("POST", "/presence", {
    may: "see_all",
    summary: "Report that the caller is at their inbox; messages to their phone wait a minute",
    takes: ["by"],
    mayRepeat: true,
    reply: presenceReply,
  }),
};

/** A delivery as programs see it. */
export function viewDelivery({
  channel,
  person,
  state,
  sentAt,
  changedAt,
  reminders,
  waits,
  failure,
}: DeliveryStatus): DeliveryView {
  return {
    channel,
    person: person ?? null,
    state,
    sent_at: sentAt ?? null,
    changed_at: changedAt ?? null,
    reminders,
    waits: waits ?? null,
    failure: failure ?? null,
  };
}

/** The interruptions of a person as programs see them. */
export function viewAttention({ person, lastHour, lastDay, collected, waiting, perHour }: AttentionUse): AttentionView {
  return { person, last_hour: lastHour, last_day: lastDay, collected, waiting, per_hour: perHour ?? null };
}

/** A channel as programs see it. */
export function viewChannel({
  name,
  lastSentAt,
  outage,
  waiting,
  listenedUntil,
  recipients,
}: ChannelState): ChannelView {
  return {
    name,
    last_sent_at: lastSentAt ?? null,
    failing: outage ? { since: outage.since, why: outage.why, person: outage.person ?? null } : null,
    waiting,
    listened_until: listenedUntil ?? null,
    recipients: recipients ?? null,
  };
}
