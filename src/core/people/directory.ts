import { type Person, plainName } from "./person.ts";

/** People as the settings describe them, by id. */
export type ConfiguredPerson = Partial<Omit<Person, "id" | "version" | "groups" | "removed">>;

/** The people and groups of the settings. */
export interface Directory {
  people: Readonly<Record<string, ConfiguredPerson>>;
  /** The members of each group. */
  groups: Readonly<Record<string, readonly string[]>>;
}

export const EMPTY_DIRECTORY: Directory = { people: {}, groups: {} };

/**
 * All people: those in the store with what the settings say of them besides, then those whom only the settings name. A
 * person who was removed stays removed.
 */
export function withDirectory(rows: readonly Person[], directory: Directory): Person[] {
  const members = Object.values(directory.groups).flat().map(plainName);
  const named = new Set([...Object.keys(directory.people), ...members]);
  if (named.size === 0) return [...rows];
  const unlisted = [...named].filter((id) => !rows.some((row) => row.id === id));
  const all = [...rows, ...unlisted.map((id): Person => ({ id, version: 0, groups: [] }))];
  return all.map((person) => (person.removed ? person : describePerson(person, directory)));
}

/** The row of a person without what the settings say anyway: when they change, no copy of them must stay. */
export function withoutDirectory(person: Person, directory: Directory): Person {
  const configured: Readonly<Record<string, unknown>> = configuredAs(person.id, directory);
  const own = Object.entries(person).filter(([field, value]) => !isEqual(value, configured[field]));
  const groups = groupsOf(person.id, directory);
  return {
    ...Object.fromEntries(own),
    id: person.id,
    version: person.version,
    groups: person.groups.filter((group) => !groups.includes(group)),
  };
}

function describePerson(person: Person, directory: Directory): Person {
  const groups = [...new Set([...person.groups, ...groupsOf(person.id, directory)])];
  const own = Object.fromEntries(Object.entries(person).filter(([, value]) => value !== undefined));
  return { ...configuredAs(person.id, directory), ...own, id: person.id, version: person.version, groups };
}

function configuredAs(id: string, { people }: Directory): ConfiguredPerson {
  return (Object.hasOwn(people, id) ? people[id] : undefined) ?? {};
}

function groupsOf(id: string, { groups }: Directory): string[] {
  return Object.entries(groups)
    .filter(([, members]) => members.map(plainName).includes(id))
    .map(([name]) => name);
}

function isEqual(one: unknown, other: unknown) {
  return other !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
