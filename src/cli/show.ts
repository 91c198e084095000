import { viewSimilar } from "../core/api/memory-reply.ts";
import type { Content } from "../core/content.ts";
import type { QuestionId } from "../core/id.ts";
import { answerText } from "../core/match.ts";
import { type Question, findAnswer } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run.ts";
import type { Similar } from "../core/similar.ts";
import { USAGE_FIELDS, viewUsage } from "../core/usage.ts";
import { RUN_FIELDS, viewQuestion, viewRun } from "../core/view.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import { requireOne } from "./arguments.ts";
import { printResult } from "./output.ts";
import { type ShowView, renderShow } from "./show-view.ts";
import { getRun } from "./target.ts";
import { textWidth } from "./terminal.ts";
import { readUsage } from "./usage.ts";

const MOST_SHOWN = 100;
const MOST_SIMILAR = 3;
const flags = {};

export const SHOW_FIELDS: readonly string[] = [
  ...RUN_FIELDS,
  ...USAGE_FIELDS,
  ...["questions", "question", "questionContext", "humanResponse", "humanRespondedAt", "similar"],
];

export const command: Command<typeof flags> = {
  usage: "show <id>",
  isLong: () => true,
  flags,
  fields: SHOW_FIELDS,
  examples: ["askd show 42", "askd show q-7k3f"],
  async run(args, context) {
    const engine = await context.engine();
    await showRun(await getRun(engine, requireOne(args.positionals, command.usage)), engine, context);
    return 0;
  },
};

/** Prints a run with its questions, and what more the caller knows of it. */
export async function showRun(
  run: Run,
  engine: Engine,
  context: Context,
  more: { lines: ShowView["more"]; fields: object } = { lines: [], fields: {} },
): Promise<void> {
  const newest = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_SHOWN });
  const questions = await Promise.all(newest.toReversed().map(async ({ id }) => engine.read(id)));
  const usage = (await readUsage(engine, [run])).get(run.id);
  const similar = run.pendingId === undefined ? [] : await readSimilar(engine, run.pendingId);
  const view = { now: await engine.now(), ahead: context.ahead, width: textWidth(context.stdout.columns), usage };
  printResult(context, [...SHOW_FIELDS, ...Object.keys(more.fields)], {
    page: () => renderShow({ ...view, run, questions, similar, more: more.lines ?? [] }, context.style),
    json: () => ({
      ...{ ...viewRun(run), ...viewUsage(usage), ...more.fields },
      ...{ questions: questions.map(viewQuestion), ...viewLast(questions.at(-1)), similar: similar.map(viewSimilar) },
    }),
  });
}

/** Past answers are for people; whoever may not see them sees none. */
async function readSimilar(engine: Engine, id: QuestionId): Promise<Similar[]> {
  try {
    return await engine.findSimilar(id, MOST_SIMILAR);
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}

/** The latest question and answer in the words of task managers. */
function viewLast(last: { question: Question; content: Content } | undefined): object {
  if (!last) return {};
  const answer = findAnswer(last.question);
  return {
    question: last.question.title,
    questionContext: last.content.context ?? null,
    humanResponse: answer ? answerText(last.content, answer.items) : null,
    humanRespondedAt: answer?.at ?? null,
  };
}
