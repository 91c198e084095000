import { z } from "zod";
import { Instant, MINUTE_MS, later } from "../../core/instant.ts";
import type { Changes } from "../../core/changes.ts";
import type { Store } from "../../store/store.ts";

/** How exact the row is: a channel that sends many messages does not write it with each. */
const EXACT_MS = MINUTE_MS;

const LastSent = z.object({ at: Instant });
type ReadStore = Pick<Store, "findEntry">;

/** When a channel last sent something, to the minute; undefined if it never did. */
export async function readLastSent(store: ReadStore, channel: string): Promise<Instant | undefined> {
  const entry = await store.findEntry("last_sent", channel);
  return entry && LastSent.parse(entry.body).at;
}

/** Keeps that a channel sent something, so that it is known without a search through the trail. */
export async function keepLastSent(
  store: ReadStore,
  channel: string,
  at: Instant,
): Promise<NonNullable<Changes["entries"]>> {
  const entry = await store.findEntry("last_sent", channel);
  if (entry && later(LastSent.parse(entry.body).at, EXACT_MS) > at) return [];
  return [{ kind: "last_sent", id: channel, version: entry?.version ?? 0, body: { at } }];
}
