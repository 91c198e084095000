import type { QuestionSnapshot } from "../../../core/changes.ts";
import { isTakenByReading } from "../../../core/run/taken-by-reading.ts";
import { CHECK_FIELDS, viewCheck } from "../../../core/api/view.ts";
import type { Instant } from "../../../core/instant.ts";
import { isDenied } from "../../../core/question/approval.ts";
import { findAnswer } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { findProvenRun, whoAsks } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../target.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { sayDue } from "../../view/question-text.ts";
import { sayBy } from "../../view/run-text.ts";
import { sayAgo } from "../../view/relative-time.ts";
import { sayAnswer } from "../inspect/show-view.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "check <id>",
  flags,
  fields: CHECK_FIELDS,
  examples: ["askd check q-7k3f --json    exit 0 answered, 8 pending, 9 timed out, 10 skipped or cancelled, 12 denied"],
  async run(args, context) {
    const engine = await context.engine();
    const found = await engine.read(await getQuestionId(engine, requireOneArgument(args.positionals, command.usage)));
    const isTaken = isTakenHere(found, context);
    if (isTaken) await findProvenRun(engine, context); // an agent takes no answers of another run
    // Commit before printing, so that exactly the printed outcome counts as given.
    const read = isTaken ? await engine.handOver(found.question.id, found.run.epoch) : found;
    const now = await engine.now();
    printResult(context, CHECK_FIELDS, { page: () => renderCheck(read, now), json: () => viewCheck(read) });
    if (isTaken) await engine.given(read.question.id, "read", read.run.epoch);
    return exitCodeOf(read);
  },
};

/** Says whether the script that asked reads its outcome now; a process of an earlier start of its agent does not count. */
function isTakenHere(read: QuestionSnapshot, context: Context) {
  const epoch = context.env["ASKD_EPOCH"];
  return isTakenByReading(read, whoAsks(context)) && (!epoch || Number(epoch) === read.run.epoch);
}

/** The output of `askd check`. */
export function renderCheck(read: QuestionSnapshot, now: Instant): string {
  const { question, content } = read;
  const answer = findAnswer(question);
  const said = [
    ...(answer ? [`answer: ${sayAnswer(answer, content, now)}`] : []),
    ...question.amendments.map(
      ({ text, by, at }) => `correction: ${oneLine(text)}, by ${sayBy(by)} ${sayAgo(at, now)}`,
    ),
  ];
  switch (question.status) {
    case "pending": {
      const due = sayDue(read, now);
      return lines("pending", [`asked ${sayAgo(question.askedAt, now)}${due ? `, ${due}` : ""}`]);
    }
    case "answered":
      return lines("answered", said);
    case "timeout":
      return lines("timeout", [`${sayAgo(question.timedOutAt, now)}, policy: ${question.policy}`, ...said]);
    case "cancelled":
      return lines("cancelled", [
        `by ${sayBy(question.cancelledBy)} ${sayAgo(question.cancelledAt, now)}: ${oneLine(question.reason)}`,
      ]);
    default:
      return unreachable(question);
  }
}

/** The exit code for the state of a question. */
export function exitCodeOf(read: Pick<QuestionSnapshot, "question" | "content">): number {
  const { question } = read;
  if (isDenied(read)) return EXIT_CODE.denied;
  switch (question.status) {
    case "pending":
      return EXIT_CODE.pending;
    case "answered":
      return EXIT_CODE.done;
    case "timeout":
      if (findAnswer(question) || question.policy === "proceed") return 0;
      return question.policy === "skip" ? EXIT_CODE.cancelled : EXIT_CODE.timedOut;
    case "cancelled":
      return EXIT_CODE.cancelled;
    default:
      return unreachable(question);
  }
}

function lines(status: string, more: readonly string[]) {
  return `${[status, ...more.map((line) => `  ${sanitise(line)}`)].join("\n")}\n`;
}
