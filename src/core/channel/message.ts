import { answerText } from "../answer/match.ts";
import { findTally } from "../answer/vote.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { shortId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { type Actor, type Strength, actorName, channelName } from "../people/actor.ts";
import { isDenial } from "../question/approval.ts";
import { type Content, type Item, type Option, titleOf } from "../question/content.ts";
import { type Question, findAnswer, isPending } from "../question/question.ts";
import { ALLOW_CHANGED } from "../question/run-permission.ts";
import { describePolicy } from "../question/timeout.ts";
import type { Rules } from "../rules.ts";
import { redactor } from "../secret/redact.ts";
import { unreachable } from "../unreachable.ts";

/** The longest line about the run, a name or an outcome. */
const LINE_CHARS = 300;
const CUT = "…";
const FENCE_END = "\n```";

/** Everything a message may show about a question, redacted and in words, before it is fitted to a channel. */
export interface QuestionMessage {
  questionId: string;
  shortId: string;
  /** The text that buttons carry. */
  token: string;
  kind: Question["kind"];
  risk: Question["risk"];
  /** The question still takes answers: without it there are no buttons. */
  isOpen: boolean;
  /** Parts of it were redacted. */
  isRedacted: boolean;
  title: string;
  /** How it ended, or what happens to it now; undefined for a question that simply waits. */
  outcome: string | undefined;
  items: readonly Item[];
  context: string | undefined;
  /** The run: number, name, repository, agent. */
  about: string;
  /** The claim, the escalation, the votes so far. */
  notes: readonly string[];
  /** When silence has a consequence, and which. */
  deadline: string | undefined;
  dueAt: Instant | undefined;
  allowText: boolean;
  /** Values that deny an approval; all others approve. */
  denials: ReadonlySet<string>;
  link: string | undefined;
}

/** Builds the message of a question as it is now. It has no clock in it: the same question is the same message. */
export function questionMessage(read: QuestionSnapshot, token: string, rules: Rules): QuestionMessage {
  const { question, run, content } = read;
  const clean = redactor([], rules.redact);
  const shared: Content = { ...content, ...content.shared };
  // A changed command is typed elsewhere: no reply can carry one.
  const items = shared.items.map((item) => ({
    ...item,
    options: item.options.filter(({ value }) => question.kind !== "approval" || value !== ALLOW_CHANGED),
  }));
  const line = (text: string) => cutText(clean(text).replace(/\s+/g, " ").trim(), LINE_CHARS, countCharacters).text;
  // A run made for one ask is named after the question, as it was before anything was redacted.
  const name = run.implicit ? `#${run.number}` : `#${run.number} ${run.name}`;
  const about = [name, run.repo, run.agent].filter((part) => part !== undefined && part !== "" && part !== "none");
  const [first] = items;
  return {
    questionId: question.id,
    shortId: shortId(question.id),
    token,
    kind: question.kind,
    risk: question.risk,
    isOpen: isPending(question) && question.settling === undefined,
    isRedacted: content.shared !== undefined,
    title: titleOf(shared),
    outcome: optionalLine(sayOutcome(question, shared), line),
    items,
    context: shared.context,
    about: line(about.join(" · ")),
    notes: isPending(question) ? notesOf(question).map(line) : [],
    deadline: isPending(question) ? optionalLine(sayDeadline(question, shared), line) : undefined,
    dueAt: isPending(question) ? question.dueAt : undefined,
    allowText: items.every(({ allowText }) => allowText),
    denials: new Set(
      (first?.options ?? [])
        .filter(({ value }) => isDenial({ items: first ? [first] : [] }, { [first?.id ?? ""]: { values: [value] } }))
        .map(({ value }) => value),
    ),
    link: rules.publicUrl === undefined ? undefined : `${rules.publicUrl.replace(/\/+$/, "")}/q/${question.id}`,
  };
}

function optionalLine(text: string | undefined, line: (text: string) => string) {
  return text === undefined ? undefined : line(text);
}

/** A text within the limits of a channel. */
export interface FittedText {
  text: string;
  /** Nothing that decides an approval is missing: neither cut nor redacted. */
  isWhole: boolean;
}

export interface FitOptions {
  limit: number;
  /** The length of a text as the channel counts it. */
  count: (text: string) => number;
  /** Makes foreign text harmless for the channel. */
  foreign: (text: string) => string;
  /** Shows the context of a question too; the context of an approval is what it approves and is always shown. */
  hasContext: boolean;
  /** The text has the title; false where the channel has a field for it. */
  hasTitle: boolean;
  /** How to answer in this channel. */
  how: string | undefined;
}

/** Writes a message as text that fits: what decides comes first, and what is cut says so. */
export function fitText(message: QuestionMessage, options: FitOptions): FittedText {
  const { limit, count, foreign } = options;
  const end = endLines(message, options).join("\n");
  const showsContext = message.context !== undefined && (options.hasContext || message.kind === "approval");
  const parts = [
    ...(message.outcome === undefined ? [] : [foreign(message.outcome)]),
    ...questionParts(message, options),
    ...(showsContext && message.isOpen ? [foreign(message.context ?? "")] : []),
    ...(message.isOpen ? [optionLines(message.items).map(foreign).join("\n")] : []),
  ].filter((part) => part.trim() !== "");
  const room = limit - count(end) - count("\n\n") - count(FENCE_END);
  const body = cutText(parts.join("\n\n"), room, count);
  const text = [closeFence(body.text), end].filter((part) => part !== "").join("\n\n");
  return { text, isWhole: !body.isCut && !message.isRedacted };
}

/** Ends a block of code that was cut, or that nobody ended, so that what follows is no part of it. */
function closeFence(text: string) {
  const fences = text.match(/^```/gm)?.length ?? 0;
  return fences % 2 === 0 ? text : `${text}${FENCE_END}`;
}

function questionParts({ items, title, isOpen }: QuestionMessage, { hasTitle, foreign }: FitOptions) {
  const whole = items
    .map((item) => (items.length === 1 ? item.text : `${item.header ?? item.id}: ${item.text}`))
    .join("\n");
  if (!isOpen) return hasTitle ? [foreign(title)] : [];
  const isInTitle = !hasTitle && whole.replace(/\s+/g, " ").trim() === title;
  return isInTitle ? [] : [foreign(whole)];
}

function optionLines(items: readonly Item[]) {
  const isOne = items.length === 1;
  return items.flatMap((item, index) =>
    item.options.map((option) => `${isOne ? "" : `${index + 1}`}${option.key.toUpperCase()}) ${sayOption(option)}`),
  );
}

function sayOption({ label, description, recommended }: Option) {
  return `${label}${recommended ? " (recommended)" : ""}${description === undefined ? "" : ` - ${description}`}`;
}

function endLines({ about, notes, deadline, isOpen, link }: QuestionMessage, { foreign, how }: FitOptions) {
  return [
    ...notes.map(foreign),
    ...(deadline === undefined ? [] : [foreign(deadline)]),
    foreign(about),
    ...(isOpen && how !== undefined ? [how] : []),
    ...(link === undefined ? [] : [link]),
  ];
}

/** How people answer by replying in the channel. */
export function sayHowToReply({ items, allowText, shortId: id }: QuestionMessage): string {
  const [first] = items;
  if (items.length > 1) return "Reply with all answers, like: 1A 2B";
  if (first?.schema !== undefined) return `Answer with: askd answer ${id}`;
  const keys = (first?.options ?? []).map(({ key }) => key.toUpperCase());
  if (keys.length === 0) return "Reply with your answer.";
  const named = keys.length <= 5 ? keys.join(", ") : `${keys[0] ?? ""} to ${keys.at(-1) ?? ""}`;
  const several = first?.multiple ? " (several: A,B)" : "";
  return `Reply with ${named}${several}${allowText ? ", or in your own words" : ""}.`;
}

/** The replies that are left where a message does not show everything that it would allow. */
export function sayOnlyDenied({ items: [item], denials, shortId: id }: QuestionMessage): string {
  const keys = (item?.options ?? []).filter(({ value }) => denials.has(value)).map(({ key }) => key.toUpperCase());
  return `Not all of it is shown here: reply with ${keys.join(", ")} to deny it, or allow it with: askd answer ${id}`;
}

/** A message that only tests whether a channel works. */
export function testMessage(): QuestionMessage {
  return {
    questionId: "test",
    shortId: "test",
    token: "",
    kind: "question",
    risk: "low",
    isOpen: false,
    isRedacted: false,
    title: "This is a test: questions of your agents come this way.",
    outcome: undefined,
    items: [],
    context: undefined,
    about: "askd",
    notes: [],
    deadline: undefined,
    dueAt: undefined,
    allowText: false,
    denials: new Set(),
    link: undefined,
  };
}

/** The text of a reminder. */
export function sayReminder({ title, deadline, notes }: QuestionMessage, count: number): string {
  return [`🔔 Reminder ${count}: ${title}`, ...notes, ...(deadline === undefined ? [] : [deadline])].join("\n");
}

/** One choice that a button offers. */
export interface Choice {
  key: string;
  label: string;
  value: string;
}

/**
 * The choices that may be buttons. An approval that is not wholly visible in the message can only be denied there; a
 * channel that proves too little gets none at high risk; what one tap cannot answer, such as a changed command, has
 * none.
 */
export function choicesOf(
  message: QuestionMessage,
  { isWhole, strength }: { isWhole: boolean; strength: Strength | undefined },
): Choice[] {
  const [item, ...others] = message.items;
  if (!message.isOpen || strength === undefined || !item || others.length > 0) return [];
  if (item.multiple || item.schema !== undefined) return [];
  if (message.risk === "high" && strength !== "person") return [];
  const offered =
    message.kind === "approval" && !isWhole
      ? item.options.filter(({ value }) => message.denials.has(value))
      : item.options;
  return offered.map(({ key, label, value }) => ({ key: key.toUpperCase(), label, value }));
}

/** Cuts a text to a length, at a whole character, and says whether it did. */
export function cutText(
  text: string,
  limit: number,
  count: (text: string) => number,
): { text: string; isCut: boolean } {
  if (count(text) <= limit) return { text, isCut: false };
  const characters = Array.from(text);
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(`${characters.slice(0, middle).join("")}${CUT}`) <= limit) low = middle;
    else high = middle - 1;
  }
  return { text: low === 0 ? "" : `${characters.slice(0, low).join("").trimEnd()}${CUT}`, isCut: true };
}

export function countCharacters(text: string): number {
  return Array.from(text).length;
}

export function countBytes(text: string): number {
  return Buffer.byteLength(text);
}

/** How a question ended, with who and where; or that an answer is about to count. */
export function sayOutcome(question: Question, content: Content): string | undefined {
  const answer = findAnswer(question);
  switch (question.status) {
    case "pending": {
      const given = question.settling?.answer;
      return given && `⏳ ${saidBy(given.by)} has just answered: ${answerWords(given, content)}`;
    }
    case "answered": {
      const tally = answer && findTally(question, answer);
      const votes = tally ? ` (${tally.isVeto ? "veto" : `${tally.votes.length} of ${tally.need}`})` : "";
      if (answer?.policy !== undefined)
        return `✅ Answered by policy ${answer.policy}: ${answerWords(answer, content)}`;
      return answer && `✅ Answered by ${saidBy(answer.by)}: ${answerWords(answer, content)}${votes}`;
    }
    case "timeout":
      if (question.forced)
        return `✅ Answered late by ${saidBy(question.forced.answer.by)}: ${answerWords(question.forced.answer, content)}`;
      return `⌛ Nobody answered in time; the run ${describePolicy({ ...question, onTimeout: { ...question.onTimeout, do: question.policy } })}.${sayAssignee(question)}`;
    case "cancelled":
      return `🚫 Cancelled by ${saidBy(question.cancelledBy)}: ${question.reason}`;
    default:
      return unreachable(question);
  }
}

/** Whom the ask declares for after its deadline. */
function sayAssignee({ onTimeout: { do: policy, assignTo } }: Question) {
  return policy === "escalate" || assignTo === undefined ? "" : ` For ${assignTo} now.`;
}

function saidBy(by: Actor) {
  return `${actorName(by)} (${channelName(by.channel)})`;
}

function answerWords(answer: NonNullable<ReturnType<typeof findAnswer>>, content: Content) {
  if (answer.outcome === "decide") return "you decide";
  if (answer.outcome === "clarify") return `asked back: ${answer.note ?? ""}`;
  return `${answerText(content, answer.items)}${answer.note === undefined ? "" : ` (${answer.note})`}`;
}

function notesOf(question: Question): string[] {
  const { claim, approvals, votes, escalated, to, risk, delegates = [] } = question;
  return [
    ...(risk === "high" ? ["⚠️ High risk"] : []),
    ...(claim ? [`👀 ${actorName(claim.by)} is on it`] : []),
    ...(escalated > 0 ? [`⤴️ Escalated${to.length > 0 ? ` to ${to.join(", ")}` : ""}`] : []),
    ...delegates.map(({ person, delegate }) => `🏖 ${person} is away; ${delegate} gets it too`),
    ...(approvals.need > 1 ? [`🗳 ${votes.length} of ${approvals.need} have voted`] : []),
  ];
}

function sayDeadline(question: Question, content: Content) {
  if (question.dueAt === undefined) return undefined;
  const label = content.items[0]?.options.find(({ value }) => value === question.onTimeout.answer)?.label;
  return `⏰ By ${sayUtc(question.dueAt)}, then it ${describePolicy(question, label)}.`;
}

function sayUtc(at: Instant) {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
