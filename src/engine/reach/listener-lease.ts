import { z } from "zod";
import type { Entry } from "../../core/changes.ts";
import { Instant, SECOND_MS, later } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";

/** How long a listener may be silent before another process takes over. */
const LEASE_MS = 15 * SECOND_MS;

const Listener = z.object({
  /** The process that listens. */
  holder: z.string(),
  until: Instant,
  /** How far it has read, in the channel's own words. */
  cursor: z.string().optional(),
});
export type Listener = z.infer<typeof Listener> & { version: number };

/** The listener of a channel, if there ever was one. */
export async function readListener(store: Pick<Store, "findEntry">, channel: string): Promise<Listener | undefined> {
  const entry = await store.findEntry("listener", channel);
  return entry && { ...Listener.parse(entry.body), version: entry.version };
}

/** Takes or renews the lease of a channel's listener; undefined while another process has it. */
export async function takeListenerLease(store: Store, channel: string, holder: string): Promise<Listener | undefined> {
  const now = await store.now();
  const found = await readListener(store, channel);
  if (found && found.holder !== holder && found.until > now) return undefined;
  return saveListener(store, channel, {
    holder,
    until: later(now, LEASE_MS),
    cursor: found?.cursor,
    version: found?.version ?? 0,
  });
}

/** Saves how far a listener has read; undefined if another process has taken over. */
export async function saveCursor(
  store: Store,
  channel: string,
  holder: string,
  cursor: string,
): Promise<Listener | undefined> {
  const found = await readListener(store, channel);
  if (!found || found.holder !== holder) return undefined;
  return saveListener(store, channel, { ...found, until: later(await store.now(), LEASE_MS), cursor });
}

/** Gives the lease back, so that another process need not wait for its end. */
export async function endListenerLease(store: Store, channel: string, holder: string): Promise<void> {
  const found = await readListener(store, channel);
  if (found?.holder === holder) await saveListener(store, channel, { ...found, until: await store.now() });
}

async function saveListener(store: Store, channel: string, listener: Listener): Promise<Listener | undefined> {
  const { version, ...body } = listener;
  const entry: Entry = { kind: "listener", id: channel, version, body };
  const committed = await store.commit({ entries: [entry] });
  return committed.ok ? { ...listener, version: version + 1 } : undefined;
}
