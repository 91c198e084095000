import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { wrongUsage } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { sayAssigned } from "./change-view.ts";
import type { Command } from "../../command.ts";
import { requireKnown } from "./known-people.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "assign <id> <person or group> …",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd assign 42 lena", "askd assign q-7k3f lena ops"],
  run(args, context) {
    const [name, ...to] = args.positionals;
    if (name === undefined) throw wrongUsage("The id of a question is missing", command.usage);
    if (to.length === 0) throw wrongUsage("A person or group is missing", command.usage);
    const names = to.flatMap((each) => each.split(",")).map((each) => each.trim().replace(/^@/, ""));
    if (names.some((each) => each === "")) throw wrongUsage("A name cannot be empty", command.usage);
    return changeQuestion(name, context, {
      change: async ({ engine, id, by }) => {
        await requireKnown(names, engine, context);
        return engine.assign(id, names, by);
      },
      say: sayAssigned,
    });
  },
};
