import { type Person, requireKnownNames } from "../../../core/people/person.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";

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
  if (names.length > 0) requireKnownNames(names, await findPeople(engine), { others: [user], isHinted: true });
}
