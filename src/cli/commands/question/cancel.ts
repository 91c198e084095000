import { shortId } from "../../../core/id.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { findAwayLines, machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findWayOnHere } from "../run/takeover.ts";
import { getQuestionId } from "../../find-target.ts";

const flags = {
  reason: { type: "string", short: "m", value: "text", about: "The reason, which people and the agent see" },
  resume: { type: "string", value: "text", about: "Resume the run without an answer, with this note for the agent" },
  yes: { type: "boolean", about: "With --resume: confirm a high-risk question without a prompt" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "cancel <id> [--reason <text>] [--resume <text>]",
  flags,
  fields: QUESTION_FIELDS,
  async run(args, context) {
    const engine = await context.engine();
    const id = await getQuestionId(engine, requireOneArgument(args.positionals, command.usage));
    const { reason, resume, yes: confirmed } = args.flags;
    const read = await engine.cancel(id, { reason, resume, confirmed }, await whoTypes(engine, context));
    const wayOn = await findWayOnHere(read.run, context);
    const machines = await machinesFor(engine, [read.run], context);
    const away = findAwayLines(read.run, machines, context.program);
    const then = wayOn ? "your text waits for the agent" : `the run is ${read.run.status}`;
    const lines = [then, ...(wayOn ? [wayOn.line] : (away ?? []))];
    const head = `✓ Question ${shortId(id)} of #${read.run.number} ${oneLine(read.run.name)} is ${read.question.status}`;
    printResult(context, QUESTION_FIELDS, {
      page: () => (context.isQuiet ? "" : `${head}; ${lines.join("\n  ")}\n`),
      json: () => viewQuestion(read, machines),
    });
    await afterChange(read, engine, context);
    await engine.doDue(); // run due jobs now, not with the next command
    return 0;
  },
};
