import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Instant } from "../../../core/instant.ts";
import { type Question, findAnswer } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { sayAnswer } from "../inspect/show-view.ts";
import { sayDue } from "../../view/question-text.ts";
import { sayBy } from "../../view/run-text.ts";
import { sayAgo } from "../../view/relative-time.ts";

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

/** The exit code for the status of a question. */
export function exitCodeOf(question: Question): number {
  switch (question.status) {
    case "pending":
      return EXIT_CODE.pending;
    case "answered":
      return 0;
    case "timeout":
      if (findAnswer(question) || question.policy === "proceed") return 0;
      return question.policy === "skip" ? EXIT_CODE.cancelled : EXIT_CODE.timedOut;
    case "cancelled":
      return EXIT_CODE.cancelled;
    default:
      return unreachable(question);
  }
}

function lines(status: string, more: readonly string[]): string {
  return `${[status, ...more.map((line) => `  ${sanitise(line)}`)].join("\n")}\n`;
}
