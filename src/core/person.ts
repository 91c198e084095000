import { z } from "zod";
import type { Entry } from "./changes.ts";

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

export function parsePerson({ id, version, body }: Entry): Person {
  return Person.parse({ ...body, id, version });
}
