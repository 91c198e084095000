import { requireOne } from "./arguments.ts";
import { CHECK_FIELDS, viewCheck } from "../core/view.ts";
import { exitCodeOf, renderCheck } from "./check-view.ts";
import type { Command } from "./command.ts";
import { printResult } from "./output.ts";
import { getQuestionId } from "./target.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "check <id>",
  flags,
  fields: CHECK_FIELDS,
  examples: ["askd check q-7k3f --json    exit 0 answered, 8 pending, 9 timed out, 10 skipped or cancelled"],
  async run(args, context) {
    const engine = await context.engine();
    const read = await engine.read(await getQuestionId(engine, requireOne(args.positionals, command.usage)));
    const now = await engine.now();
    printResult(context, CHECK_FIELDS, { page: () => renderCheck(read, now), json: () => viewCheck(read) });
    return exitCodeOf(read.question);
  },
};
