import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "../changes.ts";
import type { Instant } from "../instant.ts";
import { type EntryChange, changeEntry } from "../trail/store-event.ts";

/** Somebody who answers, under the names that channels know them by. */
export const Person = z.object({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/),
  version: z.int(),
  name: z.string().max(200).optional(),
  email: z.string().max(320).optional(),
  slack: z.string().max(64).optional(),
  github: z.string().max(64).optional(),
  groups: z.array(z.string().max(64)).max(50),
  /** Nobody under this id is told or listed any more; the trail still names them. */
  removed: z.literal(true).optional(),
});
export type Person = z.infer<typeof Person>;

/** Says whether names of people and groups, as in `approvals.from`, mean the person of that id. */
export function isNamed(names: readonly string[], id: string, people: readonly Person[] = []): boolean {
  if (names.includes(id)) return true;
  const person = people.find((each) => each.id === id && !each.removed);
  return person?.groups.some((group) => names.includes(group)) ?? false;
}

export function personEntry({ id, version, ...body }: Person): Entry {
  return { kind: "person", id, version, body };
}

/** Keeps a person as they are from now on, with an event that says what happened. Addresses stay out of the trail. */
export function changePerson(before: Person | undefined, after: Person, at: { now: Instant; by: Actor }): Changes {
  const wasListed = before !== undefined && !before.removed;
  const change: EntryChange = {
    type: after.removed ? "person.removed" : wasListed ? "person.changed" : "person.added",
    entry: personEntry(after),
    from: before && personStatus(before),
    to: personStatus(after),
    detail: { person: after.id, ...(after.groups.length > 0 && { groups: after.groups }) },
  };
  return changeEntry(change, at);
}

function personStatus({ removed }: Person): "listed" | "removed" {
  return removed ? "removed" : "listed";
}

export function parsePerson({ id, version, body }: Entry): Person {
  return Person.parse({ ...body, id, version });
}
