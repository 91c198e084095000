import type { QuestionSnapshot } from "../../../core/changes.ts";
import { isTakenByReading } from "../../../core/run/taken-by-reading.ts";
import { CHECK_FIELDS, viewCheck } from "../../../core/api/view.ts";
import { whoAsks } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import { exitCodeOf, renderCheck } from "./check-view.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../target.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "check <id>",
  flags,
  fields: CHECK_FIELDS,
  examples: ["askd check q-7k3f --json    exit 0 answered, 8 pending, 9 timed out, 10 skipped or cancelled"],
  async run(args, context) {
    const engine = await context.engine();
    const found = await engine.read(await getQuestionId(engine, requireOneArgument(args.positionals, command.usage)));
    const isTaken = isTakenHere(found, context);
    // Commit before printing, so that exactly the printed outcome counts as given.
    const read = isTaken ? await engine.handOver(found.question.id, found.run.epoch) : found;
    const now = await engine.now();
    printResult(context, CHECK_FIELDS, { page: () => renderCheck(read, now), json: () => viewCheck(read) });
    if (isTaken) await engine.given(read.question.id, "read", read.run.epoch);
    return exitCodeOf(read.question);
  },
};

/** Says whether the script that asked reads its outcome now; a process of an earlier start of its agent does not count. */
function isTakenHere(read: QuestionSnapshot, context: Context): boolean {
  const epoch = context.env["ASKD_EPOCH"];
  return isTakenByReading(read, whoAsks(context)) && (!epoch || Number(epoch) === read.run.epoch);
}
