import { recommendedOption } from "../../../core/question/content.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { msBetween } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import { type Answer, cancellationWords, findAnswer, isPending } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { type Style, cellsOf, cutCells, padCells, wrap } from "../../terminal/terminal.ts";
import { type ClockOffset, sayAge, sayClock } from "../../view/relative-time.ts";
import { findDeadline, sayVotes } from "../../view/question-text.ts";
import { refOf, sayBy, sayFact, sayKnownCost } from "../../view/run-text.ts";
import { type QuestionCard, type NextState, currentStep } from "./next-state.ts";
import { type StepChoice, type PickedChoice, type AnswerStep, sayPicks } from "./answer-step.ts";

/** Longer lines are hard to read. */
const READ_CELLS = 76;
const ROOMY_CELLS = 50;

/** The style and clock that drawing needs besides the state. */
export interface CardPen {
  style: Style;
  ahead: ClockOffset;
}

/** The width of text on this screen. */
export function readWidth({ size }: NextState): number {
  return Math.min(size.columns, READ_CELLS);
}

/** `1 of 3   acme/api main   #42 add-caching   Claude Code   $0.45`, in as many lines as it needs. */
export function headerLines(state: NextState, { style }: CardPen): string[] {
  const { card, size } = state;
  if (!card) return [];
  const { run } = card.read;
  const passed = new Set([...state.done, ...state.skipped]);
  passed.delete(card.read.question.id);
  const waiting = state.queue.filter(({ read }) => read.question.id !== card.read.question.id).length;
  const repo = run.repo && sayFact(run, "repo", run.repo);
  const where = [repo, run.branch].flatMap((part) => (part === undefined ? [] : [oneLine(part)])).join(" ");
  const name = `${refOf(run)} ${oneLine(run.name)}`;
  const agent = run.agent === "none" ? "" : sayFact(run, "agent", sayAgent(run.agent));
  const usage = state.known?.usage;
  const cost = usage ? sayKnownCost(usage) : "";
  const parts = [`${passed.size + 1} of ${passed.size + 1 + waiting}`, where, name, agent, cost];
  return joinParts(parts, "   ", size.columns).map((line) => style.dim(line));
}

/** The question itself, in full. */
export function headlineLines(state: NextState, { style }: CardPen): string[] {
  const { card } = state;
  const now = currentStep(state);
  if (!card || !now) return [];
  const { items } = card.read.content;
  const item = items.find(({ id }) => id === now.step.itemId);
  const risk = card.read.question.risk === "high" ? "⚠ " : "";
  const of = items.length > 1 && item ? ` (${items.indexOf(item) + 1} of ${items.length})` : "";
  const header = items.length > 1 && item?.header ? `${oneLine(item.header)}: ` : "";
  const text = `${risk}${header}${sanitise(item?.text ?? "").trim()}${of}`;
  const field = now.step.field === undefined ? [] : wrap(oneLine(now.step.heading), readWidth(state));
  return [...wrap(text, readWidth(state)).map((line) => style.bold(line)), ...field];
}

/** How long it has been waiting, its deadline, and other facts. */
export function clockLines(state: NextState, { style, ahead }: CardPen): string[] {
  const { card, now } = state;
  if (!card) return [];
  const { question } = card.read;
  const deadline = findDeadline(card.read);
  const due = deadline?.at;
  const then = deadline?.then.replace(/^uses "(.*)"$/s, "uses $1");
  const left = due === undefined ? "" : formatDuration(Math.max(0, msBetween(now, due)));
  const clock = due === undefined ? "no deadline" : `due ${sayClock(due, now, ahead)} (${left}), then ${then}`;
  const sentences = [
    `waiting ${sayAge(Math.max(0, msBetween(question.askedAt, now)))}, ${clock}.`,
    ...(isPending(question) && question.hold ? ["The agent is waiting for it now."] : []),
    ...leanSentence(state, card),
    ...(question.risk === "high" ? ["High risk."] : []),
    ...sayVotes(card.read).map((line) => `${line}.`),
    ...(question.claim ? [`Claimed by ${sayBy(question.claim.by)}.`] : []),
    ...(card.same.length > 0 ? [`${card.same.length + 1} runs ask this.`] : []),
  ];
  const comments = question.comments.slice(-2).map(({ by, text }) => `${oneLine(by.id)}: ${oneLine(text)}`);
  const width = Math.min(state.size.columns, 100);
  return [...wrap(sentences.join(" "), width), ...comments.flatMap((line) => wrap(line, width))].map((line) =>
    style.dim(line),
  );
}

/** The agent's recommendation; at high risk hidden until the person has seen the choices. */
function leanSentence(state: NextState, { read }: QuestionCard) {
  const { question, content } = read;
  const option = content.items[0] && recommendedOption(content.items[0]);
  if (!option || isHidden(state)) return [];
  const sure = question.confidence === undefined ? "" : `, ${Math.round(question.confidence * 100)}%`;
  return [`Agent leans ${oneLine(option.label)}${sure}.`];
}

function isHidden({ card, draft }: NextState) {
  return card?.read.question.risk === "high" && draft.picks.every(({ cursor }) => cursor < 0);
}

/** The choices of the earlier steps. */
export function pickedLines(state: NextState, { style }: CardPen): string[] {
  const now = currentStep(state);
  if (!now || !state.card || state.draft.step === 0) return [];
  const { content } = state.card.read;
  return now.steps.slice(0, state.draft.step).map((step, index) => {
    const picks = state.draft.picks.map((pick, at) =>
      at === index ? pick : { ...pick, cursor: -1, ticked: [], isWritten: true, line: { text: "", at: 0 } },
    );
    return style.dim(cutCells(`✓ ${oneLine(step.heading)} ${oneLine(sayPicks(content, picks))}`, state.size.columns));
  });
}

/** The rows of the step, and the line of the cursor. */
export function choiceLines(state: NextState, { style }: CardPen): { lines: string[]; focus: number } {
  const now = currentStep(state);
  if (!now) return { lines: [], focus: 0 };
  const { step, pick } = now;
  const rows = [...step.choices.map((choice) => sayChoice(choice, isHidden(state))), ...writeRow(step)];
  const labelCells = Math.max(0, ...rows.slice(0, step.choices.length).map(({ label }) => cellsOf(label)));
  const lines: string[] = [];
  let focus = 0;
  for (const [index, row] of rows.entries()) {
    const isHere = index === pick.cursor;
    if (isHere) focus = lines.length;
    const drawn = drawRow(row, {
      number: numberOf(step, pick, index, rows.length),
      labelCells,
      columns: state.size.columns,
    });
    lines.push(...drawn.map((line, part) => mark(line, { isHere, part }, style)));
  }
  return { lines, focus };
}

interface Row {
  label: string;
  about?: string;
}

function sayChoice(choice: StepChoice, isHiding: boolean): Row {
  const label = `${oneLine(choice.label)}${choice.isRecommended && !isHiding ? "  recommended" : ""}`;
  return { label, about: choice.about === undefined ? undefined : oneLine(choice.about) };
}

function writeRow(step: AnswerStep): Row[] {
  if (!step.allowText) return [];
  const wanted = step.placeholder === undefined ? "" : ` (${oneLine(step.placeholder)})`;
  return [{ label: step.choices.length > 0 && step.isOptional ? "Leave it empty" : `Write an answer${wanted}` }];
}

function numberOf(step: AnswerStep, pick: PickedChoice, index: number, rows: number) {
  const number = String(index + 1).padStart(String(rows).length);
  if (!step.multiple) return number;
  if (index >= step.choices.length) return `    ${number}`;
  return `${pick.ticked.includes(index) ? "[x]" : "[ ]"} ${number}`;
}

/** One row: label and description side by side if they fit, else below each other. */
function drawRow({ label, about }: Row, at: { number: string; labelCells: number; columns: number }) {
  const start = `${at.number} `;
  const room = Math.max(8, at.columns - 2 - cellsOf(start));
  const aboutRoom = room - at.labelCells - 3;
  const indent = " ".repeat(cellsOf(start));
  const hang = (lines: readonly string[], by: string) =>
    lines.map((line, index) => (index === 0 ? line : `${by}${line}`));
  if (about === undefined)
    return hang(wrap(label, room), indent).map((line, index) => (index === 0 ? start + line : line));
  if (at.columns < ROOMY_CELLS || aboutRoom < 24) {
    return [
      ...hang(wrap(label, room), indent).map((line, index) => (index === 0 ? start + line : line)),
      ...wrap(about, Math.max(8, room - 2)).map((line) => `${indent}  ${line}`),
    ];
  }
  const gap = `${indent}${" ".repeat(at.labelCells + 3)}`;
  return hang(wrap(about, aboutRoom), gap).map((line, index) =>
    index === 0 ? `${start}${padCells(label, at.labelCells)}   ${line}` : line,
  );
}

function mark(line: string, { isHere, part }: { isHere: boolean; part: number }, style: Style) {
  return isHere ? style.cyan(`${part === 0 ? "›" : " "} ${line}`) : `  ${line}`;
}

/** Joins parts into as few lines as possible; a part that is too long is cut. */
export function joinParts(parts: readonly string[], gap: string, columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts.filter((text) => text !== "")) {
    const last = lines.at(-1);
    const joined = last === undefined ? part : `${last}${gap}${part}`;
    if (last !== undefined && cellsOf(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(cutCells(part, columns));
  }
  return lines;
}

/** The person or policy that closed the question while it was on the screen. */
export function sayGone({ card, now }: NextState, { ahead }: CardPen): string {
  if (!card) return "";
  const { question, content, run } = card.read;
  const said = (answer: Answer) => {
    const words = { answer: answerText(content, answer.items), decide: "You decide", clarify: answer.note ?? "" };
    return `${sayBy(answer.by)} answered "${oneLine(words[answer.outcome])}"`;
  };
  switch (question.status) {
    case "pending":
      return question.settling ? `${said(question.settling.answer)} just now.` : "";
    case "answered":
      return `${said(question.answer)} while you were looking.`;
    case "timeout": {
      const given = findAnswer(question);
      const by = question.dueAt === undefined ? "in time" : `by ${sayClock(question.dueAt, now, ahead)}`;
      const what = given ? `, ${oneLine(answerText(content, given.items))}` : "";
      return `Nobody answered ${by}. Policy: ${question.policy}${what}. The run is ${run.status}.`;
    }
    case "cancelled":
      return `${sayBy(question.cancelledBy)} withdrew it: ${oneLine(cancellationWords(question))}`;
    default:
      return unreachable(question);
  }
}
