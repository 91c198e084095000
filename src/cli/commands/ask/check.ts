import type { QuestionSnapshot } from "../../../core/changes.ts";
import { CHECK_FIELDS, valuesOf, viewCheck } from "../../../core/api/view.ts";
import type { Instant } from "../../../core/instant.ts";
import { isDenied } from "../../../core/question/approval.ts";
import { NO_REASON, type Question, findAnswer } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { findProvenRun } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { printResult } from "../../output.ts";
import { getQuestionId } from "../../find-target.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { sayDue } from "../../view/question-text.ts";
import { sayBy } from "../../view/run-text.ts";
import { sayAgo } from "../../view/relative-time.ts";
import { sayAnswer } from "../inspect/show-view.ts";
import { bringCorrections, sayCorrections, viewCorrections } from "./earlier-correction.ts";
import { isTakenHere } from "./taken-here.ts";

const flags = {};

export const command: Command<typeof flags> = {
  usage: "check <id>",
  flags,
  fields: [...CHECK_FIELDS, "corrections"],
  isLooking: () => true,
  examples: ["askd check q-7k3f --json    exit 0 answered, 8 pending, 9 timed out, 10 skipped or cancelled, 12 denied"],
  async run(args, context) {
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    const found = await engine.read(await getQuestionId(engine, requireOneArgument(args.positionals, command.usage)));
    const isTaken = isTakenHere(found, context);
    if (isTaken) await findProvenRun(engine, context); // an agent takes no answers of another run
    // Commit before printing, so that exactly the printed outcome counts as given.
    const read = isTaken ? await engine.handOver(found.question.id, found.run.epoch) : found;
    const corrections = isTaken ? await bringCorrections(read, "read", engine, context) : undefined;
    const now = await engine.now();
    printResult(context, command.fields ?? [], {
      page: () => renderCheck(read, now),
      json: () => ({ ...viewCheck(read), ...(corrections && viewCorrections(corrections)) }),
    });
    if (corrections) for (const line of sayCorrections(corrections)) context.stderr.write(line);
    await corrections?.confirm();
    if (isTaken) await engine.given(read.question.id, "read", read.run.epoch);
    return exitCodeOf(read);
  },
};

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
      return lines("cancelled", cancellationLines(question, now));
    default:
      return unreachable(question);
  }
}

function cancellationLines(question: Extract<Question, { status: "cancelled" }>, now: Instant): string[] {
  const { reason, note, cancelledBy, cancelledAt } = question;
  const who = `by ${sayBy(cancelledBy)} ${sayAgo(cancelledAt, now)}`;
  if (note === undefined) return [`${who}: ${oneLine(reason)}`];
  return [reason === NO_REASON ? who : `${who}: ${oneLine(reason)}`, sayNote(note)];
}

/** The words of a person who withdrew the question; a script must not take them for an answer. */
function sayNote(note: string): string {
  return `note, which is not an answer: ${oneLine(note)}`;
}

/** The exit code for the state of a question. */
export function exitCodeOf(read: Pick<QuestionSnapshot, "question" | "content">): number {
  const { question } = read;
  if (isDenied(read)) return EXIT_CODE.denied;
  switch (question.status) {
    case "pending":
      return EXIT_CODE.pending;
    case "answered":
      return isUsable(read) ? EXIT_CODE.done : EXIT_CODE.cancelled;
    case "timeout":
      if (findAnswer(question)) return isUsable(read) ? EXIT_CODE.done : EXIT_CODE.cancelled;
      if (question.policy === "proceed") return EXIT_CODE.done;
      return question.policy === "skip" ? EXIT_CODE.cancelled : EXIT_CODE.timedOut;
    case "cancelled":
      return EXIT_CODE.cancelled;
    default:
      return unreachable(question);
  }
}

/**
 * Says whether a script may go on with an answer: something was chosen, and consent was not corrected afterwards. Words
 * can take back what a choice allows.
 */
function isUsable({ question, content }: Pick<QuestionSnapshot, "question" | "content">): boolean {
  const answer = findAnswer(question);
  const isCorrected = question.kind === "approval" && question.amendments.length > 0;
  return answer !== undefined && !isCorrected && valuesOf(answer, content).length > 0;
}

function lines(status: string, more: readonly string[]) {
  return `${[status, ...more.map((line) => `  ${sanitise(line)}`)].join("\n")}\n`;
}
