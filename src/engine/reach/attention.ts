import {
  type AttentionRules,
  type AttentionUse,
  addRing,
  attentionEntry,
  attentionUse,
  collectUntil,
  holdForDigest,
  parseAttention,
  releaseHeld,
  removeRing,
} from "../../core/channel/attention.ts";
import { type Delivery, deliveryEntry, newDelivery, parseDelivery } from "../../core/channel/delivery/delivery.ts";
import type { Changes } from "../../core/changes.ts";
import type { Instant } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { isPending } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import { parseDuration } from "../../core/text/duration.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { MessageSubject } from "./message-subject.ts";

type ReadStore = Pick<Store, "findEntry">;

/** How often a person may be interrupted: as they chose, else as the settings say. */
export function attentionRulesOf(person: Person | undefined, { attention }: Pick<Rules, "attention">): AttentionRules {
  const { digest, interruptionsPerHour } = person ?? {};
  return {
    perMinute: attention.perMinute,
    perHour: interruptionsPerHour ?? attention.perHour,
    digestMs: digest === undefined ? attention.digestMs : parseDuration(digest),
  };
}

/** Until when messages to a recipient are collected; those to shared addresses, and digests, are not. */
export async function findCollectUntil(
  store: ReadStore,
  { person, covers }: Delivery,
  rules: AttentionRules,
  now: Instant,
): Promise<Instant | undefined> {
  if (person === undefined || covers) return undefined;
  return collectUntil(parseAttention(await store.findEntry("attention", person)), rules, now);
}

/** The row of a person while a delivery of theirs waits for the next digest, or no longer does. */
export async function keepHeld(
  store: ReadStore,
  { person, id, channel }: Delivery,
  isHeld: boolean,
): Promise<Pick<Changes, "entries">> {
  const known = person === undefined ? undefined : await store.findEntry("attention", person);
  const attention = parseAttention(known);
  const isListed = attention.held.some((each) => each.id === id);
  if (person === undefined || isListed === isHeld) return {};
  const after = isHeld ? holdForDigest(attention, { id, channel }) : releaseHeld(attention, [id]);
  return { entries: [attentionEntry(person, known, after)] };
}

/**
 * The row of a person whom a message is about to interrupt. It is written before the message leaves: of many that are
 * due at once, each counts those before it.
 */
export async function countRing(
  store: ReadStore,
  { person, id }: Delivery,
  { name, collected }: MessageSubject,
  at: Instant,
): Promise<Pick<Changes, "entries">> {
  if (person === undefined) return {};
  const known = await store.findEntry("attention", person);
  const rung = addRing(parseAttention(known), { at, about: name, ...(collected !== undefined && { collected }) });
  return { entries: [attentionEntry(person, known, releaseHeld(rung, [id]))] };
}

/** The row of a person whom a message was to interrupt and did not reach. */
export async function uncountRing(
  store: ReadStore,
  { person }: Delivery,
  { name }: MessageSubject,
): Promise<Pick<Changes, "entries">> {
  const known = person === undefined ? undefined : await store.findEntry("attention", person);
  if (person === undefined || !known) return {};
  return { entries: [attentionEntry(person, known, removeRing(parseAttention(known), name))] };
}

/**
 * Makes one digest of all deliveries that wait for it in the same channel; undefined if there is only this one. The rows
 * and the digest are one commit: of several processes one makes it.
 */
export async function makeDigest(
  { store, decider }: { store: Store; decider: Decider },
  { person, channel }: Delivery,
): Promise<Delivery | undefined> {
  if (person === undefined) return undefined;
  const made = await decider.retry(async () => {
    const known = await store.findEntry("attention", person);
    const attention = parseAttention(known);
    const ids = attention.held.filter((each) => each.channel === channel).map(({ id }) => id);
    const rows = (await store.readEntries("delivery", ids)).map(parseDelivery);
    const waiting = await decider.rows.readMany(rows.flatMap(({ questionId }) => questionId ?? []));
    const isOpen = new Set(waiting.filter(({ question }) => isPending(question)).map(({ question }) => question.id));
    const held = rows
      .filter(({ state, sending, questionId }) => {
        const isStill = (state === "due" || state === "collected") && sending === undefined;
        return isStill && (questionId === undefined || isOpen.has(questionId));
      })
      // Ids sort by time: the oldest question is the first; news come last.
      .sort((one, other) => ((one.questionId ?? "~") < (other.questionId ?? "~") ? -1 : 1));
    if (held.length < 2) return { digest: undefined };
    const covers = held.map(({ id }) => id);
    // News are told although nobody has to act on them.
    const isNotice = held.some(({ notice }) => notice !== undefined) || undefined;
    const digest = newDelivery(decider.at(SYSTEM).ids.deliveryToken(), { covers, isNotice }, { channel, person });
    const collected = held.map((row) => ({ ...row, state: "collected", digest: digest.id, waits: undefined }) as const);
    const committed = await decider.commit({
      entries: [
        attentionEntry(person, known, releaseHeld(attention, ids)),
        ...[digest, ...collected].map(deliveryEntry),
      ],
    });
    return committed.ok ? { digest: { ...digest, version: 1 } } : undefined;
  });
  return made.digest;
}

/** How often each person was interrupted. */
export async function listAttention({
  store,
  decider,
}: {
  store: Pick<Store, "listEntries">;
  decider: Decider;
}): Promise<AttentionUse[]> {
  const { now, rules } = decider.at(SYSTEM);
  const entries = await store.listEntries("attention");
  const people = entries.length === 0 ? [] : await decider.readPeople();
  return entries
    .map((entry) => {
      const person = people.find(({ id, removed }) => id === entry.id && !removed);
      return attentionUse(entry.id, parseAttention(entry), attentionRulesOf(person, rules), now);
    })
    .filter(({ lastDay, waiting }) => lastDay + waiting > 0)
    .sort((one, other) => other.lastDay - one.lastDay);
}
