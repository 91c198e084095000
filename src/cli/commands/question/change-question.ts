import type { Actor } from "../../../core/people/actor.ts";
import { findAway, needsMachine } from "../../../core/run/machine.ts";
import type { Read } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { afterChange } from "../../after-change.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { readGiven } from "../../terminal/read-file-arg.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../target.ts";
import { awayLines, machinesFor } from "../../view/machine-view.ts";

const TEXT_BYTES = 1024 * 1024;

/** What a verb on a question is done with. */
export interface ChangeAt {
  engine: Engine;
  id: QuestionId;
  by: Actor;
  now: Instant;
}

/** Does a verb on the question that somebody named, says what is so now, and leaves the run in order. */
export async function changeQuestion(
  name: string,
  context: Context,
  verb: {
    change: (at: ChangeAt) => Promise<Read>;
    /** Where the run waits for its machine, the ways out are said in place of what would happen. */
    say: (done: Read, now: Instant, program: string, away?: readonly string[]) => string;
  },
): Promise<number> {
  const engine = await context.engine();
  const id = await getQuestionId(engine, name);
  const now = await engine.now();
  const done = await verb.change({ engine, id, now, by: await whoTypes(engine, context) });
  const machines = await machinesFor(engine, needsMachine(done.run) ? [done.run] : [], context);
  const away = findAway(done.run, machines);
  const lines = away && awayLines(done.run, away, now, context.program);
  printResult(context, QUESTION_FIELDS, {
    page: () => (context.isQuiet ? "" : verb.say(done, now, context.program, lines)),
    json: () => viewQuestion(done, machines),
  });
  await afterChange(done.run, engine, context);
  await engine.doDue(); // what the change made due does not wait for the next command
  return 0;
}

/** The id, and the words for it: on the command line, in a file, or on stdin as `-`. */
export async function readWords(
  [name, ...words]: readonly string[],
  file: string | undefined,
  { usage, what }: { usage: string; what: string },
  context: Context,
): Promise<{ name: string; text: string }> {
  if (name === undefined) throw wrongUsage("Which question? An id is missing", usage);
  if (words.length > 1) throw wrongUsage(`Put the ${what} in quotes`, usage);
  const source = file ?? (words[0] === "-" ? "-" : undefined);
  if (source !== undefined && file !== undefined && words.length > 0) {
    throw wrongUsage(`Give the ${what} once: here or in a file`, usage);
  }
  if (source === "-") return { name, text: await context.stdin.readAll(TEXT_BYTES) };
  if (source !== undefined) return { name, text: await readGiven(source, context) };
  if (words[0] === undefined) throw wrongUsage(`There is no ${what}`, usage);
  return { name, text: words[0] };
}
