import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { requireOneArgument } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { sayClaimed } from "./change-view.ts";
import type { Command } from "../../command.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "claim <id>",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd claim 42", "askd claim -"],
  run: (args, context) =>
    changeQuestion(requireOneArgument(args.positionals, command.usage), context, {
      change: ({ engine, id, by }) => engine.claim(id, by),
      say: sayClaimed,
    }),
};
