import type { QuestionSnapshot } from "../../core/changes.ts";
import { type Instant, msBetween } from "../../core/instant.ts";
import { type Content, type Item, recommendedOption } from "../../core/question/content.ts";
import { consequenceAt } from "../../core/people/inbox.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { describePolicy } from "../../core/question/timeout.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { quoted } from "./run-text.ts";
import { oneLine } from "./sanitise.ts";

const OTHER = "Other";

/** `1 Redis (recommended)  2 Memcached  3 Other` */
export function sayChoices(item: Item): string {
  return choicesOf(item)
    .map((choice, index) => `${index + 1} ${choice}`)
    .join("  ");
}

/** The labels of all choices, including "Other". */
export function choicesOf(item: Item): string[] {
  const labels = item.options.map((option) => `${oneLine(option.label)}${option.recommended ? " (recommended)" : ""}`);
  return offersOther(item) ? [...labels, OTHER] : labels;
}

/** Says whether the list of choices ends with our own "Other". */
export function offersOther({ allowText, options }: Item): boolean {
  return allowText && options.length > 0 && !options.some(({ label }) => label.trim().toLowerCase() === "other");
}

/** `due in 5h 12m, then uses "Redis"`; undefined without a deadline. */
export function sayDue(read: Pick<QuestionSnapshot, "question" | "content">, now: Instant): string | undefined {
  const silence = findConsequence(read);
  if (!silence) return undefined;
  const leftMs = msBetween(now, silence.at);
  const due = leftMs > 0 ? `due in ${formatDuration(leftMs)}` : "due now";
  return `${due}, then ${silence.then}`;
}

/** When silence has a consequence, and which; undefined if it has none. */
export function findConsequence({
  question,
  content,
}: Pick<QuestionSnapshot, "question" | "content">): { at: Instant; then: string } | undefined {
  const hold = isPending(question) ? question.hold : undefined;
  const at = isPending(question) ? consequenceAt(question) : question.dueAt;
  if (at === undefined) return undefined;
  // An agent that proceeds by itself closes the question, so the later deadline never comes.
  const isLeftToAgent = hold?.after === "proceed" && at === hold.until;
  return { at, then: isLeftToAgent ? "the agent proceeds without an answer" : sayThen(question, content) };
}

/** The action at the deadline, with the label of the default. */
export function sayThen(question: Question, content: Content): string {
  const given = question.onTimeout.answer;
  const only = content.items.length === 1 ? content.items[0] : undefined;
  const option = only?.options.find(
    ({ key, value, label }) => given !== undefined && [key, value, label].includes(given),
  );
  return oneLine(describePolicy(question, option?.label));
}

/** An example answer that works as it is, or a placeholder. */
export function exampleAnswer({ question, content }: Pick<QuestionSnapshot, "question" | "content">): string {
  if (question.risk === "high") return quoted("your response"); // no suggestion at high risk
  const [first, second] = content.items;
  if (!first || second) return quoted(content.items.map((_, index) => `${index + 1}…`).join(" "));
  const option = recommendedOption(first) ?? first.options[0];
  return quoted(option ? oneLine(option.label) : "your response");
}
