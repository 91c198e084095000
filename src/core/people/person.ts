import { z } from "zod";
import type { Actor } from "./actor.ts";
import type { Changes, Entry } from "../changes.ts";
import { DAY_MS, Instant } from "../instant.ts";
import { parseDuration } from "../text/duration.ts";
import { PersonalQuietHours } from "./quiet-hours.ts";
import { Refusal } from "../refusal.ts";
import { LANGUAGES } from "../text/language.ts";
import { quoteLine, quoteName } from "../text/foreign-text.ts";
import { findNearest } from "../text/nearest.ts";
import { type EntryChange, changeEntry } from "../trail/store-event.ts";

export const PersonId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

function isDuration(text: string) {
  try {
    return parseDuration(text) <= DAY_MS;
  } catch {
    return false;
  }
}

const ChannelNames = z.array(z.string().regex(/^[a-z]{1,32}$/)).max(20);

/** The absence of a person; without an end it lasts until they end it. */
export const Away = z.object({ until: Instant.optional(), delegate: PersonId.optional() });
export type Away = z.infer<typeof Away>;

/** A person who answers, with the names that channels know them by. */
export const Person = z.object({
  id: PersonId,
  version: z.int(),
  name: z.string().max(200).optional(),
  email: z.string().max(320).optional(),
  slack: z.string().max(64).optional(),
  github: z.string().max(64).optional(),
  /** Their account in the chat service of `channels.chat`. */
  chat: z.string().max(200).optional(),
  /** The id of their Telegram account, set by pairing. */
  telegram: z.string().max(64).optional(),
  /** An ntfy topic of their own. */
  ntfy: z
    .string()
    .regex(/^[-_A-Za-z0-9]{1,64}$/)
    .optional(),
  /** Mail to this address came back: it is used again when the address is set anew. */
  bounced: z.object({ address: z.string().max(320), why: z.string(), at: Instant }).optional(),
  groups: z.array(z.string().max(64)).max(50),
  /** When they are not disturbed, such as `22:00-07:00 Europe/Berlin`. */
  quiet: PersonalQuietHours.optional(),
  /** After a message, others are collected into a digest for this long, such as `15m`; `0s` for never. */
  digest: z.string().max(20).refine(isDuration).optional(),
  /** How often they may be interrupted within an hour; beyond that, one digest. */
  interruptionsPerHour: z.int().min(1).max(1_000).optional(),
  /** The channels that they prefer: they are told in the first that reaches them. */
  channels: ChannelNames.optional(),
  /** The channels in which they are not told. */
  muted: ChannelNames.optional(),
  /** They are away: until when, and who gets their questions meanwhile. */
  away: Away.optional(),
  /** The language of messages to them. */
  language: z.enum(LANGUAGES).optional(),
  /** Removed: no longer listed or notified; the trail still names them. */
  removed: z.literal(true).optional(),
});
export type Person = z.infer<typeof Person>;

/** The part of a person that is their own business: where, when and how they want to be told. */
export const Preferences = Person.pick({
  quiet: true,
  digest: true,
  interruptionsPerHour: true,
  channels: true,
  muted: true,
  language: true,
});
export type Preferences = z.infer<typeof Preferences>;

/** The person with other preferences: what is left out is no longer preferred. */
export function withPreferences(person: Person, preferences: Preferences): Person {
  const { quiet, digest, interruptionsPerHour, channels, muted, language } = preferences;
  return { ...person, quiet, digest, interruptionsPerHour, channels, muted, language };
}

/** The name of a person or group as it is kept: `@ops` is `ops`. */
export function plainName(name: string): string {
  return name.trim().replace(/^@/, "");
}

/** Says whether names of people and groups, as in `approvals.from`, include this person. */
export function isNamed(names: readonly string[], id: string, people: readonly Person[] = []): boolean {
  const listed = people.filter(({ removed }) => !removed);
  const groups = listed.find((each) => each.id === id)?.groups ?? [];
  // Anybody can call themselves like a group; only the list makes them a member of it.
  const isGroup = listed.some((each) => each.groups.includes(id));
  return isAddressed(names, { id: isGroup ? "" : id, groups });
}

/** Says whether one of these names is the person or one of their groups. */
export function isAddressed(
  names: readonly string[],
  { id, groups }: { id: string; groups: readonly string[] },
): boolean {
  return names.map(plainName).some((name) => name === id || groups.includes(name));
}

/** The absence of a person that holds now. */
export function findAway({ away }: Person, now: Instant): Away | undefined {
  return away && (away.until === undefined || away.until > now) ? away : undefined;
}

/** Refuses an absence that has ended already, or a delegate who is not there. */
export function requireAwayMakesSense(
  id: string,
  { until, delegate }: Away,
  people: readonly Person[],
  now: Instant,
): void {
  if (until !== undefined && until <= now) {
    throw new Refusal("bad_input", "This time is over already", {
      hint: "Write a day that is to come: askd away 2026-12-01",
    });
  }
  if (delegate === undefined) return;
  if (delegate === id) throw new Refusal("bad_input", "Nobody can be their own delegate", { hint: "Name a colleague" });
  const person = people.find((each) => each.id === delegate && !each.removed);
  if (!person) {
    throw new Refusal("not_found", `There is no person ${quoteLine(delegate)}`, { hint: "List them: askd user list" });
  }
  if (findAway(person, now)) {
    throw new Refusal("bad_input", `${delegate} is away too`, { hint: "Name somebody who is there" });
  }
}

/** Refuses names of no listed person or group, nor among `others`; where nobody is listed, any name may be a person's. */
export function requireKnownNames(
  names: readonly string[],
  people: readonly Person[],
  { others, isHinted }: { others: readonly string[]; isHinted: boolean },
): void {
  const listed = people.filter(({ removed }) => !removed);
  if (listed.length === 0) return;
  const known = new Set([...listed.flatMap(({ id, groups }) => [id, ...groups]), ...others]);
  const stranger = names.map(plainName).find((name) => !known.has(name));
  if (stranger === undefined) return;
  const meant = isHinted ? findNearest(stranger, [...known]) : undefined;
  throw new Refusal("not_found", `There is no person or group ${quoteLine(stranger)}`, {
    hint: meant === undefined ? "List them: askd user list" : `Did you mean ${quoteName(meant)}?`,
  });
}

/** Refuses a person who is called like a group, and a group that is called like a person: names must mean one thing. */
export function requireOwnName({ id, groups }: Person, people: readonly Person[]): void {
  const others = people.filter((each) => each.id !== id && !each.removed);
  const hint = "See everybody: askd user list";
  if (groups.includes(id) || others.some((each) => each.groups.includes(id))) {
    throw new Refusal("bad_input", `"${id}" is the name of a group; a person needs another one`, { hint });
  }
  const person = others.find((each) => groups.includes(each.id));
  if (person)
    throw new Refusal("bad_input", `"${person.id}" is the name of a person; a group needs another one`, { hint });
}

/** The names by which channels prove who somebody is. */
const PROVING = ["email", "slack", "github", "chat", "telegram"] as const;
const PROOF_NAMES = {
  email: "e-mail address",
  slack: "Slack id",
  github: "GitHub name",
  chat: "account in the chat service",
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
