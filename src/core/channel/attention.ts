import { z } from "zod";
import type { Entry } from "../changes.ts";
import { DAY_MS, HOUR_MS, Instant, MINUTE_MS, later } from "../instant.ts";

/** More than anybody can be interrupted in a day. */
const MOST_RINGS = 500;

/** How often a person may be interrupted. */
export interface AttentionRules {
  /** The number of messages within a minute; beyond it the others are collected. */
  perMinute: number | undefined;
  /** The number of interruptions within an hour; beyond it one digest. */
  perHour: number | undefined;
  /** After a message, others are collected for this long. */
  digestMs: number | undefined;
}

/** The interruptions of one person within a day, and the deliveries that wait for their next digest. */
export const Attention = z.object({
  rings: z.array(
    z.object({
      at: Instant,
      /** The question or run; in several channels at once it is one interruption. */
      about: z.string(),
      /** How many questions a digest had. */
      collected: z.int().optional(),
    }),
  ),
  held: z.array(z.object({ id: z.string(), channel: z.string() })),
});
export type Attention = z.infer<typeof Attention>;

export function parseAttention(entry: Entry | undefined): Attention {
  return entry ? Attention.parse(entry.body) : { rings: [], held: [] };
}

/** A row that changes the attention of a person. */
export function attentionEntry(person: string, known: Entry | undefined, attention: Attention): Entry {
  return { kind: "attention", id: person, version: known?.version ?? 0, body: { ...attention } };
}

/** Until when further messages to a person are collected; undefined if one may be sent now. */
export function collectUntil({ rings }: Attention, rules: AttentionRules, now: Instant): Instant | undefined {
  const { perMinute, perHour, digestMs } = rules;
  const since = (ms: number) => rings.filter(({ at }) => at > later(now, -ms));
  const ends: Instant[] = [];
  const hour = since(HOUR_MS);
  const freed = perHour === undefined ? undefined : hour[hour.length - Math.max(1, perHour)];
  if (freed) ends.push(later(freed.at, HOUR_MS));
  const last = digestMs === undefined ? undefined : since(digestMs).at(-1);
  if (last && digestMs !== undefined) ends.push(later(last.at, digestMs));
  const minute = since(MINUTE_MS);
  const first = perMinute === undefined ? undefined : minute[minute.length - perMinute];
  if (first) ends.push(later(first.at, MINUTE_MS));
  return ends.sort().at(-1);
}

/** The attention after a message that rings. */
export function addRing(attention: Attention, ring: Attention["rings"][number]): Attention {
  const kept = attention.rings.filter(({ at }) => at > later(ring.at, -DAY_MS)).slice(1 - MOST_RINGS);
  const isSame = kept.some(({ at, about }) => about === ring.about && at > later(ring.at, -MINUTE_MS));
  return { ...attention, rings: isSame ? kept : [...kept, ring] };
}

/** The attention after a message that was to ring and did not arrive. */
export function removeRing(attention: Attention, about: string): Attention {
  const last = attention.rings.findLastIndex((ring) => ring.about === about);
  return last < 0 ? attention : { ...attention, rings: attention.rings.toSpliced(last, 1) };
}

/** The attention while a delivery waits for the next digest. */
export function holdForDigest(attention: Attention, delivery: { id: string; channel: string }): Attention {
  const { id, channel } = delivery;
  return attention.held.some((each) => each.id === id)
    ? attention
    : { ...attention, held: [...attention.held, { id, channel }] };
}

/** The attention without deliveries that wait no longer. */
export function releaseHeld(attention: Attention, ids: readonly string[]): Attention {
  return { ...attention, held: attention.held.filter(({ id }) => !ids.includes(id)) };
}

/** The interruptions of a person, for the insights. */
export const AttentionUse = z.object({
  person: z.string(),
  lastHour: z.int(),
  lastDay: z.int(),
  /** Questions that came in digests within a day. */
  collected: z.int(),
  /** Messages that wait for the next digest. */
  waiting: z.int(),
  /** The number of interruptions within an hour that are allowed. */
  perHour: z.int().optional(),
});
export type AttentionUse = z.infer<typeof AttentionUse>;

export function attentionUse(
  person: string,
  { rings, held }: Attention,
  { perHour }: AttentionRules,
  now: Instant,
): AttentionUse {
  const day = rings.filter(({ at }) => at > later(now, -DAY_MS));
  return {
    person,
    lastHour: day.filter(({ at }) => at > later(now, -HOUR_MS)).length,
    lastDay: day.length,
    collected: day.reduce((sum, { collected = 0 }) => sum + collected, 0),
    waiting: held.length,
    perHour,
  };
}
