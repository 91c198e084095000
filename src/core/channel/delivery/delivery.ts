import { z } from "zod";
import type { Entry } from "../../changes.ts";
import { hashText } from "../../question/content.ts";
import { QuestionId, type RunId } from "../../id.ts";
import { HOUR_MS, Instant, MINUTE_MS, SECOND_MS, earlier, later } from "../../instant.ts";
import { type Job, jobKey } from "../../run/job.ts";
import type { DeliverySubject } from "./delivery-subject.ts";
import { Notice } from "../notice.ts";

/** How long a message may be on its way before another attempt may be made; longer than any request takes. */
export const SENDING_MS = 30 * SECOND_MS;
/** How long phones stay quiet while their owner is at the inbox. */
const PRESENT_WAIT_MS = MINUTE_MS;
const LONGEST_WAIT_MS = HOUR_MS;
const ID_CHARS = 32;
/** How many people are told that their replies do not count, in all of a message. */
const MOST_NOTES = 5;
const REPLIES_REMEMBERED = 50;

/**
 * The message of one question or piece of news in one channel for one recipient. `due`: nothing was sent yet. `sent`: a message is there.
 * `closed`: it shows the outcome. `skipped`: the question closed first. `failed`: the channel refused it for good.
 * `collected`: a digest tells of it.
 */
export const DeliveryState = z.enum(["due", "sent", "closed", "skipped", "failed", "collected"]);
export type DeliveryState = z.infer<typeof DeliveryState>;

/** Why a message waits. `quiet`: quiet hours. `present`: the person has their inbox open. `digest`: many came. */
export const DeliveryWait = z.object({ why: z.enum(["quiet", "present", "digest"]), since: Instant, until: Instant });
export type DeliveryWait = z.infer<typeof DeliveryWait>;

export const Delivery = z.object({
  id: z.string(),
  version: z.int(),
  /** The question that it asks; undefined for news. */
  questionId: QuestionId.optional(),
  /** The news that it tells. */
  notice: Notice.optional(),
  /** The deliveries that it tells of, if it is a digest. */
  covers: z.array(z.string()).optional(),
  /** The digest that tells of it. */
  digest: z.string().optional(),
  /** The digest that told of it before it had a message of its own. */
  formerDigest: z.string().optional(),
  /** Its recipient asked for it: it waits for nothing. */
  isWanted: z.literal(true).optional(),
  /** Unguessable; buttons carry it, so a reply with it comes from somebody who got the message. */
  token: z.string(),
  channel: z.string(),
  /** The person it is for; undefined for a shared address. */
  person: z.string().optional(),
  /** It tells of the outcome: it is sent although the question is closed. */
  isNotice: z.literal(true).optional(),
  state: DeliveryState,
  /** The message in the words of the channel, such as chat and message id. */
  outside: z.string().optional(),
  /** Messages that are there besides: an attempt that was given up for lost had arrived. They change with it. */
  doubles: z.array(z.string()).optional(),
  /** Where it is, for a channel in which replies name a place. */
  place: z.string().optional(),
  /** The hash of what the channel shows now. */
  face: z.string().optional(),
  /** When the message first arrived. */
  sentAt: Instant.optional(),
  /** When it last changed there. */
  changedAt: Instant.optional(),
  /** How many messages, changes and reminders have gone out. */
  changes: z.int().optional(),
  /**
   * An attempt is under way, or nobody knows what came of it: its process died, or no reply came. With the hash of what
   * it sends; `isAgain` if an attempt before it may have arrived too.
   */
  sending: z.object({ until: Instant, face: z.string().optional(), isAgain: z.boolean().optional() }).optional(),
  /** It is held back for a while: why, since when and until when. */
  waits: DeliveryWait.optional(),
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
  /** A reply to news was told that they need none. */
  isLateTold: z.boolean().optional(),
  /** A forged reply was recorded. */
  isStrangerTold: z.boolean().optional(),
  /** The notes that a reply does not count: a hash of the reason and the account for each. */
  notes: z.array(z.string()).optional(),
});
export type Delivery = z.infer<typeof Delivery>;

/** A new delivery; its id is the hash of its token, so that the id may be shown. */
export function newDelivery(
  token: string,
  about: Pick<Delivery, "questionId" | "notice" | "isNotice" | "covers">,
  target: Pick<Delivery, "channel" | "person">,
): Delivery {
  return {
    id: deliveryId(token),
    version: 0,
    ...about,
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
  const parent = questionId ?? body.notice?.runId;
  return { kind: body.covers ? "digest" : "delivery", id, ...(parent !== undefined && { parent }), version, body };
}

/** The row that finds a delivery by its message, or by the place of it. */
export function outsideEntry(
  delivery: string,
  { channel, outside, place }: { channel: string; outside: string; place: string | undefined },
): Entry {
  const entry: Entry = { kind: "outside", id: `${channel}:${outside}`, version: 0, body: { delivery } };
  return place === undefined ? entry : { ...entry, parent: placeName(channel, place) };
}

/** The message that such a row is about. */
export function outsideOf({ id }: Entry, channel: string): string {
  return id.slice(channel.length + 1);
}

/** The name of a place among those of all channels. */
export function placeName(channel: string, place: string): string {
  return `${channel}:${place}`;
}

export function parseDelivery({ id, version, parent, body }: Entry): Delivery {
  return Delivery.parse({ ...body, id, version, questionId: body["notice"] === undefined ? parent : undefined });
}

/** The job that brings a message in line with its subject; a question or run has one for each of its deliveries. */
export function deliverJob(
  id: string,
  subject: { runId?: RunId | undefined; questionId?: QuestionId | undefined },
  dueAt: Instant,
): Job {
  const { runId, questionId } = subject;
  return { key: jobKey("deliver", id), kind: "deliver", dueAt, runId, questionId, tries: 0 };
}

/** The next step of a delivery. */
export type DeliveryStep =
  | { do: "nothing" }
  | { do: "wait"; until: Instant; waits?: DeliveryWait }
  | { do: "skip" | "close" }
  /** `mayBeThere`: an attempt got no reply, so that what it sent may have arrived. */
  | { do: "send" | "edit"; mayBeThere: boolean }
  | { do: "remind" };

/** The time, and what is known of the recipient at that time. */
export interface DeliveryTime {
  now: Instant;
  /** The end of the quiet hours that hold. */
  quietUntil?: Instant | undefined;
  /** Until when the recipient counts as being at their inbox. */
  presentUntil?: Instant | undefined;
  /** Until when messages to the recipient are collected. */
  collectUntil?: Instant | undefined;
}

/**
 * Decides the next step: send what was never sent, remind, or show what changed since. Only what would ring waits for a
 * better time; a change is shown at once.
 */
export function planDelivery(
  delivery: Delivery,
  subject: DeliverySubject,
  face: string,
  at: DeliveryTime,
): DeliveryStep {
  const { now } = at;
  const { state, sending } = delivery;
  if (state === "closed" || state === "skipped" || state === "failed") return { do: "nothing" };
  // Another attempt may still arrive: two at a time would be two messages.
  if (sending && sending.until > now) return { do: "wait", until: sending.until };
  if (state === "collected") {
    if (!subject.isOpen) return { do: "close" };
    const isDue = delivery.isWanted === true || isReminderDue(delivery, subject);
    return isDue ? (holdBack(delivery, subject, at) ?? { do: "send", mayBeThere: false }) : { do: "nothing" };
  }
  if (state === "due") {
    // It may have arrived before a crash: that has to be found out at once, and it must not ask for ever.
    if (sending) return { do: "send", mayBeThere: true };
    if (!subject.isOpen && !delivery.isNotice) return { do: "skip" };
    return holdBack(delivery, subject, at) ?? { do: "send", mayBeThere: false };
  }
  if (face !== delivery.face) return { do: "edit", mayBeThere: sending !== undefined };
  // Some channels have nothing to tell of an outcome, such as to the person who answered.
  if (!subject.isOpen) return { do: "close" };
  if (!isReminderDue(delivery, subject)) return { do: "nothing" };
  return holdBack(delivery, subject, at) ?? { do: "remind" };
}

/** Says whether a reminder is to be sent; one that was held back is no longer needed once somebody is on it. */
export function isReminderDue({ nudges }: Delivery, subject: DeliverySubject): boolean {
  return subject.isOpen && nudges < subject.nudges && !subject.isReminderUnwanted;
}

/**
 * Holds a message back in quiet hours and while messages are collected, unless the risk is high, and for a minute while
 * its recipient is there.
 */
function holdBack({ waits, isWanted }: Delivery, subject: DeliverySubject, at: DeliveryTime): DeliveryStep | undefined {
  const { now, quietUntil, presentUntil, collectUntil } = at;
  if (isWanted) return undefined;
  const waitFor = (why: DeliveryWait["why"], until: Instant, since: Instant): DeliveryStep => ({
    do: "wait",
    // Hours, settings and clocks change meanwhile.
    until: earlier(until, later(now, LONGEST_WAIT_MS)),
    waits: { why, since, until },
  });
  const sinceOf = (why: DeliveryWait["why"]) => (waits?.why === why ? waits.since : now);
  if (quietUntil !== undefined && quietUntil > now && !subject.isUrgent)
    return waitFor("quiet", quietUntil, sinceOf("quiet"));
  if (collectUntil !== undefined && collectUntil > now && !subject.isUrgent)
    return waitFor("digest", collectUntil, sinceOf("digest"));
  if (presentUntil === undefined || presentUntil <= now) return undefined;
  const since = sinceOf("present");
  const latest = later(since, PRESENT_WAIT_MS);
  return latest > now ? waitFor("present", earlier(presentUntil, latest), since) : undefined;
}

/** The delivery while something of it is on its way. */
export function claimDelivery(delivery: Delivery, face: string, now: Instant): Delivery {
  const isAgain = delivery.sending !== undefined;
  return { ...delivery, sending: { until: later(now, SENDING_MS), face, isAgain: isAgain || undefined } };
}

/** The delivery after a step that succeeded. */
export function advanceDelivery(
  delivery: Delivery,
  done: {
    step: "send" | "edit" | "remind";
    outside?: string | undefined;
    place?: string | undefined;
    face: string;
    subject: DeliverySubject;
  },
  now: Instant,
): Delivery {
  const { subject } = done;
  const { outside: known, doubles } = delivery;
  const isDouble = done.step === "send" && done.outside !== undefined && known !== undefined && known !== done.outside;
  return {
    ...delivery,
    state: subject.isOpen ? "sent" : "closed",
    outside: done.outside ?? known,
    doubles: isDouble ? [...(doubles ?? []), known] : doubles,
    place: done.place ?? delivery.place,
    face: done.face,
    sentAt: delivery.sentAt ?? now,
    changedAt: now,
    changes: (delivery.changes ?? 0) + 1,
    sending: undefined,
    waits: undefined,
    digest: undefined,
    formerDigest: delivery.digest ?? delivery.formerDigest,
    isWanted: undefined,
    // A new message is a reminder too.
    nudges: done.step === "edit" ? delivery.nudges : subject.nudges,
    failure: undefined,
    isReported: undefined,
  };
}

/** The delivery after a step that failed. A message that is gone is sent again as long as its question waits. */
export function failDelivery(
  delivery: Delivery,
  failed: { why: string; isFinal: boolean; isGone: boolean; mayBeThere: boolean; isReported: boolean },
  subject: DeliverySubject,
  now: Instant,
): Delivery {
  const tries = (delivery.failure?.tries ?? 0) + 1;
  const { sending } = delivery;
  const isUnknown = !failed.isFinal && !failed.isGone && (failed.mayBeThere || sending?.isAgain === true);
  const next = {
    ...delivery,
    sending: sending && isUnknown ? { ...sending, until: now } : undefined,
    failure: { why: failed.why, at: now, tries },
    isReported: failed.isReported,
  };
  if (failed.isGone) return { ...next, state: subject.isOpen ? "due" : "closed", outside: undefined, face: undefined };
  return failed.isFinal ? { ...next, state: "failed" } : next;
}

/** The delivery of a message that came back after it was sent. */
export function returnDelivery(delivery: Delivery, why: string, now: Instant): Delivery {
  const tries = (delivery.failure?.tries ?? 0) + 1;
  return { ...delivery, state: "failed", failure: { why, at: now, tries }, isReported: true };
}

/** Names a note to an account that its reply does not count; undefined if it had that note, or if there were enough. */
export function findNewNote({ notes = [] }: Delivery, reason: string, account: string): string | undefined {
  const note = hashText(`${reason} ${account.toLowerCase()}`).slice(0, ID_CHARS);
  return notes.length >= MOST_NOTES || notes.includes(note) ? undefined : note;
}

export function rememberNote(delivery: Delivery, note: string): Delivery {
  return { ...delivery, notes: [...(delivery.notes ?? []), note] };
}

/** The delivery after a reply, with its key. */
export function rememberReply(delivery: Delivery, key: string): Delivery {
  return { ...delivery, handled: [...delivery.handled.slice(1 - REPLIES_REMEMBERED), key] };
}
