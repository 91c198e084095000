import { QUESTION_FIELDS } from "../core/view.ts";
import { wrongUsage } from "./arguments.ts";
import { changeQuestion } from "./change.ts";
import { sayAssigned } from "./change-view.ts";
import type { Command } from "./command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "assign <id> <person or group> …",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd assign 42 lena", "askd assign q-7k3f lena ops"],
  run(args, context) {
    const [name, ...to] = args.positionals;
    if (name === undefined) throw wrongUsage("Which question? An id is missing", command.usage);
    if (to.length === 0) throw wrongUsage("Whom is it for? A name is missing", command.usage);
    const names = to.flatMap((each) => each.split(",")).map((each) => each.replace(/^@/, ""));
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.assign(id, names, by),
      say: sayAssigned,
    });
  },
};
