import type { Content } from "../core/content.ts";
import { answerText } from "../core/match.ts";
import { type Question, findAnswer } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run.ts";
import { viewQuestion, viewRun } from "../core/view.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command } from "./command.ts";
import { requireOne } from "./arguments.ts";
import { printResult } from "./output.ts";
import { renderShow } from "./show-view.ts";
import { type Target, getTarget } from "./target.ts";
import { textWidth } from "./terminal.ts";

const MOST_SHOWN = 100;
const flags = {};

export const command: Command<typeof flags> = {
  usage: "show <id>",
  flags,
  fields: [
    ...["id", "number", "name", "external_id", "status", "reason", "agent", "session", "host", "dir", "repo", "branch"],
    ...["labels", "priority", "size", "parent_id", "pending_question_id", "created_at", "started_at", "parked_at"],
    ...["ended_at", "result", "questions", "question", "questionContext", "humanResponse", "humanRespondedAt"],
  ],
  examples: ["askd show 42", "askd show q-7k3f"],
  async run(args, context) {
    const engine = await context.engine();
    const run = await getRun(engine, await getTarget(engine, requireOne(args.positionals, command.usage)));
    const newest = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_SHOWN });
    const questions = await Promise.all(newest.toReversed().map(async ({ id }) => engine.read(id)));
    const view = { now: await engine.now(), ahead: context.ahead, width: textWidth(context.stdout.columns) };
    printResult(context, command.fields ?? [], {
      page: () => renderShow({ ...view, run, questions }, context.style),
      json: () => ({ ...viewRun(run), questions: questions.map(viewQuestion), ...viewLast(questions.at(-1)) }),
    });
    return 0;
  },
};

async function getRun(engine: Engine, target: Target): Promise<Run> {
  if (target.named === "run") return target.run;
  const run = await engine.findRun(target.question.runId);
  if (!run) throw new Refusal("not_found", `The run of ${target.question.id} is gone`);
  return run;
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
