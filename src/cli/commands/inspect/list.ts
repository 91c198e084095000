import { Refusal } from "../../../core/refusal.ts";
import { needsMachine } from "../../../core/run/machine.ts";
import { shortId } from "../../../core/id.ts";
import { QUESTION_FIELDS, viewQuestion } from "../../../core/api/view.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { type FoundQuestions, SORTS, findQuestions } from "./list-search.ts";
import { renderAwaiting, renderList } from "./list-view.ts";
import { printResult } from "../../output.ts";
import { FILTER_FLAGS } from "./question-filter.ts";
import { textWidth } from "../../terminal/terminal.ts";
import { machinesFor } from "../../view/machine-view.ts";

const DEFAULT_LIMIT = 30;
const MOST = 1000;

const flags = {
  awaiting: { type: "boolean", about: "Only waiting questions, oldest first, with context" },
  state: { type: "string", value: "state", about: "pending, answered, timeout or cancelled" },
  ...FILTER_FLAGS,
  since: { type: "string", value: "time", about: "Only questions asked since a time: 2h, 14:00 or 2026-11-15" },
  sort: { type: "string", value: "order", about: `${SORTS.join(", ")} (newest; with --awaiting oldest)` },
  after: { type: "string", value: "id", about: "Continue after this question, the last of the previous page" },
  limit: { type: "string", value: "count", about: `Show at most this many (${DEFAULT_LIMIT})` },
} as const satisfies Flags;
export type ListFlags = typeof flags;

export const command: Command<typeof flags> = {
  usage: "list [--awaiting] [--mine] [--state <state>] [--run <run>]",
  isLong: () => true,
  flags,
  fields: QUESTION_FIELDS,
  examples: [
    "askd list --awaiting",
    "askd list --mine --sort due",
    "askd list --repo 'acme/*' --label night --since 2d",
    "askd list --state answered --json=id,title,answer",
  ],
  async run(args, context) {
    const { awaiting, state, limit } = args.flags;
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    if (awaiting && state !== undefined) {
      throw wrongUsage("--awaiting and --state exclude each other: waiting questions are pending", command.usage);
    }
    const most = readLimit(limit);
    const engine = await context.engine();
    const found = await findQuestions(engine, args.flags, most, context);
    const view = { now: await engine.now(), width: textWidth(context.stdout.columns), questions: found.reads };
    const runs = found.reads.map(({ run }) => run).filter(needsMachine);
    const machines = context.json ? await machinesFor(engine, runs, context) : undefined;
    printResult(context, QUESTION_FIELDS, {
      page: () => (awaiting ? renderAwaiting(view, context.style) : renderList(view, context.style)),
      json: () => found.reads.map((read) => viewQuestion(read, machines)),
    });
    sayMore(found, context);
    return 0;
  },
};

/** Says how to see the next page. */
function sayMore({ reads, hasMore, isPaged }: FoundQuestions, context: Context): void {
  const last = reads.at(-1);
  if (!hasMore || !last || context.isQuiet) return;
  const next = isPaged ? `--after ${shortId(last.question.id)}` : `--limit ${Math.min(MOST, reads.length * 2)}`;
  context.stderr.write(`There are more. See them with the same command and ${next}\n`);
}

export function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new Refusal("bad_input", `--limit takes a number from 1 to ${MOST}`);
}
