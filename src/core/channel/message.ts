import { answerText } from "../answer/match.ts";
import { findTally } from "../answer/vote.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { shortId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { type Actor, type Strength, actorName, channelName } from "../people/actor.ts";
import { isDenial } from "../question/approval.ts";
import { type Content, type Item, type Option, titleOf } from "../question/content.ts";
import { type Question, cancellationWords, findAnswer, isPending } from "../question/question.ts";
import { ALLOW_CHANGED } from "../question/run-permission.ts";
import { nextPolicy } from "../question/timeout.ts";
import type { TimeoutPolicy } from "../question/timeout-policy.ts";
import type { Rules } from "../rules.ts";
import { redactor } from "../secret/redact.ts";
import type { Language } from "../text/language.ts";
import { unreachable } from "../unreachable.ts";
import { type IssueMessage, issueMessage } from "./issue-effects.ts";
import { type MessageRun, type QuestionFacts, messageRun, questionFacts } from "./message-facts.ts";
import { tellIn } from "./message-words.ts";
import type { NoticeName } from "./notice.ts";
import { linkLines, pageLink } from "./page-link.ts";
import { RUN_PART_CHARS, sayRun } from "./run-line.ts";

/** The longest line about the run, a name or an outcome. */
export const LINE_CHARS = 300;
const CUT = "…";
const FENCE_END = "\n```";

/** Everything a message may show about a question, redacted and in words, before it is fitted to a channel. */
export interface QuestionMessage {
  /** The question, or what else the message is about: messages of the same name replace each other. */
  questionId: string;
  runId: string;
  shortId: string;
  /** The language of its reader. */
  language: Language;
  /** The text that buttons carry. */
  token: string;
  /** The news that it tells in place of a question. */
  news: NoticeName | undefined;
  kind: Question["kind"];
  risk: Question["risk"];
  /** Only a channel that knows who replies can allow it or answer it. */
  needsPerson: boolean;
  /** The question still takes answers: without it there are no buttons. */
  isOpen: boolean;
  /** An answer is about to count, and can still be taken back. */
  isSettling: boolean;
  /** The outcomes that the asker accepts. */
  accepts: Question["accepts"];
  /** The issue that the question belongs to. */
  issue: number | undefined;
  /** The rest that a comment of that issue needs. */
  onIssue?: IssueMessage | undefined;
  /** The person whose answer or withdrawal ended it. */
  closedBy: string | undefined;
  /** Parts of it were redacted. */
  isRedacted: boolean;
  title: string;
  /** How it ended, or what happens to it now; undefined for a question that simply waits. */
  outcome: string | undefined;
  items: readonly Item[];
  context: string | undefined;
  /** The run: number, name, repository, agent, with a mark on what only the asker claims. */
  about: string;
  /** The same for programs. */
  run?: MessageRun;
  facts?: QuestionFacts;
  /** The claim, the escalation, the votes so far. */
  notes: readonly string[];
  /** When silence has a consequence, and which. */
  deadline: string | undefined;
  dueAt: Instant | undefined;
  /** The same in the few words of a notification. */
  timeout: string | undefined;
  allowText: boolean;
  /** Values that deny an approval; all others approve. */
  denials: ReadonlySet<string>;
  link: string | undefined;
}

/** Makes one redacted line of a text, as long as messages show it. */
export function messageLine({ redact }: Pick<Rules, "redact">, chars = LINE_CHARS): (text: string) => string {
  const clean = redactor([], redact);
  return (text) => cutText(clean(text).replace(/\s+/g, " ").trim(), chars, countCharacters).text;
}

/** Builds the message of a question as it is now. It has no clock in it: the same question is the same message. */
export function questionMessage(
  read: QuestionSnapshot,
  token: string,
  rules: Rules,
  language: Language = rules.language,
): QuestionMessage {
  const { question, run, content } = read;
  const line = messageLine(rules);
  const shared: Content = { ...content, ...content.shared };
  // A changed command is typed elsewhere: no reply can carry one.
  const items = shared.items.map((item) => ({
    ...item,
    options: item.options.filter(({ value }) => question.kind !== "approval" || value !== ALLOW_CHANGED),
  }));
  const [first] = items;
  return {
    questionId: question.id,
    runId: question.runId,
    shortId: shortId(question.id),
    language,
    token,
    news: undefined,
    kind: question.kind,
    risk: question.risk,
    needsPerson: question.risk === "high" && rules.personChannel,
    isOpen: isPending(question) && question.settling === undefined,
    isSettling: isPending(question) && question.settling !== undefined,
    accepts: question.accepts,
    issue: (question.issue ?? run.issue)?.number,
    closedBy: closedBy(question),
    isRedacted: content.shared !== undefined,
    title: titleOf(shared),
    outcome: optionalLine(sayOutcome(question, shared, language), line),
    items,
    context: shared.context,
    about: sayRun(run, messageLine(rules, RUN_PART_CHARS), language),
    run: messageRun(run, line),
    facts: questionFacts(read, rules, line),
    notes: isPending(question) ? notesOf(question, language).map(line) : [],
    deadline: isPending(question) ? optionalLine(sayDeadline(question, shared, language), line) : undefined,
    dueAt: isPending(question) ? question.dueAt : undefined,
    timeout: isPending(question) ? sayTimeout(question, language) : undefined,
    onIssue: issueMessage(read, shared, line),
    allowText: items.every(({ allowText }) => allowText),
    denials: new Set(
      (first?.options ?? [])
        .filter(({ value }) => isDenial({ items: first ? [first] : [] }, { [first?.id ?? ""]: { values: [value] } }))
        .map(({ value }) => value),
    ),
    link: pageLink(`/q/${question.id}`, rules),
  };
}

function closedBy(question: Question): string | undefined {
  if (question.status === "cancelled") return actorName(question.cancelledBy);
  const answer = question.status === "answered" ? question.answer : undefined;
  return answer === undefined || answer.policy !== undefined ? undefined : actorName(answer.by);
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
    ...(message.isOpen ? [optionLines(message).map(foreign).join("\n")] : []),
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

function optionLines({ items, language }: QuestionMessage) {
  const isOne = items.length === 1;
  return items.flatMap((item, index) =>
    item.options.map(
      (option) => `${isOne ? "" : `${index + 1}`}${option.key.toUpperCase()}) ${sayOption(option, language)}`,
    ),
  );
}

function sayOption({ label, description, recommended }: Option, language: Language) {
  return `${label}${recommended ? ` ${tellIn(language, "recommended")}` : ""}${description === undefined ? "" : ` - ${description}`}`;
}

function endLines({ about, notes, deadline, isOpen, link, language }: QuestionMessage, { foreign, how }: FitOptions) {
  return [
    ...notes.map(foreign),
    ...(deadline === undefined ? [] : [foreign(deadline)]),
    foreign(about),
    ...(isOpen && how !== undefined ? [how] : []),
    ...linkLines(link, language),
  ];
}

/** How people answer by replying in the channel, or also by tapping. */
export function sayHowToReply(
  { items, allowText, shortId: id, language }: QuestionMessage,
  by: "reply" | "reply.tap" | "reply.thread" = "reply",
): string {
  const [first] = items;
  const reply = tellIn(language, by);
  if (items.length > 1) return tellIn(language, "how.items", { reply });
  if (first?.schema !== undefined) return tellIn(language, "how.command", { id });
  const all = (first?.options ?? []).map(({ key }) => key.toUpperCase());
  if (all.length === 0) return tellIn(language, "how.words", { reply });
  const named =
    all.length <= 5 ? orList(all, language) : tellIn(language, "to", { first: all[0] ?? "", last: all.at(-1) ?? "" });
  const keys = first?.multiple ? `${named} ${tellIn(language, "several")}` : named;
  return tellIn(language, allowText ? "how.keys.words" : "how.keys", { reply, keys });
}

function orList(keys: readonly string[], language: Language) {
  const last = keys.at(-1) ?? "";
  return keys.length < 2 ? last : `${keys.slice(0, -1).join(", ")} ${tellIn(language, "or")} ${last}`;
}

/** The text of a reminder. */
export function sayReminder({ title, deadline, notes, language }: QuestionMessage, count: number): string {
  return [
    tellIn(language, "reminder", { n: count, title }),
    ...notes,
    ...(deadline === undefined ? [] : [deadline]),
  ].join("\n");
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
function sayOutcome(question: Question, content: Content, language: Language): string | undefined {
  const answer = findAnswer(question);
  const say = (given: NonNullable<typeof answer>) => ({
    who: saidBy(given.by),
    answer: answerWords(given, content, language),
  });
  switch (question.status) {
    case "pending": {
      const given = question.settling?.answer;
      return given && tellIn(language, "settling", say(given));
    }
    case "answered": {
      if (!answer) return undefined;
      const { policy } = answer;
      if (policy !== undefined) return tellIn(language, "answered.policy", { policy, ...say(answer) });
      return [tellIn(language, "answered", say(answer)), ...votesOf(question, answer, language)].join(" ");
    }
    case "timeout":
      if (question.forced) return tellIn(language, "answered.late", say(question.forced.answer));
      return [
        tellIn(language, "timeout", { then: sayThen(question, question.policy, undefined, language) }),
        ...sayAssignee(question, language),
      ].join(" ");
    case "cancelled":
      return tellIn(language, "cancelled", { who: saidBy(question.cancelledBy), reason: cancellationWords(question) });
    default:
      return unreachable(question);
  }
}

/** The person whom the ask declares for after its deadline. */
function sayAssignee({ onTimeout: { do: policy, assignTo } }: Question, language: Language) {
  return policy === "escalate" || assignTo === undefined ? [] : [tellIn(language, "assigned", { name: assignTo })];
}

function votesOf(question: Question, answer: NonNullable<ReturnType<typeof findAnswer>>, language: Language) {
  const tally = findTally(question, answer);
  if (!tally) return [];
  if (tally.isVeto) return [tellIn(language, "veto")];
  return [tellIn(language, "votes", { n: tally.votes.length, need: tally.need })];
}

function saidBy(by: Actor) {
  return `${actorName(by)} (${channelName(by.channel)})`;
}

function answerWords(answer: NonNullable<ReturnType<typeof findAnswer>>, content: Content, language: Language) {
  if (answer.outcome === "decide") return tellIn(language, "decide");
  if (answer.outcome === "clarify") return tellIn(language, "clarify", { note: answer.note ?? "" });
  return `${answerText(content, answer.items)}${answer.note === undefined ? "" : ` (${answer.note})`}`;
}

function notesOf(question: Question, language: Language): string[] {
  const { claim, approvals, votes, escalated, to, risk, delegates = [] } = question;
  const escalation = to.length > 0 ? "note.escalated.to" : "note.escalated";
  return [
    ...(risk === "high" ? [tellIn(language, "note.risk")] : []),
    ...(claim ? [tellIn(language, "note.claim", { name: actorName(claim.by) })] : []),
    ...(escalated > 0 ? [tellIn(language, escalation, { names: to.join(", ") })] : []),
    ...delegates.map((each) => tellIn(language, "note.away", each)),
    ...(approvals.need > 1 ? [tellIn(language, "note.votes", { n: votes.length, need: approvals.need })] : []),
  ];
}

function sayDeadline(question: Question, content: Content, language: Language) {
  if (question.dueAt === undefined) return undefined;
  const label = content.items[0]?.options.find(({ value }) => value === question.onTimeout.answer)?.label;
  const then = sayThen(question, nextPolicy(question), label, language);
  return tellIn(language, "deadline", { time: sayUtc(question.dueAt), then });
}

function sayTimeout(question: Question, language: Language) {
  if (question.dueAt === undefined) return undefined;
  const will = tellIn(language, `will.${nextPolicy(question)}`);
  return tellIn(language, "timeout.short", { time: sayUtc(question.dueAt), will });
}

/** The words for what the run does when nobody answers. */
function sayThen({ onTimeout }: Question, policy: TimeoutPolicy, label: string | undefined, language: Language) {
  return tellIn(language, `then.${policy}`, { answer: label ?? onTimeout.answer ?? "" });
}

/** A time as messages write it. */
export function sayUtc(at: Instant): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
