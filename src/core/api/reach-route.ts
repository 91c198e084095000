import { z } from "zod";
import { ChannelState, DeliveryStatus } from "../channel/delivery-status.ts";
import { DeliveryWait } from "../channel/delivery.ts";
import { Instant } from "../instant.ts";
import { Presence } from "../people/presence.ts";
import { OfQuestion, type Reply, route } from "./route.ts";
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

const presenceReply: Reply<Presence> = { rows: Presence, schema: Presence, view: (presence) => presence };

/** Messages to people, and the channels they go through. */
export const REACH_ROUTES = {
  listDeliveries: route("GET", "/questions/{id}/deliveries", {
    may: "see_all",
    summary: "Who was told of a question, where, and what came of it",
    params: OfQuestion,
    takes: ["id"],
    reply: deliveriesReply,
  }),
  listChannels: route("GET", "/channels", {
    may: "see_all",
    summary: "The configured channels and what they last did",
    takes: [],
    reply: channelsReply,
  }),
  reportPresence: route("POST", "/presence", {
    may: "see_all",
    summary: "The caller is at their inbox for the next 30 seconds; messages to their phone wait a minute",
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
