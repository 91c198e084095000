import { z } from "zod";
import { DeliveryState } from "../channel/delivery/delivery.ts";
import { type Instant, MINUTE_MS, msBetween } from "../instant.ts";
import type { Event } from "./event.ts";

/** Event and row are written in one commit, each with the time at which it was made. */
const SAME_MS = MINUTE_MS;

/** The fate of a message, as the trail tells it. `collected`: a digest told of it. `over`: it failed for good. */
export interface ToldMessage {
  channel: string;
  person?: string | undefined;
  is: "sent" | "collected" | "failed" | "over";
  at: Instant;
}

const Detail = z.object({
  channel: z.string(),
  person: z.string().optional(),
  digest: z.boolean().optional(),
  final: z.boolean().optional(),
});

/** Reads what an event says of a message; undefined if it is about none. */
export function readToldMessage({ type, at, detail }: Pick<Event, "type" | "at" | "detail">): ToldMessage | undefined {
  const isSent = type.endsWith(".notified");
  const { data } = isSent || type.endsWith(".delivery_failed") ? Detail.safeParse(detail) : {};
  if (!data) return undefined;
  const { channel, person, digest = false, final = false } = data;
  if (digest) return isSent ? { channel, person, is: "collected", at } : undefined;
  return { channel, person, is: isSent ? "sent" : final ? "over" : "failed", at };
}

/** How far a message has come, as its row says; its other fields change without an event. */
const Progress = z.object({
  state: DeliveryState,
  sentAt: z.string().optional(),
  outside: z.string().optional(),
  failure: z.unknown().optional(),
  digest: z.string().optional(),
  formerDigest: z.string().optional(),
});

/**
 * Says whether a message may have come as far as its row says. `told` is what the trail says of the messages in this
 * channel for this person, `isOnly` that there is one such message. A message that was deleted in its channel is sent
 * again or given up without an event, and one of a digest closes with that.
 */
export function isAsFarAsTold(row: unknown, told: readonly ToldMessage[], isOnly: boolean): boolean {
  const { data } = Progress.safeParse(row);
  if (!data) return false;
  const { state, sentAt, outside, failure } = data;
  const isCollected = (data.digest ?? data.formerDigest) !== undefined;
  const wasIn = (is: ToldMessage["is"]) => told.some((each) => each.is === is);
  const isArrivalTold = told.some(({ is, at }) => is === "sent" && sentAt !== undefined && isSameTime(sentAt, at));
  if (sentAt !== undefined ? !isArrivalTold : isOnly && wasIn("sent")) return false;
  const own = told.filter(({ is }) => is !== "collected");
  if (isOnly && own.at(-1)?.is === "over") return state === "failed";
  switch (state) {
    case "sent":
      return sentAt !== undefined;
    case "closed":
      return sentAt !== undefined || isCollected || (outside === undefined && failure !== undefined);
    case "failed":
      return wasIn("failed") || wasIn("over");
    default:
      return sentAt === undefined || outside === undefined;
  }
}

function isSameTime(one: string, other: Instant): boolean {
  return Math.abs(msBetween(one as Instant, other)) < SAME_MS; // a time that cannot be read is the same as none
}
