import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { requireOneArgument } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { sayReleased } from "./change-view.ts";
import type { Command } from "../../command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "release <id>",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd release 42"],
  run: (args, context) =>
    changeQuestion(requireOneArgument(args.positionals, command.usage), context, {
      change: ({ engine, id, by }) => engine.release(id, by),
      say: sayReleased,
    }),
};
