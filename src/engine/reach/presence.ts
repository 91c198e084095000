import { requireAccess } from "../../core/people/access.ts";
import type { Actor } from "../../core/people/actor.ts";
import { Presence, seePerson } from "../../core/people/presence.ts";
import type { Instant } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

/** Records that a person is at their inbox. */
export async function reportPresence(
  { store, decider }: { store: Pick<Store, "findEntry">; decider: Decider },
  by: Actor,
): Promise<Presence> {
  requireAccess("see_all", by);
  const { presence, entry } = seePerson(by.id, await store.findEntry("presence", by.id), decider.at(by).now);
  // If somebody else wrote it at this moment, that says the same.
  if (entry) await decider.commit({ entries: [entry] });
  return presence;
}

/** Until when this person counts as present; undefined if they were never seen. */
export async function findPresentUntil(
  store: Pick<Store, "findEntry">,
  person: string | undefined,
): Promise<Instant | undefined> {
  const entry = person === undefined ? undefined : await store.findEntry("presence", person);
  return entry && Presence.parse(entry.body).until;
}
