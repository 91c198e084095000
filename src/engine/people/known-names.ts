import { hasAccess } from "../../core/people/access.ts";
import type { Actor } from "../../core/people/actor.ts";
import { plainName, requireKnownNames } from "../../core/people/person.ts";
import { isTokenUsable, parseToken } from "../../core/people/token.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

interface KnownNamesDeps {
  store: Pick<Store, "listEntries">;
  decider: Decider;
}

/**
 * Refuses names that nobody has: no person or group on the list, nobody with a token of their own, nor the caller. Where
 * nobody is listed, any name may be a person's.
 */
export async function requireKnown(
  { store, decider }: KnownNamesDeps,
  names: readonly string[],
  by: Actor,
): Promise<void> {
  if (names.length === 0) return;
  const people = await decider.readPeople();
  const known = new Set(people.filter(({ removed }) => !removed).flatMap(({ id, groups }) => [id, ...groups]));
  if (names.every((name) => known.has(plainName(name)))) return;
  const { now } = decider.at(by);
  const tokens = (await store.listEntries("token")).map(parseToken).filter((token) => isTokenUsable(token, now));
  const subjects = tokens.filter(({ scope }) => scope === "human" || scope === "admin").map(({ subject }) => subject);
  // An agent may not list people, so it is not told who was meant.
  requireKnownNames(names, people, { others: [...subjects, by.id], isHinted: hasAccess("see_all", by) });
}
