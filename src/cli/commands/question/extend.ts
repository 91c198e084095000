import { parseDuration } from "../../../core/text/duration.ts";
import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { wrongUsage } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { sayExtended } from "./change-view.ts";
import type { Command } from "../../command.ts";

const DEFAULT = "1h";
const flags = {};

export const command: Command<typeof flags> = {
  usage: "extend <id> [1h]",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd extend 42 4h", "askd extend 42 +1d"],
  run(args, context) {
    const [name, more = DEFAULT, ...rest] = args.positionals;
    if (name === undefined) throw wrongUsage("The id of a question is missing", command.usage);
    if (rest.length > 0) throw wrongUsage(`Unexpected argument "${rest[0]}"`, command.usage);
    const byMs = parseDuration(more.replace(/^\+/, ""));
    return changeQuestion(name, context, {
      change: ({ engine, id, by }) => engine.extend(id, byMs, by),
      say: (done, now) => sayExtended(done, now, context.ahead),
    });
  },
};
