import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Event, KeptEvent } from "../../../core/trail/event.ts";
import { type RunId, STORE_CHAIN, shortId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import { findAnswer, isPending } from "../../../core/question/question.ts";
import { type Run, isAnswerUntaken } from "../../../core/run/run.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";
import { exampleAnswer } from "../../view/question-text.ts";
import { UNTAKEN, argumentOf, refOf, sayBy } from "../../view/run-text.ts";
import { type Ahead, sayMoment } from "../../view/relative-time.ts";

const TEXT_CELLS = 200;

/** An event with its question or run, if it still exists. */
export interface WatchedEvent extends KeptEvent {
  run: Run | undefined;
  read: QuestionSnapshot | undefined;
}

/** A line of `askd watch`; a new question has a second line with the command to answer it. */
export function renderWatchedEvent(
  { event, run, read }: WatchedEvent,
  { now, ahead, program }: { now: Instant; ahead: Ahead; program: string },
  style: Style,
): string {
  const moment = sayMoment(event.at, ahead);
  const isToday = moment.slice(0, 10) === sayMoment(now, ahead).slice(0, 10);
  const who = run ? `${refOf(run)} ${oneLine(run.name)}` : sayRunId(event.runId);
  const left = style.dim(isToday ? moment.slice(11) : moment);
  const line = `${left}  ${who}  ${isUntakenNow(event, run) ? UNTAKEN : say(event, read, style)}\n`;
  if (event.type !== "question.asked" || !read || !isPending(read.question)) return line;
  const indent = " ".repeat((isToday ? 8 : 19) + 2);
  return `${line}${indent}Answer with: ${program} answer ${argumentOf(read.run)} ${exampleAnswer(read)}\n`;
}

function sayRunId(id: RunId): string {
  return id === STORE_CHAIN ? "store" : shortId(id);
}

/** Says whether the event reports an answer that a person has to deliver. */
function isUntakenNow({ type }: Event, run: Run | undefined): boolean {
  return type === "run.resuming" && run !== undefined && isAnswerUntaken({ ...run, status: "resuming" });
}

function say(event: Event, read: QuestionSnapshot | undefined, style: Style): string {
  const [kind = "", name = ""] = event.type.split(".");
  if (kind === "run") return sayRun(event, name, style);
  if (kind === "token" || kind === "person") return sayEntry(event, kind, name);
  if (event.questionId === undefined) return event.type;
  const id = shortId(event.questionId);
  const by = sayBy(event.by);
  const words = WORDS[event.type]?.({ id, by, event, read, style });
  if (words !== undefined) return words;
  return `${id} ${SAID[name] ?? name.replaceAll("_", " ")}${event.by.scope === "system" ? "" : ` by ${by}`}`;
}

/** The text for an event of a token or a person. */
function sayEntry({ detail = {}, by }: Event, kind: "token" | "person", name: string): string {
  const about = kind === "token" ? `${word(detail["token"])} of ${word(detail["subject"])}` : word(detail["person"]);
  return `${kind} ${about} ${name.replaceAll("_", " ")} by ${sayBy(by)}`;
}

interface Said {
  id: string;
  by: string;
  event: Event;
  read: QuestionSnapshot | undefined;
  style: Style;
}

/** Events with a text of their own. */
const WORDS: Partial<Record<Event["type"], (said: Said) => string>> = {
  "question.asked": ({ id, read, style }) => style.yellow(`❓ ${id} ${cut(read?.question.title ?? "")}`),
  "question.answered": ({ id, by, read, style }) => style.green(`✓ ${id} answered by ${by}${sayAnswerText(read)}`),
  "question.forced": ({ id, by, read, style }) =>
    style.green(`✓ ${id} answered after its deadline by ${by}${sayAnswerText(read)}`),
  "question.settling": ({ id, by, read }) => `${id} answered by ${by}${sayAnswerText(read)}; it can still be undone`,
  "question.timed_out": ({ id, event, style }) =>
    style.red(`✗ ${id} timed out, policy: ${word(event.detail?.["policy"])}`),
  "question.cancelled": ({ id, by, style }) => style.red(`✗ ${id} cancelled by ${by}`),
  "question.commented": ({ id, by, read }) => `${id} commented by ${by}${quote(read?.question.comments.at(-1)?.text)}`,
  "question.amended": ({ id, by, read }) => `${id} corrected by ${by}${quote(read?.question.amendments.at(-1)?.text)}`,
  "question.assigned": ({ id, by, event }) => `${id} assigned to ${list(event.detail?.["to"])} by ${by}`,
  "question.escalated": ({ id, by, event }) => `${id} escalated to ${list(event.detail?.["to"])} by ${by}`,
};

/** Texts for events whose names say too little. */
const SAID: Readonly<Record<string, string>> = {
  undone: "answer taken back",
  owed: "answer to be delivered again",
  handing: "answer sent to the agent",
  given: "answer reached the agent",
  held: "held: the agent waits",
  notified: "people notified",
  delivery_failed: "notification failed",
  refused: "refused: not permitted, tried",
};

function sayRun(event: Event, name: string, style: Style): string {
  const reason = typeof event.detail?.["reason"] === "string" ? ` (${oneLine(event.detail["reason"])})` : "";
  if (name === "completed") return style.green(`✓ completed${reason}`);
  return name === "failed" ? style.red(`✗ failed${reason}`) : `${name}${reason}`;
}

function sayAnswerText(read: QuestionSnapshot | undefined): string {
  const settling = read && isPending(read.question) ? read.question.settling?.answer : undefined;
  const answer = settling ?? (read && findAnswer(read.question));
  if (!read || !answer) return "";
  const words = { answer: answerText(read.content, answer.items), decide: "You decide", clarify: answer.note ?? "" };
  return `: ${cut(words[answer.outcome])}`;
}

function quote(text: string | undefined): string {
  return text === undefined ? "" : `: ${cut(text)}`;
}

function cut(text: string): string {
  return cutCells(oneLine(text), TEXT_CELLS);
}

function word(value: unknown): string {
  return typeof value === "string" ? oneLine(value) : "";
}

function list(value: unknown): string {
  const names: unknown[] = Array.isArray(value) ? value : [];
  return names.length > 0 ? names.map(word).join(", ") : "everybody";
}
