import type { Key } from "../../terminal/keyboard.ts";
import { cellsOf } from "../../terminal/terminal.ts";

/** A text being written, with the position of the cursor. */
export interface EditedLine {
  text: string;
  /** The cursor, between two graphemes, in code units. */
  at: number;
}

/** A text laid out in rows of limited width, with the cell of the cursor. */
export interface LineView {
  rows: string[];
  row: number;
  column: number;
}

export const EMPTY_LINE: EditedLine = { text: "", at: 0 };
const TAB_CELLS = 4;
const segmenter = (granularity: "grapheme" | "word") => new Intl.Segmenter(undefined, { granularity });
// Of the control characters only newline and tab may be part of an answer.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function editedLine(text: string): EditedLine {
  return { text, at: text.length };
}

/** The text after a key; undefined if the key does not edit. */
export function editLine(line: EditedLine, key: Key): EditedLine | undefined {
  switch (key.name) {
    case "character":
    case "paste":
      return insert(line, key.text);
    case "newline":
      return insert(line, "\n");
    case "backspace":
      return removeTo(line, before(line));
    case "delete":
      return removeTo(line, after(line));
    case "kill-word":
      return removeTo(line, wordBefore(line));
    case "kill-start":
      return removeTo(line, startOfRow(line));
    case "kill-end":
      return removeTo(line, endOfRow(line));
    default:
      return moveIn(line, key);
  }
}

function moveIn(line: EditedLine, key: Key) {
  const moves: Partial<Record<Key["name"], (line: EditedLine) => number>> = {
    left: before,
    right: after,
    home: startOfRow,
    end: endOfRow,
    "word-left": wordBefore,
    "word-right": wordAfter,
    up: (from) => rowAway(from, -1),
    down: (from) => rowAway(from, 1),
  };
  const move = moves[key.name];
  return move && { ...line, at: boundary(line.text, move(line)) };
}

/** Lays a text out in rows; the cursor may be after the last character. */
export function layLine({ text, at }: EditedLine, cells: number): LineView {
  const rows: string[] = [""];
  let column = 0;
  let place = { row: 0, column: 0 };
  const wide = Math.max(2, cells);
  for (const { segment, index } of segmenter("grapheme").segment(text)) {
    if (index === at) place = { row: rows.length - 1, column };
    if (segment === "\n") {
      rows.push("");
      column = 0;
      continue;
    }
    const shown = segment === "\t" ? " ".repeat(TAB_CELLS) : segment;
    const width = cellsOf(shown);
    if (column + width > wide) {
      rows.push("");
      column = 0;
      if (index === at) place = { row: rows.length - 1, column };
    }
    rows[rows.length - 1] += shown;
    column += width;
  }
  if (at >= text.length) {
    if (column >= wide) {
      rows.push("");
      column = 0;
    }
    place = { row: rows.length - 1, column };
  }
  return { rows, ...place };
}

function insert({ text, at }: EditedLine, raw: string) {
  const added = raw.replace(CONTROL, "").replace(/\p{Surrogate}/gu, "");
  return { text: text.slice(0, at) + added + text.slice(at), at: at + added.length };
}

function removeTo({ text, at }: EditedLine, to: number) {
  const [start, end] = to < at ? [to, at] : [at, to];
  return { text: text.slice(0, start) + text.slice(end), at: start };
}

function before({ text, at }: EditedLine) {
  let last = 0;
  for (const { index } of segmenter("grapheme").segment(text.slice(0, at))) last = index;
  return last;
}

function after({ text, at }: EditedLine) {
  for (const { segment } of segmenter("grapheme").segment(text.slice(at))) return at + segment.length;
  return at;
}

/** The nearest grapheme boundary. */
function boundary(text: string, at: number) {
  return at >= text.length ? text.length : (segmenter("grapheme").segment(text).containing(at)?.index ?? at);
}

function wordBefore({ text, at }: EditedLine) {
  const words = [...segmenter("word").segment(text.slice(0, at))].filter(({ isWordLike }) => isWordLike);
  return words.at(-1)?.index ?? 0;
}

function wordAfter({ text, at }: EditedLine) {
  const word = [...segmenter("word").segment(text.slice(at))].find(({ isWordLike }) => isWordLike);
  return word ? at + word.index + word.segment.length : text.length;
}

function startOfRow({ text, at }: EditedLine) {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function endOfRow({ text, at }: EditedLine) {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** The same column in the row above or below; the end of the text if there is no such row. */
function rowAway(line: EditedLine, by: 1 | -1) {
  const start = startOfRow(line);
  if (by < 0) {
    if (start === 0) return 0;
    const above = startOfRow({ ...line, at: start - 1 });
    return Math.min(above + line.at - start, start - 1);
  }
  const end = endOfRow(line);
  if (end === line.text.length) return end;
  return Math.min(end + 1 + line.at - start, endOfRow({ ...line, at: end + 1 }));
}
