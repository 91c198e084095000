import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { requireOneArgument } from "../../arguments.ts";
import { changeQuestion } from "../question/change-question.ts";
import { sayUndone } from "../question/change-view.ts";
import type { Command } from "../../command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "undo <id>",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd answer 42 Redis --undo-window 1m", "askd undo 42"],
  run: (args, context) =>
    changeQuestion(requireOneArgument(args.positionals, command.usage), context, {
      change: ({ engine, id, by }) => engine.undo(id, by),
      say: sayUndone,
    }),
};
