import type { Instant } from "../instant.ts";
import { type Person, findAway, isNamed, plainName } from "../people/person.ts";
import type { Question } from "../question/question.ts";
import type { DeliveryRef } from "./delivery/delivery-ref.ts";
import type { ReachChannel, Rules } from "../rules.ts";

/** One recipient of a question in one channel; without a person it is a shared address. */
export type Target = Pick<DeliveryRef, "channel" | "person">;

interface TargetContext {
  now: Instant;
  rules: Pick<Rules, "reach">;
  /** All listed people, removed ones included. */
  people?: readonly Person[] | undefined;
}

/** The people and channels that a question addresses. */
type Addressed = Pick<Question, "to" | "notify" | "approvals"> & Partial<Pick<Question, "issue">>;

/**
 * The recipients of a question: the people it is meant for, in the channels that it names, as they prefer it. If none of
 * them can be reached there, they are told in any channel, and if that fails too, everybody is: a name that is not
 * configured must not keep a question from being heard.
 */
export function targetsOf(question: Addressed, { rules, people = [], now }: TargetContext): Target[] {
  const reach = rules.reach.filter(({ needsIssue }) => !needsIssue || question.issue !== undefined);
  const everybody = listEverybody(reach, people);
  const names = meantNames(question, people);
  const deputies = delegatesOf(question, people, now).map(({ delegate }) => delegate);
  const meant = everybody.filter(({ id }) => isNamed(names, id, people) || deputies.includes(id));
  const named = new Set(question.notify.map(({ channel }) => channel));
  const chosen = reach.filter(({ name }) => named.has(name));
  const channels = chosen.length > 0 ? chosen : reach;
  const attempts = [
    { persons: meant, channels },
    { persons: meant, channels: reach },
    { persons: everybody, channels },
    { persons: everybody, channels: reach },
  ];
  for (const attempt of attempts) {
    const told = tellPersons(attempt.persons, attempt.channels);
    if (told.length > 0) return inOrder([...told, ...sharedIn(channels)], reach);
  }
  return sharedIn(chosen.length > 0 && sharedIn(chosen).length === 0 ? reach : channels);
}

/**
 * The recipients of news for these people: their own channels. For those who have none, the shared addresses are told,
 * once.
 */
export function newsTargets(names: readonly string[], { rules, people = [] }: Omit<TargetContext, "now">): Target[] {
  const reach = rules.reach.filter(({ needsIssue }) => !needsIssue);
  const told = listEverybody(reach, people).filter(({ id }) => names.includes(id));
  const own = told.map((person) => tellPersons([person], reach));
  const isEverybodyReached = own.length === names.length && own.every((targets) => targets.length > 0);
  return inOrder([...own.flat(), ...(isEverybodyReached ? [] : sharedIn(reach))], reach);
}

/** The recipients of an alert: the people whom the settings name for it, or everybody. */
export function alertTargets(to: readonly string[], context: TargetContext): Target[] {
  return targetsOf({ to: [...to], notify: [], approvals: { need: 1, from: [], veto: false } }, context);
}

/** The listed people whom a question is meant for; nobody in particular if it names none. */
export function meantBy(question: Addressed, people: readonly Person[]): Person[] {
  const names = meantNames(question, people);
  return people.filter(({ id, removed }) => !removed && isNamed(names, id, people));
}

/** The people of a question who are away, with their delegates; a delegate's own absence is not followed further. */
export function delegatesOf(
  question: Addressed,
  people: readonly Person[],
  now: Instant,
): NonNullable<Question["delegates"]> {
  return meantBy(question, people).flatMap((person) => {
    const delegate = findAway(person, now)?.delegate;
    const isListed = people.some(({ id, removed }) => id === delegate && !removed);
    return delegate !== undefined && isListed ? [{ person: person.id, delegate }] : [];
  });
}

/** Says whether a person on the list has an address in a channel that sends to people. */
export function isReachable(person: Person, channel: string): boolean {
  return !person.removed && findAddress(person, channel) !== undefined;
}

/** The address of a person in a channel that sends to people. */
export function findAddress(person: Person, channel: string): string | undefined {
  if (channel === "telegram") return person.telegram;
  if (channel === "slack") return person.slack;
  if (channel === "chat") return person.chat;
  if (channel === "email") return person.bounced === undefined ? mailAddress(person) : undefined;
  return channel === "ntfy" ? person.ntfy : undefined;
}

function mailAddress({ email }: Person): string | undefined {
  return email?.trim().toLowerCase() || undefined;
}

/** The person after a mail to their address came back. */
export function withBounce(person: Person, why: string, at: Instant): Person {
  const address = mailAddress(person);
  return address === undefined ? person : { ...person, bounced: { address, why, at } };
}

/** The account by which a channel knows a person. */
export function findAccount(person: Person, channel: string): string | undefined {
  return channel === "github"
    ? plainName(person.github ?? "").toLowerCase() || undefined
    : findAddress(person, channel);
}

/** The people a question is meant for: named or mentioned, or else those who may approve it. */
function meantNames({ to, notify, approvals }: Addressed, people: readonly Person[]): string[] {
  const mentioned = notify
    .flatMap(({ mention = [] }) => mention.map(plainName))
    .filter((name) => people.some(({ id, groups, removed }) => !removed && (id === name || groups.includes(name))));
  const names = [...to, ...mentioned];
  return names.length > 0 ? names : approvals.from;
}

/** Everybody who can be told: the listed people, and those whose device a channel is. */
function listEverybody(reach: readonly ReachChannel[], people: readonly Person[]): Person[] {
  const owners = new Set(reach.map(({ person }) => person).filter((id) => id !== undefined));
  const unlisted = [...owners].filter((owner) => !people.some(({ id }) => id === owner));
  return [
    ...people.filter(({ removed }) => !removed),
    ...unlisted.map((id): Person => ({ id, version: 0, groups: [] })),
  ];
}

function tellPersons(persons: readonly Person[], channels: readonly ReachChannel[]): Target[] {
  return persons.flatMap((person) => waysTo(person, channels).map((channel) => ({ channel, person: person.id })));
}

/** The channels in which a person is told: the first that they prefer, else all that reach them and are not muted. */
function waysTo(person: Person, channels: readonly ReachChannel[]): string[] {
  const { channels: preferred = [], muted = [] } = person;
  const ways = channels
    .filter(
      ({ name, person: owner, isShared }) =>
        owner === person.id || (!isShared && findAddress(person, name) !== undefined),
    )
    .map(({ name }) => name)
    .filter((name) => !muted.includes(name));
  const first = preferred.find((name) => ways.includes(name));
  return first === undefined ? ways : [first];
}

function sharedIn(channels: readonly ReachChannel[]): Target[] {
  return channels
    .filter(({ isPersonal, person }) => !isPersonal && person === undefined)
    .map(({ name }) => ({ channel: name, person: undefined }));
}

/** Targets in the order of the channels. */
function inOrder(targets: readonly Target[], reach: readonly ReachChannel[]): Target[] {
  return reach.flatMap(({ name }) => targets.filter(({ channel }) => channel === name));
}
