import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { msBetween } from "../../../core/instant.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { mayForce } from "../../../core/question/question.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { cutCells, wrap } from "../../terminal/terminal.ts";
import {
  type CardPen,
  choiceLines,
  clockLines,
  headerLines,
  headlineLines,
  joinParts,
  pickedLines,
  readWidth,
  sayGone,
} from "./card-view.ts";
import { writingRow } from "./answer-step.ts";
import { type EditedLine, layLine } from "./line-editor.ts";
import { type NextState, type WritingPurpose, currentStep } from "./next-state.ts";
import { sayOutcomeRefused } from "./submit-answer.ts";

/** The screen: lines that fit, and the cursor if a text is being written. */
interface ScreenView {
  lines: string[];
  cursor?: { row: number; column: number };
  /** The scroll offset of the context, limited to its length. */
  scroll: number;
}

const FEWEST_CONTEXT = 2;
const PROMPTS: Record<WritingPurpose, string> = {
  note: "Note for the agent: ",
  clarify: "Ask back: ",
  snooze: "Snooze for (1h): ",
  extend: "Extend the deadline by (1h): ",
  word: "",
  stop: 'Stop the run and withdraw its question? Type "yes": ',
};

/** Draws the state; a pure function. */
export function drawScreen(state: NextState, pen: CardPen): ScreenView {
  const bottom = bottomOf(state, pen);
  const rows = Math.max(3, state.size.rows);
  const room = Math.max(1, rows - bottom.lines.length);
  const { lines, scroll } = state.mode.at === "keys" ? keysBody(state, room) : bodyOf(state, pen, room);
  const body = lines.slice(0, room);
  return {
    lines: [...body, ...bottom.lines].slice(0, rows),
    cursor: bottom.cursor && { row: body.length + bottom.cursor.row, column: bottom.cursor.column },
    scroll,
  };
}

function keysBody(state: NextState, room: number) {
  const keys = allKeys().map(([key, about]) => cutCells(`${key.padEnd(7)} ${about}`, state.size.columns));
  return { lines: keys.slice(0, room), scroll: 0 };
}

/** The body of the screen: the question and the choices. */
function bodyOf(state: NextState, pen: CardPen, room: number) {
  if (!state.card) return { lines: wrap(sayEmpty(state), state.size.columns), scroll: 0 };
  const top = [headerLines(state, pen), headlineLines(state, pen), clockLines(state, pen)].flat();
  const choices = state.mode.at === "closed" ? goneLines(state, pen) : choiceLines(state, pen);
  const picked = pickedLines(state, pen);
  const note = state.draft.note === "" ? [] : wrap(`Note: ${sanitise(state.draft.note)}`, readWidth(state));
  const text = state.card.read.content.context;
  const context = text === undefined ? [] : wrap(sanitise(text).trim(), readWidth(state));
  const below = [...picked, ...choices.lines, ...note];
  const isRoomy = top.length + below.length + Math.min(context.length, FEWEST_CONTEXT) + 3 <= room;
  const gap = isRoomy ? [""] : [];
  const shown = cutContext(state, context, room - top.length - below.length - 3 * gap.length);
  const lines = [...top, ...gap, ...shown.lines, ...(shown.lines.length > 0 ? gap : []), ...below, ...gap];
  const focus = lines.length - gap.length - note.length - choices.lines.length + choices.focus;
  return { lines: windowOn(lines, focus, room), scroll: shown.scroll };
}

function sayEmpty({ skipped }: NextState) {
  if (skipped.length === 0) return "Nothing is waiting for you.";
  return `Nothing else is waiting for you; you skipped ${pluralize(skipped.length, "question")}.`;
}

/** The part of the context that fits, with a line about the rest. */
function cutContext(state: NextState, context: readonly string[], room: number) {
  if (context.length <= Math.max(0, room)) return { lines: [...context], scroll: 0 };
  const shown = Math.max(1, room - 1);
  const scroll = Math.min(state.scroll, context.length - shown);
  const left = context.length - scroll - shown;
  const more = left > 0 ? `… ${left} more lines: PgDn, or v for all` : "… the end: PgUp goes back";
  return { lines: [...context.slice(scroll, scroll + shown), cutCells(more, state.size.columns)], scroll };
}

/** The lines around the focus, if not even the choices fit. */
function windowOn(lines: readonly string[], focus: number, room: number) {
  if (lines.length <= room) return [...lines];
  const start = Math.max(0, Math.min(lines.length - room, focus - Math.floor(room / 2)));
  return lines.slice(start, start + room);
}

function goneLines(state: NextState, pen: CardPen) {
  const width = readWidth(state);
  const gone = wrap(sayGone(state, pen), width).map((line) => pen.style.yellow(line));
  const kept = state.kept === "" ? [] : ["Your text is kept:", ...wrap(sanitise(state.kept), width)];
  return { lines: [...gone, ...kept], focus: 0 };
}

interface Bottom {
  lines: string[];
  cursor?: { row: number; column: number };
}

/** The bottom of the screen: input line, message and key hints. */
function bottomOf(state: NextState, pen: CardPen): Bottom {
  const { columns, rows } = state.size;
  const input = inputOf(state);
  const lines = messageLines(state, pen);
  const all = joinParts(availableKeys(state), "  ", columns);
  const most = rows < 12 ? 1 : rows < 18 ? 2 : all.length;
  const keys =
    all.length > most
      ? [...all.slice(0, most - 1), cutCells(joinParts(shortKeys(state), "  ", columns)[0] ?? "", columns)]
      : all;
  const before = [...(input?.lines ?? [])];
  return {
    lines: [
      ...before,
      ...lines,
      ...(before.length + lines.length > 0 && rows >= 18 ? [""] : []),
      ...keys.map((line) => pen.style.dim(line)),
    ],
    cursor: input?.cursor,
  };
}

function shortKeys(state: NextState) {
  const keys = availableKeys(state);
  return keys.length > 2 ? [keys[0] ?? "", keys.at(-1) ?? ""] : [...keys];
}

function messageLines(state: NextState, { style }: CardPen) {
  const undo =
    state.last && state.mode.at !== "busy"
      ? `. u undoes it (${formatDuration(Math.max(0, msBetween(state.now, state.last.until)))})`
      : "";
  const { message } = state;
  const text = message ? `${oneLine(message.text)}${message.tone === "good" ? undo : ""}` : "";
  const said = text === "" ? [] : wrap(text, state.size.columns).slice(0, 3);
  const tint = message?.tone === "bad" ? style.red : message?.tone === "good" ? style.green : style.bold;
  return [...said.map(tint), ...questionLines(state).map((line) => style.bold(line))];
}

/** The question of a confirmation dialog. */
function questionLines({ mode, card, size }: NextState) {
  if (mode.at === "templates") {
    return mode.templates.map((template, index) =>
      cutCells(
        `${index === mode.cursor ? "›" : " "} ${index + 1} ${oneLine(template.name)}   ${oneLine(template.says)}`,
        size.columns,
      ),
    );
  }
  if (mode.at !== "sure" || !card) return [];
  const text =
    mode.of === "same"
      ? `${card.same.length + 1} runs ask this. Answer all of them? [y/N]`
      : "Let the agent decide? ↵ yes, Esc no";
  return wrap(text, size.columns);
}

/** The input line, with its prompt. */
function inputOf(state: NextState) {
  const { mode, card, size } = state;
  if (mode.at === "answer") return drawInput("› ", currentStep(state)?.pick.line ?? { text: "", at: 0 }, size);
  if (mode.at !== "write") return undefined;
  const prompt = mode.what === "word" && card ? askWord(card.read) : PROMPTS[mode.what];
  return drawInput(prompt, mode.line, size);
}

function askWord({ question, run }: QuestionSnapshot) {
  return `High risk. Type ${oneLine(confirmationWord(question.title, run.name))} to confirm: `;
}

function drawInput(prompt: string, line: EditedLine, size: NextState["size"]) {
  // A long prompt gets lines of its own.
  const isBeside = prompt.length <= size.columns / 2;
  const own = isBeside ? [] : wrap(prompt.trimEnd(), size.columns);
  const start = isBeside ? prompt : "› ";
  const view = layLine(line, Math.max(2, size.columns - start.length - 1));
  const most = Math.max(1, Math.floor(size.rows / 3));
  const first = Math.max(0, Math.min(view.rows.length - most, view.row - most + 1));
  const rows = view.rows
    .slice(first, first + most)
    .map((row, index) => `${index === 0 ? start : " ".repeat(start.length)}${row}`);
  return {
    lines: [...own, ...rows],
    cursor: { row: own.length + view.row - first, column: start.length + view.column },
  };
}

/** Hints for the keys that work now: the most important one first, the list of all keys last. */
function availableKeys(state: NextState) {
  const { mode } = state;
  switch (mode.at) {
    case "choose":
      return chooseKeys(state);
    case "answer":
      return ["↵ answer", "Ctrl-J new line", "Esc back"];
    case "write":
      return ["↵ done", "Esc back"];
    case "sure":
      return mode.of === "same" ? ["↵ only this one", "y all of them", "Esc back"] : ["↵ yes", "Esc back"];
    case "templates":
      return ["↵ use", "j k move", "Esc back"];
    case "keys":
      return ["any key closes"];
    case "closed":
      return closedKeys(state);
    case "empty":
      return [state.isFollowing ? "Waiting for questions." : "", ...(state.last ? ["u undo"] : []), "q quit"];
    case "busy":
      return ["…"];
    default:
      return unreachable(mode);
  }
}

/** All keys with their actions. */
function allKeys(): ReadonlyArray<readonly [string, string]> {
  return [
    ["1-9", "select (or tick); nothing is sent before ↵"],
    ["j k ↑ ↓", "move"],
    ["space", "tick, if several can be chosen"],
    ["↵", "answer with the selection"],
    ["r", "write an answer"],
    ["e", "write it in your editor"],
    ["t", "start from a template"],
    ["n", "add a note for the agent"],
    ["m", "ask back"],
    ["y", "let the agent decide"],
    ["tab", "next item; shift-tab goes back"],
    ["d", "show the agent's changes"],
    ["v", "show the question in full"],
    ["PgDn", "scroll the context"],
    ["s", "skip it for now"],
    ["h", "snooze: hide it for a while"],
    ["+", "extend the deadline"],
    ["c", "claim or release it"],
    ["o", "open it in the browser"],
    ["x", "stop the run"],
    ["u", "undo the last answer"],
    ["q", "quit; Ctrl-C too; Ctrl-Z suspends"],
  ];
}

function chooseKeys(state: NextState) {
  const question = state.card?.read.question;
  const run = state.card?.read.run;
  const now = currentStep(state);
  const work = state.known?.work;
  const counts = work ? ` +${work.added} -${work.removed}` : "";
  const isWriting = now !== undefined && writingRow(now.step) === now.pick.cursor;
  const isMine = question?.claim?.by.id === state.user;
  return [
    isWriting ? "↵ write" : "↵ answer",
    ...(now?.step.multiple ? ["space tick"] : []),
    ...(state.last ? ["u undo"] : []),
    ...(now && writingRow(now.step) !== undefined ? ["e editor"] : []),
    ...(work || (run?.dir !== undefined && run.agent !== "none") ? [`d diff${counts}`] : []),
    ...(sayOutcomeRefused(state, "clarify") === undefined ? ["m ask back"] : []),
    ...(sayOutcomeRefused(state, "decide") === undefined ? ["y you decide"] : []),
    "h snooze",
    ...(isMine ? ["c release"] : []),
    "s skip",
    "o browser",
    "? keys",
  ];
}

function closedKeys({ card, kept }: NextState) {
  const isForceable = card !== undefined && mayForce(card.read.run, card.read.question);
  return [
    "↵ next",
    ...(kept === "" ? [] : ["c copy", "n send as a comment"]),
    ...(isForceable ? ["f answer anyway"] : []),
    "q quit",
  ];
}
