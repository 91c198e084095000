import { type Actor, actorName } from "../people/actor.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { spellDuration } from "../text/duration.ts";
import { WORDS_CHARS, quoteBlock, quoteLine, quoteName } from "../text/foreign-text.ts";
import { MINUTE_MS, SECOND_MS, msBetween } from "../instant.ts";
import { answerText, itemText } from "../answer/match.ts";
import {
  type Amendment,
  type Answer,
  CONFIDENCE_POLICY,
  type Handover,
  NO_REASON,
  type Question,
  findAnswer,
  handoversOf,
  isHandoverOpen,
  isOutcomeOpen,
  outcomeName,
} from "../question/question.ts";
import { findTally } from "../answer/vote.ts";
import { findChangedCommand, isAllowing } from "../question/approval.ts";
import { ALLOW, ALLOW_CHANGED } from "../question/run-permission.ts";

/** The questions a message to an agent is about. */
export interface AgentMessageInput {
  /** Random for every message, so that no author of an answer can know it. */
  delimiter: string;
  reads: readonly QuestionSnapshot[];
}

const PERCENT = 100;
const TOLD_BEFORE = "You may have been told this already, before you were interrupted. If so, do not act on it twice.";

/**
 * Builds the message about the outcomes of an agent's questions: who answered, through what and when, with the answers
 * as data.
 */
export function answerMessage({ delimiter, reads }: AgentMessageInput): string {
  const parts = reads.flatMap((read) => [outcomeMessage(read, delimiter), ...amendmentLines(read, delimiter)]);
  return [...parts, "Continue with the task."].join("\n\n");
}

/** Builds the message of a start: what this start hands over, and nothing that was given before. */
export function handoverMessage({ delimiter, reads }: AgentMessageInput): string {
  const parts = reads.flatMap((read) => [
    ...(handoversOf(read.question).some(isRepeated) ? [TOLD_BEFORE] : []),
    ...(isOutcomeOpen(read.question) ? [outcomeMessage(read, delimiter)] : []),
    // A correction after the hand-over goes with the next one.
    ...amendmentLines(read, delimiter, ({ state }) => state === "handing"),
  ]);
  return [...parts, "Continue with the task."].join("\n\n");
}

/** Begins the account of what an agent without a session was told before. */
export const KNOWN_BEFORE =
  "Answered before in this run; you may know all of it already. If so, do not act on it twice.";

/**
 * Repeats what was answered in earlier starts to an agent that has no session to remember it. Left out is what asks for
 * an act: a permission holds once, and what a person asked back was asked again.
 */
export function knownMessage({ delimiter, reads }: AgentMessageInput): string[] {
  const known = reads.filter(
    ({ question }) => question.fingerprint === undefined && findAnswer(question)?.outcome !== "clarify",
  );
  if (known.length === 0) return [];
  // A correction that goes along now is told beside it.
  return [KNOWN_BEFORE, ...historyMessage({ delimiter, reads: known }, ({ state }) => state !== "handing")];
}

/** Tells every outcome of a run, oldest first, with all its corrections or those that are to be told. */
export function historyMessage(
  { delimiter, reads }: AgentMessageInput,
  isTold: (handover: Handover) => boolean = () => true,
): string[] {
  return reads.flatMap((read) => [outcomeMessage(read, delimiter), ...amendmentLines(read, delimiter, isTold)]);
}

/** Builds the message about corrections of answers the agent already has. */
export function correctionMessage({ delimiter, reads }: AgentMessageInput): string {
  return reads.flatMap((read) => amendmentLines(read, delimiter)).join("\n\n");
}

function isRepeated(handover: Handover) {
  return handover.state === "handing" && handover.isRepeated === true;
}

/** The sentence for an ask that allowed the agent to proceed without an answer. */
export function proceedSentence(windowMs: number): string {
  const wholeMs = Math.round(windowMs / SECOND_MS) * SECOND_MS; // a window ends some milliseconds late
  return `No response received within ${spellDuration(wholeMs)} — proceed using your best judgment.`;
}

/** The sentence about a deadline that passed without an answer. */
export function timeoutMessage(question: Extract<Question, { status: "timeout" }>): string {
  const waitedMs = msBetween(question.askedAt, question.timedOutAt);
  if (question.policy === "proceed" && question.kind === "question") return proceedSentence(waitedMs);
  const waited = spellDuration(Math.round(waitedMs / MINUTE_MS) * MINUTE_MS);
  const then = question.policy === "skip" ? "skip this task" : "stop this task";
  return `Nobody answered question ${question.id} within ${waited}. Policy "${question.policy}" applies: ${then}.`;
}

/** The line that says that no answer will come, with a person's note. */
export function cancelledMessage(question: Extract<Question, { status: "cancelled" }>): string {
  const { note, cancelledBy, policy } = question;
  if (policy) return `${unsureSentence(question)} Stop now: end your turn, do not guess and do not ask again.`;
  const said = `${withdrawnSentence(question)} No answer will come; go on without it.`;
  if (note === undefined) return said;
  return `${said} Note of ${who(cancelledBy)}, which is not an answer: ${quoteLine(note, WORDS_CHARS)}`;
}

/**
 * The message that the question is stored and the agent must stop. It promises a resume only where a worker or a
 * callback does it.
 */
export function parkedMessage(
  { run, question }: Pick<QuestionSnapshot, "run" | "question">,
  howToLook: string,
): string {
  const next = run.giveBack === "poll" ? `To get the answer, ${howToLook}.` : "You will be resumed with the answer.";
  return (
    `Nobody has answered yet. Your question is kept as ${question.id} and still waits for a person. ` +
    `Stop now: end your turn, do not guess and do not ask again. ${next}`
  );
}

/** The answerer, the channel and the time, for agents that receive the answer in a format of their own. */
export function provenanceMessage(read: QuestionSnapshot, delimiter: string): string {
  const { question } = read;
  const answer = findAnswer(question);
  const told = answer?.policy
    ? policyMessage(read, answer, delimiter)
    : answer
      ? [
          `Question ${question.id}: ${headline(question, answer)} ${answeredBy(question, answer)}`,
          ...changedLines(answer, delimiter),
        ].join("\n")
      : outcomeMessage(read, delimiter);
  return [told, ...amendmentLines(read, delimiter)].join("\n");
}

/** Builds the message about the outcome of one question. */
export function outcomeMessage(read: QuestionSnapshot, delimiter: string): string {
  const { question } = read;
  const answer = findAnswer(question);
  if (question.status === "pending") return `Question ${question.id} is still waiting for a person.`;
  if (question.status === "cancelled") return withdrawnMessage(question, delimiter);
  if (question.status === "timeout" && !answer) {
    const sentence = proceedSentence(msBetween(question.askedAt, question.timedOutAt));
    return `${sentence}\n${asked(read, delimiter)}\n${recorded(question)}`;
  }
  if (!answer) throw new Error(`${question.id} is answered without an answer`);
  if (answer.policy) return policyMessage(read, answer, delimiter);
  return answeredMessage(read, answer, delimiter);
}

/** A withdrawn question has no answer; a person's text is a note. */
function withdrawnMessage(question: Extract<Question, { status: "cancelled" }>, delimiter: string) {
  const { note } = question;
  return [
    `${withdrawnSentence(question)} No answer will come.`,
    ...(note === undefined ? [] : [`Note, which is not an answer:\n${quoteBlock(note, delimiter)}`]),
    recorded(question),
  ].join("\n");
}

/** A question that no person was asked, because its asker was too unsure of what it recommends. */
function unsureSentence({ id, confidence = 0, policy }: Extract<Question, { status: "cancelled" }>) {
  const then = policy === "block" ? "this run is blocked until a person resumes it" : "this task is skipped";
  const sure = `${Math.round(confidence * PERCENT)} %`;
  return `No person was asked ${id}: you are only ${sure} sure. Policy "${CONFIDENCE_POLICY}" applies: ${then}.`;
}

function withdrawnSentence(question: Extract<Question, { status: "cancelled" }>) {
  const { id, note, reason, cancelledBy, policy } = question;
  if (policy) return unsureSentence(question);
  const how = note === undefined ? "cancelled" : `withdrawn by ${who(cancelledBy)}`;
  const why = reason === NO_REASON ? "" : ` (reason: ${quoteLine(reason, WORDS_CHARS)})`;
  return `Question ${id} was ${how}${why}.`;
}

/** The sentence by which the agent's transcript shows that it has the outcome. */
export function recorded(question: Question): string {
  return `Recorded as ${outcomeName(question)}.`;
}

function answeredMessage(read: QuestionSnapshot, answer: Answer, delimiter: string) {
  const lines = [headline(read.question, answer), asked(read, delimiter), ...aboutApproval(read, delimiter)];
  if (answer.outcome === "answer") lines.push(`Answer:\n${quoteBlock(answerLines(read, answer), delimiter)}`);
  if (answer.note)
    lines.push(`${answer.outcome === "clarify" ? "They ask" : "Note"}:\n${quoteBlock(answer.note, delimiter)}`);
  lines.push(answeredBy(read.question, answer));
  // Only for a tool does askd know which option allows it; other approvals explain their options themselves.
  if (read.question.fingerprint !== undefined && answer.outcome === "answer")
    lines.push(afterApproval(read.question, answer));
  if (answer.outcome === "decide") lines.push("Choose yourself, and record what you chose and why.");
  if (answer.outcome === "clarify") lines.push("Explain what they want to know, then ask again.");
  return lines.join("\n");
}

/** Names what was to be allowed: the agent may have asked for several things. */
function aboutApproval({ question, content }: QuestionSnapshot, delimiter: string) {
  if (question.kind !== "approval" || content.context === undefined) return [];
  return [`What it was about:\n${quoteBlock(content.context, delimiter)}`];
}

function afterApproval(question: Question, answer: Answer) {
  if (!isAllowing(answer)) return "Do not try the same again; find another way or say what is missing.";
  const isLasting = Object.values(answer.items).some(({ values }) => ![ALLOW, ALLOW_CHANGED].includes(values.join()));
  if (!isLasting && !isOutcomeOpen(question)) return "This held once, for exactly this, and it was used.";
  if (findChangedCommand(answer) !== undefined)
    return "This holds once: make the same call again now. It runs the changed command in place of yours.";
  return isLasting
    ? "This holds for the rest of this run: make the same call again now."
    : "This holds once, for exactly this: make the same call again now.";
}

/** The first line: forced answers and votes are told apart from one person's answer in time. */
function headline(question: Question, answer: Answer) {
  const late = isForced(question) ? " It was forced after the deadline had passed." : "";
  return `${outcomeInstruction(question, answer)}${late}`;
}

function outcomeInstruction(question: Question, answer: Answer) {
  if (answer.outcome === "decide") return "A person leaves the choice to you.";
  if (answer.outcome === "clarify") return "A person asks back about your question.";
  const tally = findTally(question, answer);
  if (!tally) return "A person answered your question.";
  if (tally.isVeto) return "A person answered your question by a veto; one is enough.";
  return `People answered your question by vote: ${tally.votes.length} for this answer, ${tally.need} needed.`;
}

function isForced(question: Question) {
  return question.status === "timeout" && question.forced !== undefined;
}

/** Tells the agent that another command ran than the one it asked for. */
function changedLines(answer: Answer, delimiter: string) {
  const command = findChangedCommand(answer);
  return command === undefined
    ? []
    : [`The person changed the command. This ran instead of yours:\n${quoteBlock(command, delimiter)}`];
}

function policyMessage(read: QuestionSnapshot, answer: Answer, delimiter: string) {
  if (answer.allowedIn !== undefined)
    return `A person allowed this for the rest of the run in ${answer.allowedIn}, so nobody was asked. Recorded as ${answer.id}.`;
  const why =
    answer.policy === CONFIDENCE_POLICY
      ? "You were sure enough, so no person was asked."
      : "No person answered in time.";
  return [
    `${why} Policy ${quoteLine(answer.policy ?? "")} applies: it answers in place of a person.`,
    asked(read, delimiter),
    `Answer of the policy:\n${quoteBlock(answerLines(read, answer), delimiter)}`,
    `Recorded as ${answer.id}.`,
  ].join("\n");
}

function amendmentLines(
  { question }: QuestionSnapshot,
  delimiter: string,
  isTold: (handover: Handover) => boolean = isHandoverOpen,
) {
  const owed = question.amendments.filter(({ handover }) => isTold(handover));
  return owed.map((amendment) =>
    [
      `A person corrected the answer to ${quoteLine(question.title)} (${question.id}).`,
      `Correction:\n${quoteBlock(amendment.text, delimiter)}`,
      provenance("Corrected", [amendment.by], amendment),
    ].join("\n"),
  );
}

function asked({ question, content }: QuestionSnapshot, delimiter: string) {
  const text = content.items.map((item) => item.text).join("\n");
  return `Question (${question.id}):\n${quoteBlock(text, delimiter)}`;
}

function answerLines({ content }: QuestionSnapshot, answer: Answer) {
  if (content.items.length === 1) return answerText(content, answer.items);
  return content.items
    .map((item) => `${item.header ?? item.text}: ${itemText(item, answer.items[item.id])}`)
    .join("\n");
}

function answeredBy(question: Question, answer: Answer) {
  const tally = answer.outcome === "answer" ? findTally(question, answer) : undefined;
  return provenance("Answered", tally?.votes.map((vote) => vote.by) ?? [answer.by], answer);
}

/** The answerer, the channel, the time, and the id of the outcome. */
function provenance(did: string, people: readonly Actor[], said: Answer | Amendment) {
  const names = people.map((by) => `${who(by)} (${quoteName(by.channel)})`).join(", ");
  return `${did} by ${names} at ${said.at.slice(0, 10)} ${said.at.slice(11, 16)} UTC. Recorded as ${said.id}.`;
}

function who(by: Actor) {
  return quoteName(actorName(by));
}
