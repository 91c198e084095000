import type { Read } from "../core/changes.ts";
import type { Item } from "../core/content.ts";
import type { Instant } from "../core/instant.ts";
import { type Answer, type Question, findAnswer } from "../core/question.ts";
import { unreachable } from "../core/unreachable.ts";
import { oneLine, sanitise } from "./sanitise.ts";
import { sayAnswer } from "./show-view.ts";
import { sayBy, sayDue } from "./wording.ts";
import { sayAgo } from "./when.ts";

const EXIT_PENDING = 8;
const EXIT_TIMED_OUT = 9;
const EXIT_CANCELLED = 10;

/** What `askd check` tells programs: the state, and the answer where there is one. */
export interface CheckView {
  status: Question["status"];
  answer?: string;
  answers?: Answer["items"];
  outcome?: Answer["outcome"];
  note?: string;
  answeredBy?: string;
  answeredAt?: Instant;
  /** Set when a rule answered, not a person. */
  policy?: string;
  /** Set when a person answered after the deadline. */
  forced?: true;
  reason?: string;
}

export const CHECK_FIELDS = [
  "status",
  "answer",
  "answers",
  "outcome",
  "note",
  "answered_by",
  "answered_at",
  "policy",
  "forced",
  "reason",
] as const;

export function viewCheck({ question, content }: Read): CheckView {
  const answer = findAnswer(question);
  return {
    status: question.status,
    ...(answer && {
      answer: valuesOf(answer, content).join(content.items.length === 1 ? "," : "\n"),
      answers: answer.items,
      outcome: answer.outcome,
      ...(answer.note && { note: answer.note }),
      answeredBy: answer.by.onBehalfOf ?? answer.by.id,
      answeredAt: answer.at,
    }),
    ...(question.status === "timeout" && { policy: question.policy, ...(question.forced && { forced: true }) }),
    ...(question.status === "cancelled" && { reason: question.reason }),
  };
}

/** The page of `askd check`. */
export function renderCheck(read: Read, now: Instant): string {
  const { question, content } = read;
  const answer = findAnswer(question);
  const said = answer ? [`answer: ${sayAnswer(answer, content, now)}`] : [];
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

/** The exit code that tells a script how the question stands. */
export function exitCodeOf(question: Question): number {
  switch (question.status) {
    case "pending":
      return EXIT_PENDING;
    case "answered":
      return 0;
    case "timeout":
      if (findAnswer(question) || question.policy === "proceed") return 0;
      return question.policy === "skip" ? EXIT_CANCELLED : EXIT_TIMED_OUT;
    case "cancelled":
      return EXIT_CANCELLED;
    default:
      return unreachable(question);
  }
}

/** The answer as a script reads it: values, not labels; with several items each line says which it is for. */
export function valuesOf(answer: Answer, content: Read["content"]): string[] {
  return content.items.flatMap((item) => {
    const given = answer.items[item.id];
    const chosen = given?.values ?? recommendedValues(item, answer);
    const values = given?.text === undefined ? chosen : [given.text];
    return content.items.length === 1 ? values : values.map((value) => `${item.id}=${value}`);
  });
}

/** Who leaves the choice to the asker gets what the asker recommended. */
function recommendedValues(item: Item, answer: Answer): string[] {
  if (answer.outcome !== "decide") return [];
  return item.options.filter((option) => option.recommended).map((option) => option.value);
}

function lines(status: string, more: readonly string[]): string {
  return `${[status, ...more.map((line) => `  ${sanitise(line)}`)].join("\n")}\n`;
}
