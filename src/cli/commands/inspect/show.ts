import { viewSimilar } from "../../../core/api/memory-reply.ts";
import type { Content } from "../../../core/question/content.ts";
import type { QuestionId } from "../../../core/id.ts";
import { findAwayMachine } from "../../../core/run/machine.ts";
import { answerText } from "../../../core/answer/match.ts";
import { type Question, findAnswer } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import type { SimilarQuestion } from "../../../core/answer/similar.ts";
import { USAGE_FIELDS, viewUsage } from "../../../core/run/usage.ts";
import { RUN_FIELDS, viewQuestion, viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { requireOneArgument } from "../../arguments.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { type ShowRequest, findRunEvidence, readShowDetails } from "./show-details.ts";
import { type ShowView, renderShow } from "./show-view.ts";
import { getRun } from "../../target.ts";
import { textWidth } from "../../terminal/terminal.ts";
import { readUsage } from "../../run-usage.ts";

const MOST_SHOWN = 100;
const MOST_SIMILAR = 3;
const flags = {
  diff: { type: "boolean", about: "Also show the agent's changes" },
  log: { type: "boolean", about: "Also show the end of its log" },
  "agent-view": { type: "boolean", about: "Also show the message that the agent receives with an answer" },
  web: { type: "boolean", about: "Open it in the browser instead" },
} as const satisfies Flags;

export const SHOW_FIELDS: readonly string[] = [
  ...RUN_FIELDS,
  ...USAGE_FIELDS,
  "questions",
  "question",
  "questionContext",
  "humanResponse",
  "humanRespondedAt",
  "similar",
  "diff",
  "new_files",
  "log",
  "agent_view",
  "resume_command",
];

export const command: Command<typeof flags> = {
  usage: "show <id> [--diff] [--log] [--agent-view] [--web]",
  isLong: () => true,
  flags,
  fields: SHOW_FIELDS,
  examples: ["askd show 42", "askd show q-7k3f --diff", "askd show 42 --agent-view", "askd show 42 --web"],
  async run(args, context) {
    const engine = await context.engine();
    const name = requireOneArgument(args.positionals, command.usage);
    if (args.flags.web) {
      const { openPage, pathOf } = await import("../service/open.ts");
      return openPage(await pathOf(engine, name), { isPrinted: false }, engine, context);
    }
    await showRun(await getRun(engine, name), engine, context, { lines: [], fields: {}, wish: args.flags });
    return 0;
  },
};

/** More facts and details that the caller adds to the page of a run. */
interface ShowMore {
  lines: ShowView["more"];
  fields: object;
  wish?: ShowRequest;
}

/** Prints a run with its questions. */
export async function showRun(
  run: Run,
  engine: Engine,
  context: Context,
  more: ShowMore = { lines: [], fields: {} },
): Promise<void> {
  const newest = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_SHOWN });
  const questions = await Promise.all(newest.toReversed().map(async ({ id }) => engine.read(id)));
  const usage = (await readUsage(engine, [run])).get(run.id);
  const similar = run.pendingId === undefined ? [] : await readSimilar(engine, run.pendingId);
  const evidence = await findRunEvidence(run, context);
  const read = await readShowDetails({ run, last: questions.at(-1) }, more.wish ?? {}, { engine, context });
  const machines = await machinesFor(engine, [run], context);
  const isCarried = findAwayMachine(run, machines) !== undefined && (await hasSession(run, context));
  const { ahead, program } = context;
  const place = { now: await engine.now(), ahead, program, width: textWidth(context.stdout.columns) };
  printResult(context, [...SHOW_FIELDS, ...Object.keys(more.fields)], {
    page: () => {
      const known = {
        ...place,
        usage,
        similar,
        machines,
        isCarried,
        ...evidence,
        wayOn: evidence.wayOn?.line,
        blocks: read.blocks,
        more: more.lines ?? [],
      };
      return renderShow({ ...known, run, questions }, context.style);
    },
    json: () => ({
      ...viewRun(run, machines),
      ...viewUsage(usage),
      ...more.fields,
      ...read.fields,
      resume_command: evidence.wayOn?.command ?? evidence.takeover ?? null,
      questions: questions.map((each) => viewQuestion(each, machines)),
      ...viewLast(questions.at(-1)),
      similar: similar.map(viewSimilar),
    }),
  });
}

/** Says whether the session of a run of another machine is here. */
async function hasSession(run: Run, { agents, place, env }: Context): Promise<boolean> {
  const { findSessionCopy } = await import("../../../agents/runner/session-copy.ts");
  const found = await findSessionCopy(run, { agents: await agents(), stateDir: place.stateDir, env });
  return "has" in found && found.has === "session";
}

/** Similar past answers; none for callers who may not see them. */
async function readSimilar(engine: Engine, id: QuestionId): Promise<SimilarQuestion[]> {
  try {
    return await engine.findSimilar(id, MOST_SIMILAR);
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_permitted") return [];
    throw error;
  }
}

/** The latest question and answer with the field names of task managers. */
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
