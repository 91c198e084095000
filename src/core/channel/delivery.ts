import { z } from "zod";
import type { Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import { QuestionId } from "../id.ts";
import { Instant, SECOND_MS, later } from "../instant.ts";
import { type Job, jobKey } from "../run/job.ts";
import { type DeliveryRef, type Question, isPending } from "../question/question.ts";

/** How long a message may be on its way before another attempt may be made; longer than any request takes. */
export const SENDING_MS = 30 * SECOND_MS;
const ID_CHARS = 32;
const REPLIES_REMEMBERED = 50;

/**
 * The message of one question in one channel for one recipient. `due`: nothing was sent yet. `sent`: a message is there.
 * `closed`: it shows the outcome. `skipped`: the question closed first. `failed`: the channel refused it for good.
 */
export const DeliveryState = z.enum(["due", "sent", "closed", "skipped", "failed"]);
export type DeliveryState = z.infer<typeof DeliveryState>;

export const Delivery = z.object({
  id: z.string(),
  version: z.int(),
  questionId: QuestionId,
  /** Unguessable; buttons carry it, so a reply with it comes from somebody who got the message. */
  token: z.string(),
  channel: z.string(),
  /** The person it is for; undefined for a shared address. */
  person: z.string().optional(),
  state: DeliveryState,
  /** The message in the words of the channel, such as chat and message id. */
  outside: z.string().optional(),
  /** The hash of what the channel shows now. */
  face: z.string().optional(),
  /** When the message first arrived. */
  sentAt: Instant.optional(),
  /** When it last changed there. */
  changedAt: Instant.optional(),
  /** An attempt is under way, or was when its process died; with the hash of what it sends. */
  sending: z.object({ until: Instant, face: z.string().optional() }).optional(),
  /** The number of reminders that were sent. */
  nudges: z.int(),
  /** The last failure, until something succeeds. */
  failure: z.object({ why: z.string(), at: Instant, tries: z.int() }).optional(),
  /** The failure is in the trail. */
  isReported: z.boolean().optional(),
  /** The last replies that were handled; a channel may bring one again. */
  handled: z.array(z.string()),
  /** How many replies were responded to in the channel. */
  responses: z.int(),
  /** A late reply was told the outcome. */
  isLateTold: z.boolean().optional(),
});
export type Delivery = z.infer<typeof Delivery>;

/** A new delivery; its id is the hash of its token, so that the id may be shown. */
export function newDelivery(token: string, questionId: QuestionId, target: Omit<DeliveryRef, "id">): Delivery {
  return {
    id: deliveryId(token),
    version: 0,
    questionId,
    token,
    channel: target.channel,
    person: target.person,
    state: "due",
    nudges: 0,
    handled: [],
    responses: 0,
  };
}

export function deliveryId(token: string): string {
  return hashText(token).slice(0, ID_CHARS);
}

export function deliveryEntry({ id, version, questionId, ...body }: Delivery): Entry {
  return { kind: "delivery", id, parent: questionId, version, body };
}

export function parseDelivery({ id, version, parent, body }: Entry): Delivery {
  return Delivery.parse({ ...body, id, version, questionId: parent });
}

/** The job that brings a message in line with its question; a question has one for each of its deliveries. */
export function deliverJob(id: string, question: Pick<Question, "id" | "runId">, dueAt: Instant): Job {
  return {
    key: jobKey("deliver", id),
    kind: "deliver",
    dueAt,
    runId: question.runId,
    questionId: question.id,
    tries: 0,
  };
}

/** The next step of a delivery. */
export type DeliveryStep =
  | { do: "nothing" }
  | { do: "wait"; until: Instant }
  | { do: "skip" }
  | { do: "send"; mayBeThere: boolean }
  | { do: "edit" | "remind" };

/** Decides the next step: send what was never sent, remind, or show what changed since. */
export function planDelivery(delivery: Delivery, question: Question, face: string, now: Instant): DeliveryStep {
  const { state, sending } = delivery;
  if (state === "closed" || state === "skipped" || state === "failed") return { do: "nothing" };
  // Another attempt may still arrive: two at a time would be two messages.
  if (sending && sending.until > now) return { do: "wait", until: sending.until };
  if (state === "due") {
    const mayBeThere = sending !== undefined;
    // A message that may have arrived before a crash must not ask for ever.
    return isPending(question) || mayBeThere ? { do: "send", mayBeThere } : { do: "skip" };
  }
  if (face !== delivery.face) return { do: "edit" };
  return isPending(question) && delivery.nudges < (question.nudges ?? 0) ? { do: "remind" } : { do: "nothing" };
}

/** The delivery while something of it is on its way. */
export function claimDelivery(delivery: Delivery, face: string, now: Instant): Delivery {
  return { ...delivery, sending: { until: later(now, SENDING_MS), face } };
}

/** The delivery after a step that succeeded. */
export function advanceDelivery(
  delivery: Delivery,
  done: { step: "send" | "edit" | "remind"; outside?: string | undefined; face: string; question: Question },
  now: Instant,
): Delivery {
  const { question } = done;
  return {
    ...delivery,
    state: isPending(question) ? "sent" : "closed",
    outside: done.outside ?? delivery.outside,
    face: done.face,
    sentAt: delivery.sentAt ?? now,
    changedAt: now,
    sending: undefined,
    // A new message is a reminder too.
    nudges: done.step === "edit" ? delivery.nudges : (question.nudges ?? 0),
    failure: undefined,
    isReported: undefined,
  };
}

/** The delivery after a step that failed. A message that is gone is sent again as long as its question waits. */
export function failDelivery(
  delivery: Delivery,
  failed: { why: string; isFinal: boolean; isGone: boolean; isReported: boolean },
  question: Question,
  now: Instant,
): Delivery {
  const tries = (delivery.failure?.tries ?? 0) + 1;
  const next = {
    ...delivery,
    sending: undefined,
    failure: { why: failed.why, at: now, tries },
    isReported: failed.isReported,
  };
  if (failed.isGone)
    return { ...next, state: isPending(question) ? "due" : "closed", outside: undefined, face: undefined };
  return failed.isFinal ? { ...next, state: "failed" } : next;
}

/** The delivery after a reply, with its key. */
export function rememberReply(delivery: Delivery, key: string): Delivery {
  return { ...delivery, handled: [...delivery.handled.slice(1 - REPLIES_REMEMBERED), key] };
}
