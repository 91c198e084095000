import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { changeQuestion, readIdAndText } from "./change-question.ts";
import { sayCommented } from "./change-view.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";

const flags = {
  file: { type: "string", short: "F", value: "file", about: "Read the comment from a file, or - for stdin" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: 'comment <id> "<text>"',
  flags,
  fields: QUESTION_FIELDS,
  examples: ['askd comment 42 "Lena knows the load we expect"'],
  async run(args, context) {
    const { usage } = command;
    const { name, text } = await readIdAndText(args.positionals, args.flags.file, { usage, what: "comment" }, context);
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.comment(id, text, by),
      say: sayCommented,
    });
  },
};
