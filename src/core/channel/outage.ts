import { z } from "zod";
import type { Entry } from "../changes.ts";
import { Instant, MINUTE_MS } from "../instant.ts";
import { channelName } from "../people/actor.ts";
import type { Language } from "../text/language.ts";
import { tellIn } from "./message-words.ts";
import type { Target } from "./target.ts";

/** How long a channel may fail before people are told of it elsewhere. */
export const OUTAGE_MS = 10 * MINUTE_MS;

/** A channel that fails for one recipient: nothing has succeeded there since. */
export const Outage = z.object({
  channel: z.string(),
  person: z.string().optional(),
  /** Replies cannot be read; messages may still go out. */
  isDeaf: z.literal(true).optional(),
  /** The first failure after the last success. */
  since: Instant,
  /** The reason of that failure. */
  why: z.string(),
});
export type Outage = z.infer<typeof Outage>;

/** An outage as it is kept; without `since` it is over. */
const OutageBody = Outage.partial({ since: true, why: true }).extend({ toldAt: Instant.optional() });

/** No person is called like the second part of a channel whose replies cannot be read. */
export function outageId({ channel, person, isDeaf }: Target & Pick<Outage, "isDeaf">): string {
  if (!isDeaf) return `${channel}:${person ?? ""}`;
  return person === undefined ? `${channel}:/replies` : `${channel}:/replies/${person}`;
}

/** Says whether a row tells, or told, that replies of a channel cannot be read. */
export function isDeafOutage({ id }: Pick<Entry, "id">, channel: string): boolean {
  return id === `${channel}:/replies` || id.startsWith(`${channel}:/replies/`);
}

/** The reason of an outage, with what it keeps from working if messages still go out. */
export function sayReason({ isDeaf, why }: Pick<Outage, "isDeaf" | "why">): string {
  return isDeaf ? `replies are not read: ${why}` : why;
}

/** The outage that a row tells of; undefined if it is over. */
export function parseOutage(entry: Entry): (Outage & { toldAt?: Instant | undefined }) | undefined {
  const { since, why = "", ...rest } = OutageBody.parse(entry.body);
  return since === undefined ? undefined : { ...rest, since, why };
}

/** A row that begins, changes or ends an outage. */
export function outageEntry(
  known: Entry | undefined,
  outage: Target & Pick<Outage, "isDeaf"> & { since?: Instant; why?: string; toldAt?: Instant | undefined },
): Entry {
  return { kind: "outage", id: outageId(outage), version: known?.version ?? 0, body: { ...outage } };
}

/** The note about an outage, for the recipient. */
export function sayOutage({ channel, since, why, isDeaf }: Outage, language: Language): string {
  return tellIn(language, isDeaf ? "outage.deaf" : "outage", {
    channel: channelName(channel),
    time: since.slice(11, 16),
    why,
  });
}
