import { Refusal } from "../core/refusal.ts";
import type { Question } from "../core/question.ts";
import type { RunId } from "../core/id.ts";
import { QUESTION_FIELDS, viewQuestion } from "../core/view.ts";
import type { Engine } from "../engine/engine.ts";
import type { Command } from "./command.ts";
import type { Flags } from "./flags.ts";
import { renderAwaiting, renderList } from "./list-view.ts";
import { printResult } from "./output.ts";
import { getTarget } from "./target.ts";
import { textWidth } from "./terminal.ts";

const DEFAULT_LIMIT = 30;
const MOST = 1000;
const STATES: Readonly<Record<string, Question["status"]>> = {
  pending: "pending",
  answered: "answered",
  timeout: "timeout",
  expired: "timeout",
  cancelled: "cancelled",
};

const flags = {
  awaiting: { type: "boolean", about: "Only what waits for an answer, oldest first, with context" },
  state: { type: "string", value: "state", about: "pending, answered, timeout or cancelled" },
  run: { type: "string", value: "run", about: "Only questions of this run" },
  limit: { type: "string", value: "count", about: `At most this many (${DEFAULT_LIMIT})` },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "list [--awaiting] [--state <state>] [--run <run>]",
  isLong: () => true,
  flags,
  fields: QUESTION_FIELDS,
  examples: ["askd list --awaiting", "askd list --state answered --json=id,title,answer"],
  async run(args, context) {
    const { awaiting, state, run, limit } = args.flags;
    const engine = await context.engine();
    const status = awaiting ? "pending" : readState(state);
    const questions = await engine.listQuestions({
      ...(status && { status }),
      ...(run !== undefined && { runId: await getRunId(engine, run) }),
      order: awaiting ? "oldest" : "newest",
      limit: readLimit(limit),
    });
    const reads = await Promise.all(questions.map((question) => engine.read(question.id)));
    const view = { now: await engine.now(), width: textWidth(context.stdout.columns), questions: reads };
    printResult(context, QUESTION_FIELDS, {
      page: () => (awaiting ? renderAwaiting(view, context.style) : renderList(view, context.style)),
      json: () => reads.map(viewQuestion),
    });
    return 0;
  },
};

function readState(state: string | undefined): Question["status"] | undefined {
  if (state === undefined) return undefined;
  const status = Object.hasOwn(STATES, state) ? STATES[state] : undefined;
  if (status) return status;
  throw new Refusal("bad_input", `There is no state "${state}"`, { hint: `Use ${Object.keys(STATES).join(", ")}` });
}

export function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new Refusal("bad_input", `--limit takes a number from 1 to ${MOST}`);
}

async function getRunId(engine: Engine, text: string): Promise<RunId> {
  const target = await getTarget(engine, text);
  return target.named === "run" ? target.run.id : target.question.runId;
}
