import { z } from "zod";
import { Instant } from "../instant.ts";
import { type Delivery, DeliveryState } from "./delivery.ts";

const Failure = z.object({ why: z.string(), at: Instant, tries: z.int() });

/** A delivery as people may see it: nothing in it lets anybody answer. */
export const DeliveryStatus = z.object({
  channel: z.string(),
  person: z.string().optional(),
  state: DeliveryState,
  sentAt: Instant.optional(),
  changedAt: Instant.optional(),
  /** How many reminders were sent. */
  reminders: z.int(),
  failure: Failure.optional(),
});
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export function deliveryStatus({
  channel,
  person,
  state,
  sentAt,
  changedAt,
  nudges,
  failure,
}: Delivery): DeliveryStatus {
  return { channel, person, state, sentAt, changedAt, reminders: nudges, failure };
}

/** A configured channel: what it last did, and whether somebody listens for replies. */
export const ChannelState = z.object({
  name: z.string(),
  lastSentAt: Instant.optional(),
  lastFailure: z.object({ why: z.string(), at: Instant }).optional(),
  /** Messages that are still to be sent, edited or tried again. */
  waiting: z.int(),
  /** Until when a process has promised to listen for replies. */
  listenedUntil: Instant.optional(),
});
export type ChannelState = z.infer<typeof ChannelState>;

/** When the first person was told of a question; undefined if nobody was. */
export function firstNotifiedAt(deliveries: readonly DeliveryStatus[]): Instant | undefined {
  const times = deliveries.map(({ sentAt }) => sentAt).filter((at) => at !== undefined);
  return times.sort()[0];
}

/** A delivery in words: what came of it, and when. */
export function sayDelivery({ state, failure }: Pick<DeliveryStatus, "state" | "failure">): string {
  if (state === "failed") return `failed: ${failure?.why ?? ""}`;
  if (failure)
    return `${state === "due" ? "not sent" : "not updated"} yet: ${failure.why}; tried ${failure.tries} times`;
  return STATE_WORDS[state];
}

const STATE_WORDS = {
  due: "waiting to be sent",
  sent: "sent",
  closed: "sent, shows the outcome",
  skipped: "not needed: it closed first",
  failed: "failed",
} as const;
