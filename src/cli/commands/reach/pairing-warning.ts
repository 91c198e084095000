import { isReachable } from "../../../core/channel/target.ts";
import { channelName } from "../../../core/people/actor.ts";
import type { Question } from "../../../core/question/question.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";

/** Says which configured channels reach nobody, because no account was paired, and what to type. */
export async function warnUnpaired(
  engine: Pick<Engine, "listPeople">,
  context: Pick<Context, "rules" | "place" | "isQuiet" | "stderr" | "program">,
  question?: Pick<Question, "risk">,
): Promise<void> {
  const personal = context.rules.reach.filter(({ isPersonal }) => isPersonal);
  // A server says it in its own terminal; its people are not this machine's.
  if (personal.length === 0 || context.isQuiet || context.place.store.kind === "server") return;
  const people = await engine.listPeople();
  for (const { name } of personal) {
    if (people.some((person) => isReachable(person, name))) continue;
    context.stderr.write(`${sayUnpaired(name, context.program)}\n`);
    if (question?.risk === "high")
      context.stderr.write("It is high risk: nobody can answer it before an account is paired.\n");
  }
}

/** A channel that is configured and reaches nobody. */
export function sayUnpaired(name: string, program: string): string {
  return `Nobody is told through ${channelName(name)}: no account is paired yet. Type: ${program} setup ${name}`;
}
