import type { Actor } from "../../../core/people/actor.ts";
import { findAwayMachine, needsMachine } from "../../../core/run/machine.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../target.ts";
import { awayLines, machinesFor } from "../../view/machine-view.ts";

const TEXT_BYTES = 1024 * 1024;

/** The arguments of a change of a question. */
export interface ChangeContext {
  engine: Engine;
  id: QuestionId;
  by: Actor;
  now: Instant;
}

/** Changes the named question, prints the result, and wakes a worker if the run needs one. */
export async function changeQuestion(
  name: string,
  context: Context,
  verb: {
    change: (at: ChangeContext) => Promise<QuestionSnapshot>;
    /** Renders the result. If the run's machine is away, `away` replaces what would happen next. */
    say: (done: QuestionSnapshot, now: Instant, program: string, away?: readonly string[]) => string;
  },
): Promise<number> {
  const engine = await context.engine();
  const id = await getQuestionId(engine, name);
  const now = await engine.now();
  const done = await verb.change({ engine, id, now, by: await whoTypes(engine, context) });
  const machines = await machinesFor(engine, needsMachine(done.run) ? [done.run] : [], context);
  const away = findAwayMachine(done.run, machines);
  const lines = away && awayLines(done.run, away, now, context.program);
  printResult(context, QUESTION_FIELDS, {
    page: () => (context.isQuiet ? "" : verb.say(done, now, context.program, lines)),
    json: () => viewQuestion(done, machines),
  });
  await afterChange(done.run, engine, context);
  await engine.doDue(); // run due jobs now, not with the next command
  return 0;
}

/** Reads an id and a text: from the command line, from a file, or from stdin as `-`. */
export async function readIdAndText(
  [name, ...words]: readonly string[],
  file: string | undefined,
  { usage, what }: { usage: string; what: string },
  context: Context,
): Promise<{ name: string; text: string }> {
  if (name === undefined) throw wrongUsage("The id of a question is missing", usage);
  if (words.length > 1) throw wrongUsage(`Put the ${what} in quotes`, usage);
  const source = file ?? (words[0] === "-" ? "-" : undefined);
  if (source !== undefined && file !== undefined && words.length > 0) {
    throw wrongUsage(`Give the ${what} once: as an argument or in a file`, usage);
  }
  if (source === "-") return { name, text: await context.stdin.readAll(TEXT_BYTES) };
  if (source !== undefined) return { name, text: await readFileArg(source, context) };
  if (words[0] === undefined) throw wrongUsage(`The ${what} is missing`, usage);
  return { name, text: words[0] };
}
