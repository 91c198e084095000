/** How a text is set: its line ends, and one step of indentation. */
export interface Layout {
  eol: "\n" | "\r\n";
  unit: string;
}

const DEFAULT_UNIT = "  ";

/** The layout of a text, by what most of it does. */
export function layoutOf(text: string): Layout {
  const crlf = text.split("\r\n").length - 1;
  const all = text.split("\n").length - 1;
  return { eol: crlf * 2 > all ? "\r\n" : "\n", unit: unitOf(text) };
}

/** The white space that the line of this place begins with. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** Replaces a part of a text. */
export function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/** The smallest step between two lines; white space of lines that go on with a comment is none. */
function unitOf(text: string) {
  const indents = text
    .split("\n")
    .filter((line) => /^[ \t]+[^\s*]/.test(line))
    .map((line) => /^[ \t]+/.exec(line)?.[0] ?? "");
  if (indents.some((indent) => indent.startsWith("\t"))) return "\t";
  const widths = indents.map(({ length }) => length).filter((width) => width > 1);
  return widths.length > 0 ? " ".repeat(Math.min(8, ...widths)) : DEFAULT_UNIT;
}
