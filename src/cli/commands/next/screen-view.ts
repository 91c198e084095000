import type { Read } from "../../../core/changes.ts";
import { sayDuration } from "../../../core/text/duration.ts";
import { msBetween } from "../../../core/instant.ts";
import { wordToType } from "../../../core/risk-word.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { cutCells, wrap } from "../../terminal/terminal.ts";
import {
  type Pen,
  choiceLines,
  clockLines,
  headerLines,
  headlineLines,
  joinParts,
  pickedLines,
  readWidth,
  sayGone,
} from "./card-view.ts";
import { allKeys, keysNow } from "./key-hint.ts";
import { type Line, layLine } from "./line-editor.ts";
import { type State, type Writing, stepNow } from "./next-state.ts";

/** What is on the screen: lines that fit it, and the place of the cursor where something is written. */
export interface Drawing {
  lines: string[];
  cursor?: { row: number; column: number };
  /** How many lines of the context are scrolled away, within what there is. */
  scroll: number;
}

const FEWEST_CONTEXT = 2;
const PROMPTS: Record<Writing, string> = {
  note: "Note for the agent: ",
  clarify: "Ask back: ",
  snooze: "Snooze for (1h): ",
  extend: "Extend the deadline by (1h): ",
  word: "",
  stop: 'Stop the run and withdraw its question? Type "yes": ',
};

/** Draws the state. The same state is always drawn the same. */
export function draw(state: State, pen: Pen): Drawing {
  const bottom = bottomOf(state, pen);
  const rows = Math.max(3, state.size.rows);
  const room = Math.max(1, rows - bottom.lines.length);
  const { lines, scroll } = state.mode.at === "keys" ? keysBody(state, room) : bodyOf(state, pen, room);
  const body = lines.slice(0, room);
  return {
    lines: [...body, ...bottom.lines].slice(0, rows),
    ...(bottom.cursor && { cursor: { row: body.length + bottom.cursor.row, column: bottom.cursor.column } }),
    scroll,
  };
}

function keysBody(state: State, room: number): { lines: string[]; scroll: number } {
  const keys = allKeys().map(([key, about]) => cutCells(`${key.padEnd(7)} ${about}`, state.size.columns));
  return { lines: keys.slice(0, room), scroll: 0 };
}

/** Everything above the last lines: what is asked, and what can be chosen. */
function bodyOf(state: State, pen: Pen, room: number): { lines: string[]; scroll: number } {
  if (!state.card) return { lines: wrap("Nothing is waiting for you.", state.size.columns), scroll: 0 };
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

/** As much of the context as there is room for; what is missing is said. */
function cutContext(state: State, context: readonly string[], room: number): { lines: string[]; scroll: number } {
  if (context.length <= Math.max(0, room)) return { lines: [...context], scroll: 0 };
  const shown = Math.max(1, room - 1);
  const scroll = Math.min(state.scroll, context.length - shown);
  const left = context.length - scroll - shown;
  const more = left > 0 ? `… ${left} more lines: PgDn, or v for all` : "… the end: PgUp goes back";
  return { lines: [...context.slice(scroll, scroll + shown), cutCells(more, state.size.columns)], scroll };
}

/** Where not even that fits: the lines around the one that matters. */
function windowOn(lines: readonly string[], focus: number, room: number): string[] {
  if (lines.length <= room) return [...lines];
  const start = Math.max(0, Math.min(lines.length - room, focus - Math.floor(room / 2)));
  return lines.slice(start, start + room);
}

function goneLines(state: State, pen: Pen): { lines: string[]; focus: number } {
  const width = readWidth(state);
  const gone = wrap(sayGone(state, pen), width).map((line) => pen.style.yellow(line));
  const kept = state.kept === "" ? [] : ["Your text is kept:", ...wrap(sanitise(state.kept), width)];
  return { lines: [...gone, ...kept], focus: 0 };
}

interface Bottom {
  lines: string[];
  cursor?: { row: number; column: number };
}

/** What is written, what is to be said, and what keys do. */
function bottomOf(state: State, pen: Pen): Bottom {
  const { columns, rows } = state.size;
  const input = inputOf(state);
  const lines = messageLines(state, pen);
  const all = joinParts(keysNow(state), "  ", columns);
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
    ...(input && { cursor: input.cursor }),
  };
}

function shortKeys(state: State): string[] {
  const keys = keysNow(state);
  return keys.length > 2 ? [keys[0] ?? "", keys.at(-1) ?? ""] : [...keys];
}

function messageLines(state: State, { style }: Pen): string[] {
  const undo =
    state.last && state.mode.at !== "busy"
      ? `. u takes it back (${sayDuration(Math.max(0, msBetween(state.now, state.last.until)))})`
      : "";
  const { message } = state;
  const text = message ? `${oneLine(message.text)}${message.tone === "good" ? undo : ""}` : "";
  const said = text === "" ? [] : wrap(text, state.size.columns).slice(0, 3);
  const tint = message?.tone === "bad" ? style.red : message?.tone === "good" ? style.green : style.bold;
  return [...said.map(tint), ...questionLines(state).map((line) => style.bold(line))];
}

/** What is asked of the person before something is done. */
function questionLines({ mode, card, size }: State): string[] {
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
      ? `${card.same.length + 1} runs ask this. Answer all? [Y/n]`
      : "Leave the choice to the agent? ↵ yes, Esc no";
  return wrap(text, size.columns);
}

/** The line that is being written, with what it is for before it. */
function inputOf(state: State): { lines: string[]; cursor: { row: number; column: number } } | undefined {
  const { mode, card, size } = state;
  if (mode.at === "answer") return drawInput("› ", stepNow(state)?.pick.line ?? { text: "", at: 0 }, size);
  if (mode.at !== "write") return undefined;
  const prompt = mode.what === "word" && card ? askWord(card.read) : PROMPTS[mode.what];
  return drawInput(prompt, mode.line, size);
}

function askWord({ question, run }: Read): string {
  return `High risk. Type ${oneLine(wordToType(question.title, run.name))} to confirm: `;
}

function drawInput(
  prompt: string,
  line: Line,
  size: State["size"],
): { lines: string[]; cursor: { row: number; column: number } } {
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
