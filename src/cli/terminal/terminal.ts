/** Marks up text for a terminal; without colour every function returns its text as it is. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const MAX_WIDTH = 100;
const LEAST_WIDTH = 40;

/** Says whether to use colour on a stream, by the variables that people set for all programs. */
export function mayUseColour(isTty: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  if (env["CLICOLOR"] === "0" || env["TERM"] === "dumb") return false;
  return isTty;
}

export function styleFor(colour: "on" | "off"): Style {
  const wrapIn = (open: number, close: number) => (text: string) =>
    colour === "on" && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: wrapIn(1, 22),
    dim: wrapIn(2, 22),
    red: wrapIn(31, 39),
    green: wrapIn(32, 39),
    yellow: wrapIn(33, 39),
    cyan: wrapIn(36, 39),
  };
}

/** The width of text: the terminal's width up to a limit, or the limit for files and pipes. */
export function textWidth(columns: number | undefined): number {
  return Math.max(LEAST_WIDTH, Math.min(MAX_WIDTH, columns ?? MAX_WIDTH));
}

/** The width of a text in terminal cells. */
export function cellsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += cellsOfCharacter(character);
  return cells;
}

/** Pads a text with spaces to this many cells. */
export function padCells(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - cellsOf(text)));
}

/** Cuts a text to this many cells, with an ellipsis. */
export function cutCells(text: string, cells: number): string {
  if (text.length <= cells && cellsOf(text) <= cells) return text;
  return `${takeCells(text, cells - 1).trimEnd()}…`;
}

/** Wraps text to this many cells, between words if possible. Keeps its line ends. */
export function wrap(text: string, cells: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, cells));
}

function wrapLine(line: string, cells: number) {
  if (line.length <= cells && cellsOf(line) <= cells) return [line.trimEnd()];
  const lines: string[] = [];
  let current = /^\s*/.exec(line)?.[0].slice(0, cells / 2) ?? "";
  let used = cellsOf(current);
  let isEmpty = true;
  for (const word of line.split(/\s+/).filter(Boolean)) {
    for (const piece of breakWord(word, cells)) {
      const width = cellsOf(piece);
      const gap = isEmpty ? 0 : 1;
      if (used + gap + width > cells && used > 0) {
        lines.push(current);
        current = piece;
        used = width;
      } else {
        current += " ".repeat(gap) + piece;
        used += gap + width;
      }
      isEmpty = false;
    }
  }
  return [...lines, current];
}

function breakWord(word: string, cells: number) {
  if (word.length <= cells && cellsOf(word) <= cells) return [word];
  const pieces: string[] = [];
  let start = 0;
  while (start < word.length) {
    const piece = takeCells(word.slice(start, start + 4 * cells), cells);
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}

/** The longest prefix that fits; at least one character, so that loops end. */
function takeCells(text: string, cells: number) {
  if (/^[\x20-\x7e]*$/.test(text)) return text.slice(0, Math.max(1, cells));
  let used = 0;
  let taken = "";
  for (const character of text) {
    used += cellsOfCharacter(character);
    if (used > cells && taken !== "") break;
    taken += character;
  }
  return taken;
}

function cellsOfCharacter(character: string) {
  if (/^(?:\p{Mark}|\u200d|\ufe0f)$/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

// East Asian wide and full-width forms, and emoji.
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;
