import type { QuestionSnapshot } from "../../core/changes.ts";
import { type Instant, msBetween } from "../../core/instant.ts";
import { answerText } from "../../core/answer/match.ts";
import { groupVotes } from "../../core/answer/vote.ts";
import { shortId } from "../../core/id.ts";
import { actorName } from "../../core/people/actor.ts";
import { consequenceAt } from "../../core/people/inbox.ts";
import { isDenial } from "../../core/question/approval.ts";
import { type Content, type Item, offersOther, recommendedOption } from "../../core/question/content.ts";
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

/** `due in 5h 12m, then uses "Redis"`; undefined without a deadline. */
export function sayDue(
  { question, content }: Pick<QuestionSnapshot, "question" | "content">,
  now: Instant,
): string | undefined {
  const deadline = findDeadline({ question, content });
  if (!deadline) return undefined;
  const leftMs = msBetween(now, deadline.at);
  const due = leftMs > 0 ? `due in ${formatDuration(leftMs)}` : "due now";
  return `${due}, then ${deadline.then}`;
}

/** When silence has a consequence, and which; the end of a hold after which the agent goes on by itself counts. */
export function findDeadline({
  question,
  content,
}: Pick<QuestionSnapshot, "question" | "content">): { at: Instant; then: string } | undefined {
  const hold = isPending(question) ? question.hold : undefined;
  const at = consequenceAt({ dueAt: question.dueAt, hold });
  if (at === undefined) return undefined;
  const goesOn = hold?.after === "proceed" && at === hold.until;
  return {
    at,
    then: goesOn ? describePolicy({ ...question, onTimeout: { do: "proceed" } }) : sayThen(question, content),
  };
}

/** The votes so far, `1 of 2 approved, by ada`; none where one person decides. */
export function sayVotes({ question, content }: Pick<QuestionSnapshot, "question" | "content">): string[] {
  const { need } = question.approvals;
  const stuck = isStuck(question) ? [sayUnreachable(question)] : [];
  if (need < 2) return stuck;
  if (question.votes.length === 0) return [`${need} people have to agree; nobody has voted yet`, ...stuck];
  const tallies = groupVotes(question.votes).map((votes) => {
    const { items } = votes[0].answer;
    const chose = `chose ${quoted(oneLine(answerText(content, items)))}`;
    const did = question.kind !== "approval" ? chose : isDenial(content, items) ? "denied" : "approved";
    return `${votes.length} of ${need} ${did}, by ${votes.map(({ by }) => oneLine(actorName(by))).join(", ")}`;
  });
  return [...tallies, ...stuck];
}

/** Says whether a question waits for votes that nobody can give any more. */
export function isStuck(question: Question): boolean {
  return isPending(question) && question.isUnreachable === true;
}

/** Why votes cannot decide it, and the ways out. */
function sayUnreachable({ id, approvals: { from } }: Question) {
  const names = from.map(oneLine).join(", ");
  return `Too few of ${names} are left to decide it: add a person (askd user add), or withdraw it: askd cancel ${shortId(id)}`;
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
