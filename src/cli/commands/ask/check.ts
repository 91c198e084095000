import type { Read } from "../../../core/changes.ts";
import { isTakenByReading } from "../../../core/run/taken-by-reading.ts";
import { CHECK_FIELDS, viewCheck } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoAsks } from "../../actor.ts";
import { requireOne } from "../../arguments.ts";
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
    const read = await engine.read(await getQuestionId(engine, requireOne(args.positionals, command.usage)));
    const now = await engine.now();
    printResult(context, CHECK_FIELDS, { page: () => renderCheck(read, now), json: () => viewCheck(read) });
    await noteRead(read, engine, context);
    return exitCodeOf(read.question);
  },
};

/** The script that asked has its answer now: it is not brought to it once more. */
async function noteRead(read: Read, engine: Engine, context: Context): Promise<void> {
  if (!isTakenByReading(read, whoAsks(context))) return;
  const epoch = context.env["ASKD_EPOCH"];
  // An earlier start of the agent that is still there reads for nobody.
  if (epoch && Number(epoch) !== read.run.epoch) return;
  await engine.given(read.question.id, "read");
}
