import { nearest } from "../../../core/text/nearest.ts";
import type { Person } from "../../../core/people/person.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";

/** Everybody who is kept; only an admin sees those of a server. */
export async function findPeople(engine: Pick<Engine, "listPeople">): Promise<Person[]> {
  try {
    return await engine.listPeople();
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}

/** Refuses a name that no person and no group has; where nobody is kept, every name may be meant. */
export async function requireKnown(
  names: readonly string[],
  engine: Pick<Engine, "listPeople">,
  { user }: Pick<Context, "user">,
): Promise<void> {
  const people = await findPeople(engine);
  if (people.length === 0) return;
  const known = new Set([...people.map(({ id }) => id), ...people.flatMap(({ groups }) => groups), user]);
  const stranger = names.find((name) => !known.has(name));
  if (stranger === undefined) return;
  const meant = nearest(stranger, [...known]);
  throw new Refusal("not_found", `Nobody and no group is called "${oneLine(stranger)}"`, {
    hint: meant ? `Did you mean ${oneLine(meant)}?` : "See everybody: askd user list",
  });
}
