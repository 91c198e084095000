import { z } from "zod";
import type { Entry } from "../changes.ts";
import { Instant, MINUTE_MS } from "../instant.ts";
import { channelName } from "../people/actor.ts";
import type { Target } from "./target.ts";

/** How long a channel may fail before people are told of it elsewhere. */
export const OUTAGE_MS = 10 * MINUTE_MS;

/** A channel that fails for one recipient: nothing has succeeded there since. */
export const Outage = z.object({
  channel: z.string(),
  person: z.string().optional(),
  /** The first failure after the last success. */
  since: Instant,
  /** The reason of that failure. */
  why: z.string(),
});
export type Outage = z.infer<typeof Outage>;

/** An outage as it is kept; without `since` it is over. */
const OutageBody = Outage.partial({ since: true, why: true }).extend({ toldAt: Instant.optional() });

export function outageId({ channel, person }: Target): string {
  return `${channel}:${person ?? ""}`;
}

/** The outage that a row tells of; undefined if it is over. */
export function parseOutage(entry: Entry): (Outage & { toldAt?: Instant | undefined }) | undefined {
  const { since, why = "", ...rest } = OutageBody.parse(entry.body);
  return since === undefined ? undefined : { ...rest, since, why };
}

/** A row that begins, changes or ends an outage. */
export function outageEntry(
  known: Entry | undefined,
  { channel, person, ...more }: Target & { since?: Instant; why?: string; toldAt?: Instant | undefined },
): Entry {
  const id = outageId({ channel, person });
  return { kind: "outage", id, version: known?.version ?? 0, body: { channel, person, ...more } };
}

/** The note about an outage, for the recipient. */
export function sayOutage({ channel, since, why }: Outage): string {
  const name = channelName(channel);
  return `⚠️ askd cannot send to ${name} since ${since.slice(11, 16)} UTC: ${why}. Questions wait in your inbox all the same. See: askd channels`;
}
