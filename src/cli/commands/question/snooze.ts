import { QUESTION_FIELDS } from "../../../core/api/view.ts";
import { wrongUsage } from "../../arguments.ts";
import { changeQuestion } from "./change-question.ts";
import { saySnoozed } from "./change-view.ts";
import type { Command } from "../../command.ts";
import { parseMoment } from "../../view/time-argument.ts";

const DEFAULT = "1h";
const flags = {};

export const command: Command<typeof flags> = {
  usage: "snooze <id> [1h]",
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd snooze 42 2h", "askd snooze 42 14:00", "askd snooze 42 2026-11-20"],
  run(args, context) {
    const [name, when = DEFAULT, ...more] = args.positionals;
    if (name === undefined) throw wrongUsage("The id of a question is missing", command.usage);
    if (more.length > 0) throw wrongUsage(`Unexpected argument "${more[0]}"`, command.usage);
    const { ahead } = context;
    return changeQuestion(name, context, {
      change: ({ engine, id, by, now }) => engine.snooze(id, parseMoment(when, { now, ahead, toward: "future" }), by),
      say: (done, now) => saySnoozed(done, now, ahead),
    });
  },
};
