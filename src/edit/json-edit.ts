import {
  type Edit,
  type Node,
  type ParseError,
  applyEdits,
  createScanner,
  findNodeAtLocation,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { type Change, type Path, Unfit } from "./change.ts";
import type { Editor } from "./editor.ts";
import { type Layout, indentAt, layoutOf } from "./layout.ts";
import { isTable } from "./table.ts";

const OPTIONS = { allowTrailingComma: true, disallowComments: false };
const MARK = "\ufeff";
/** Kinds of the library's tokens; it declares them as a const enum, which cannot be imported. */
const COMMA_TOKEN = 5;
const END_TOKEN = 17;

/**
 * JSON with or without comments. The parser says where values stand. The edits are made here: the parser's own
 * `modify` drops comments beside a removed member, and puts a new one before the comments of the last.
 */
export const jsonEditor: Editor = {
  parse(text) {
    const body = withoutMark(text);
    if (body.trim() === "") return {};
    const errors: ParseError[] = [];
    const value: unknown = parse(body, errors, OPTIONS);
    const [error] = errors;
    if (error) throw new Unfit(`line ${lineAt(body, error.offset)}: ${sayError(error)}`);
    if (!isTable(value)) throw new Unfit("it holds no object");
    requireSingle(parseTree(body, [], OPTIONS));
    return value;
  },
  apply(text, change) {
    const mark = text.slice(0, text.length - withoutMark(text).length);
    return mark + applyTo(withoutMark(text), change);
  },
};

function applyTo(text: string, change: Change): string {
  if (text.trim() === "") return applyTo(`{}${layoutOf(text).eol}`, change);
  return applyEdits(text, editsFor(text, change));
}

function editsFor(text: string, change: Change): Edit[] {
  if (change.do === "remove") return remove(text, change.path);
  const found = findNode(text, change.path);
  if (change.do === "set" && found) return [edit(found.offset, endOf(found), writeOver(text, found, change.value))];
  if (change.do === "append" && found?.type === "array") return insert(text, found, undefined, change.value);
  return insertAt(text, change.path, change.do === "append" ? [change.value] : change.value);
}

/** Puts a value where nothing stands yet, together with the missing objects above it. */
function insertAt(text: string, path: Path, value: unknown): Edit[] {
  const depth = path.findIndex((_, index) => findNode(text, path.slice(0, index + 1)) === undefined);
  const parent = findNode(text, path.slice(0, depth));
  const key = path[depth];
  if (parent?.type === "null") {
    return [edit(parent.offset, endOf(parent), writeOver(text, parent, nest(path.slice(depth), value)))];
  }
  if (parent?.type !== "object" || typeof key !== "string") throw new Unfit(`${path.join(".")} cannot be put there`);
  return insert(text, parent, key, nest(path.slice(depth + 1), value));
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

/** Adds a member at the end of an object or a list. */
function insert(text: string, parent: Node, key: string | undefined, value: unknown): Edit[] {
  const layout = layoutOf(text);
  const last = parent.children?.at(-1);
  const close = endOf(parent) - 1;
  const inside = text.slice(parent.offset + 1, close);
  const name = key === undefined ? "" : `${JSON.stringify(key)}:`;
  if (last ? !inside.includes("\n") : parent.parent && !text.trim().includes("\n")) {
    const gap = /":\s/.test(text) ? " " : "";
    const member = `${name}${name && gap}${writeInline(value, gap)}`;
    if (last) return [edit(endOf(last), endOf(last), `,${gap}${member}`)];
    const room = key === undefined ? "" : gap;
    return [edit(parent.offset + 1, parent.offset + 1, `${room}${member}${room}`)];
  }
  const indent = last ? indentAt(text, last.offset) : indentAt(text, parent.offset) + layout.unit;
  const member = `${layout.eol}${indent}${name}${name && " "}${write(value, { ...layout, indent })}`;
  if (!last) return [insertFirst(text, parent, member, layout)];
  const comma = findComma(text, endOf(last), close);
  const at = endOfTrivia(text, comma === undefined ? endOf(last) : comma + 1, close);
  if (comma !== undefined) return [edit(at, at, `${member},`)];
  return [edit(endOf(last), endOf(last), ","), edit(at, at, member)];
}

/** Into an object or a list without members, after the comments that may be in it. */
function insertFirst(text: string, parent: Node, member: string, { eol }: Layout): Edit {
  const close = endOf(parent) - 1;
  const at = endOfTrivia(text, parent.offset + 1, close);
  const isClosedBelow = text.slice(at, close).includes("\n");
  return edit(at, at, isClosedBelow ? member : `${member}${eol}${indentAt(text, parent.offset)}`);
}

/** Takes a member out, with the comma that it needed. */
function remove(text: string, path: Path): Edit[] {
  const value = findNode(text, path);
  const node = value?.parent?.type === "property" ? value.parent : value;
  const siblings = node?.parent?.children;
  if (!node?.parent || !siblings) return [];
  const before = siblings[siblings.indexOf(node) - 1];
  const after = siblings[siblings.indexOf(node) + 1];
  const comma = findComma(text, endOf(node), after?.offset ?? endOf(node.parent) - 1);
  // Down to the last thing before it that is no white space; a comment may stand there.
  const floor = before ? endOf(before) : node.parent.offset + 1;
  const start = floor + text.slice(floor, node.offset).trimEnd().length;
  const isAlone = start === node.parent.offset + 1 && !after;
  const behind = text.slice(endOf(node), endOf(node.parent) - 1);
  if (isAlone && /^\s*,?\s*$/.test(behind)) return [edit(start, endOf(node.parent) - 1, "")];
  const needless = before && comma === undefined ? findComma(text, endOf(before), node.offset) : undefined;
  const end = comma === undefined ? endOf(node) : comma + 1;
  if (needless === undefined) return [edit(start, end, "")];
  return [edit(needless, needless + 1, ""), edit(start, end, "")];
}

/** In the place of another value, and on one line if that one was. */
function writeOver(text: string, old: Node, value: unknown) {
  const isInline = old.type !== "null" && !text.slice(old.offset, endOf(old)).includes("\n");
  if (isInline) return writeInline(value, /[\s{]$/.test(text.slice(0, old.offset)) ? " " : "");
  return write(value, { ...layoutOf(text), indent: indentAt(text, old.offset) });
}

function write(value: unknown, { eol, unit, indent }: Layout & { indent: string }) {
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
}

/** On one line, with spaces where the line has some. */
function writeInline(value: unknown, gap: string): string {
  if (gap === "") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one: unknown) => writeInline(one, gap)).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${writeInline(inner, gap)}`);
  return `{ ${members.join(", ")} }`;
}

/** The comma between two places; one in a comment is none. */
function findComma(text: string, start: number, end: number) {
  const scanner = createScanner(text.slice(start, end), true);
  for (let token: number = scanner.scan(); token !== END_TOKEN; token = scanner.scan()) {
    if (token === COMMA_TOKEN) return start + scanner.getTokenOffset();
  }
  return undefined;
}

/** Where the last comment between two places ends, or the first of them if there is none. */
function endOfTrivia(text: string, start: number, end: number) {
  return start + text.slice(start, end).trimEnd().length;
}

function edit(start: number, end: number, content: string): Edit {
  return { offset: start, length: end - start, content };
}

function findNode(text: string, path: Path): Node | undefined {
  const tree = parseTree(text, [], OPTIONS);
  return tree && findNodeAtLocation(tree, [...path]);
}

function endOf({ offset, length }: Node) {
  return offset + length;
}

/** Two members of one name: nobody can say which of them is meant. */
function requireSingle(node: Node | undefined): void {
  const names = (node?.type === "object" ? (node.children ?? []) : []).map(
    ({ children }): unknown => children?.[0]?.value,
  );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Unfit(`${JSON.stringify(twice)} stands in it twice`);
  for (const child of node?.children ?? []) requireSingle(child);
}

function withoutMark(text: string) {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

function lineAt(text: string, offset: number) {
  return text.slice(0, offset).split("\n").length;
}

function sayError({ error }: ParseError) {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
