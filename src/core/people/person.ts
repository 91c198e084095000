import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "../changes.ts";
import type { Instant } from "../instant.ts";
import { PersonalQuietHours } from "./quiet-hours.ts";
import { Refusal } from "../refusal.ts";
import { type EntryChange, changeEntry } from "../trail/store-event.ts";

export const PersonId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

/** A person who answers, with the names that channels know them by. */
export const Person = z.object({
  id: PersonId,
  version: z.int(),
  name: z.string().max(200).optional(),
  email: z.string().max(320).optional(),
  slack: z.string().max(64).optional(),
  github: z.string().max(64).optional(),
  /** The id of their Telegram account, set by pairing. */
  telegram: z.string().max(64).optional(),
  groups: z.array(z.string().max(64)).max(50),
  /** When they are not disturbed, such as `22:00-07:00 Europe/Berlin`. */
  quiet: PersonalQuietHours.optional(),
  /** Removed: no longer listed or notified; the trail still names them. */
  removed: z.literal(true).optional(),
});
export type Person = z.infer<typeof Person>;

/** Says whether names of people and groups, as in `approvals.from`, include this person. */
export function isNamed(names: readonly string[], id: string, people: readonly Person[] = []): boolean {
  if (names.includes(id)) return true;
  const person = people.find((each) => each.id === id && !each.removed);
  return person?.groups.some((group) => names.includes(group)) ?? false;
}

/** The names by which channels prove who somebody is. */
const PROVING = ["email", "slack", "github", "telegram"] as const;
const PROOF_NAMES = {
  email: "e-mail address",
  slack: "Slack id",
  github: "GitHub name",
  telegram: "Telegram account",
} as const;

/** Refuses an address that another person on the list has: what comes from it would prove two people. */
export function requireOwnAddresses(person: Person, people: readonly Person[]): void {
  for (const field of PROVING) {
    const address = plainAddress(person[field]);
    const other = people.find(
      (each) => each.id !== person.id && !each.removed && plainAddress(each[field]) === address,
    );
    if (address === undefined || !other) continue;
    throw new Refusal(
      "bad_input",
      `${other.id} has the same ${PROOF_NAMES[field]}; each person needs one of their own`,
      {
        hint: "See everybody: askd user list",
      },
    );
  }
}

/** Mail and GitHub do not tell upper from lower case. */
function plainAddress(text: string | undefined) {
  return text?.trim().toLowerCase() || undefined;
}

export function personEntry({ id, version, ...body }: Person): Entry {
  return { kind: "person", id, version, body };
}

/** Stores a person with the event of the change. Addresses stay out of the trail. */
export function changePerson(before: Person | undefined, after: Person, at: { now: Instant; by: Actor }): Changes {
  const wasListed = before !== undefined && !before.removed;
  const change: EntryChange = {
    type: after.removed ? "person.removed" : wasListed ? "person.changed" : "person.added",
    entry: personEntry(after),
    from: before && personStatus(before),
    to: personStatus(after),
    detail: { person: after.id, groups: after.groups.length > 0 ? after.groups : undefined },
  };
  return changeEntry(change, at);
}

function personStatus({ removed }: Person): "listed" | "removed" {
  return removed ? "removed" : "listed";
}

export function parsePerson({ id, version, body }: Entry): Person {
  return Person.parse({ ...body, id, version });
}
