import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { requireOneArgument } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { sayEscalated } from "./change-view.ts";
import type { Command } from "../../command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "escalate <id>",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd escalate 42"],
  run: (args, context) =>
    changeQuestion(requireOneArgument(args.positionals, command.usage), context, {
      change: ({ engine, id, by }) => engine.escalate(id, by),
      say: sayEscalated,
    }),
};
