import { z } from "zod";
import { Instant } from "../../instant.ts";
import { pluralize } from "../../text/plural.ts";
import { Outage } from "../outage.ts";
import { type Delivery, DeliveryState, DeliveryWait } from "./delivery.ts";

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
  /** It is held back for a while. */
  waits: DeliveryWait.optional(),
  failure: Failure.optional(),
});
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** A delivery that a digest tells of has come as far as that. */
export function withDigest(delivery: Delivery, digest: Delivery | undefined): DeliveryStatus {
  if (delivery.state !== "collected" || !digest) return deliveryStatus(delivery);
  const { sentAt, changedAt, failure, state } = digest;
  const isThere = sentAt !== undefined;
  return { ...deliveryStatus(delivery), state: isThere ? "collected" : state, sentAt, changedAt, failure };
}

export function deliveryStatus({
  channel,
  person,
  state,
  sentAt,
  changedAt,
  nudges,
  waits,
  failure,
}: Delivery): DeliveryStatus {
  return { channel, person, state, sentAt, changedAt, reminders: nudges, waits, failure };
}

/** A configured channel: what it last did, and whether somebody listens for replies. */
export const ChannelState = z.object({
  name: z.string(),
  lastSentAt: Instant.optional(),
  /** It fails, for a recipient or for all, since the first failure after the last success. */
  outage: Outage.omit({ channel: true }).optional(),
  /** Messages that are still to be sent, edited or tried again. */
  waiting: z.int(),
  /** Until when a process has promised to listen for replies. */
  listenedUntil: Instant.optional(),
  /** How many people have an address there, for a channel that sends to people. */
  recipients: z.int().optional(),
});
export type ChannelState = z.infer<typeof ChannelState>;

/** When the first person was told of a question; undefined if nobody was. */
export function firstNotifiedAt(deliveries: readonly DeliveryStatus[]): Instant | undefined {
  const times = deliveries.map(({ sentAt }) => sentAt).filter((at) => at !== undefined);
  return times.sort()[0];
}

/** A delivery in words: what came of it, and when. */
export function sayDelivery({ state, waits, failure }: Pick<DeliveryStatus, "state" | "waits" | "failure">): string {
  if (state === "failed") return `failed: ${failure?.why ?? ""}`;
  if (failure)
    return `${state === "due" ? "not sent" : "not updated"} yet: ${failure.why}; tried ${pluralize(failure.tries, "time")}`;
  return waits && (state === "due" || state === "collected") ? WAIT_WORDS[waits.why] : STATE_WORDS[state];
}

const WAIT_WORDS = {
  quiet: "waits for the end of quiet hours",
  present: "waits a minute, as their inbox is open",
  digest: "waits for the next digest, as many came",
} as const;

const STATE_WORDS = {
  due: "waiting to be sent",
  sent: "sent",
  closed: "sent, shows the outcome",
  skipped: "not needed: it closed first",
  failed: "failed",
  collected: "sent in a digest",
} as const;
