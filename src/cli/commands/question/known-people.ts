import { findNearest } from "../../../core/text/nearest.ts";
import type { Person } from "../../../core/people/person.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";

/** All known people; on a server an agent may not list them. */
export async function findPeople(engine: Pick<Engine, "listPeople">): Promise<Person[]> {
  try {
    return await engine.listPeople();
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}

/** Refuses a name of no known person or group; if no people are known, accepts every name. */
export async function requireKnown(
  names: readonly string[],
  engine: Pick<Engine, "listPeople">,
  { user }: Pick<Context, "user">,
): Promise<void> {
  if (names.length === 0) return;
  const people = await findPeople(engine);
  if (people.length === 0) return;
  const known = new Set([...people.map(({ id }) => id), ...people.flatMap(({ groups }) => groups), user]);
  const stranger = names.find((name) => !known.has(name));
  if (stranger === undefined) return;
  const meant = findNearest(stranger, [...known]);
  throw new Refusal("not_found", `There is no person or group "${oneLine(stranger)}"`, {
    hint: meant ? `Did you mean ${oneLine(meant)}?` : "List them: askd user list",
  });
}
