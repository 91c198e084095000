import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { changeQuestion, readIdAndText } from "../question/change-question.ts";
import { sayAmended } from "../question/change-view.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";

const flags = {
  file: { type: "string", short: "F", value: "file", about: "Read the correction from a file, or - for stdin" },
  resume: { type: "boolean", about: "Resume a run that has ended, with the correction" },
  yes: { type: "boolean", about: "Confirm a high-risk answer without a prompt" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: 'amend <id> "<correction>" [--resume]',
  flags,
  fields: QUESTION_FIELDS,
  examples: ['askd amend 42 "Memcached after all"', 'askd amend 42 "Use port 6380" --resume'],
  async run(args, context) {
    const { usage } = command;
    const { resume = false, yes = false } = args.flags;
    const { name, text } = await readIdAndText(
      args.positionals,
      args.flags.file,
      { usage, what: "correction" },
      context,
    );
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.amend(id, text, by, { resume, confirmed: yes }),
      say: sayAmended,
    });
  },
};
