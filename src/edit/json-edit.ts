import { type Node, type ParseError, findNodeAtLocation, parse, parseTree, printParseErrorCode } from "jsonc-parser";
import { isJson } from "../agents/json.ts";
import type { Editor } from "./editor.ts";
import { type Layout, indentAt, layoutOf, splice } from "./layout.ts";
import { type Change, type Path, Unfit } from "../setup/desired-config.ts";

const OPTIONS = { allowTrailingComma: true, disallowComments: false };
const MARK = "\ufeff";

/** JSON with or without comments. What is added comes after everything that is there, comments included. */
export const jsonEditor: Editor = {
  parse(text) {
    const body = withoutMark(text);
    if (body.trim() === "") return {};
    const errors: ParseError[] = [];
    const value: unknown = parse(body, errors, OPTIONS);
    const [error] = errors;
    if (error) throw new Unfit(`line ${lineAt(body, error.offset)}: ${sayError(error)}`);
    if (!isJson(value)) throw new Unfit("it holds no object");
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
  if (change.do === "remove") return remove(text, change.path);
  const found = findNode(text, change.path);
  if (change.do === "set" && found) {
    return splice(text, found.offset, endOf(found), writeOver(text, found, change.value));
  }
  if (change.do === "append" && found?.type === "array") return insert(text, found, undefined, change.value);
  const value = change.do === "append" ? [change.value] : change.value;
  return insertAt(text, change.path, value);
}

/** Puts a value where nothing stands yet, together with what is missing above it. */
function insertAt(text: string, path: Path, value: unknown): string {
  const depth = path.findIndex((_, index) => findNode(text, path.slice(0, index + 1)) === undefined);
  const parent = findNode(text, path.slice(0, depth));
  const key = path[depth];
  if (parent?.type === "null")
    return applyTo(text, { do: "set", path: path.slice(0, depth), value: nest(path.slice(depth), value) });
  if (parent?.type !== "object" || typeof key !== "string") throw new Unfit(`${path.join(".")} cannot be put there`);
  return insert(text, parent, key, nest(path.slice(depth + 1), value));
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

/** Adds a member at the end of an object or a list. */
function insert(text: string, parent: Node, key: string | undefined, value: unknown): string {
  const layout = layoutOf(text);
  const last = parent.children?.at(-1);
  const close = endOf(parent) - 1;
  const inside = text.slice(parent.offset + 1, close);
  const name = key === undefined ? "" : `${JSON.stringify(key)}:`;
  if (last ? !inside.includes("\n") : parent.parent && !text.trim().includes("\n")) {
    const gap = /":\s/.test(text) ? " " : "";
    const member = `${name}${name && gap}${writeInline(value, gap)}`;
    if (last) return splice(text, endOf(last), endOf(last), `,${gap}${member}`);
    const room = key === undefined ? "" : gap;
    return splice(text, parent.offset + 1, parent.offset + 1, `${room}${member}${room}`);
  }
  const indent = last ? indentAt(text, last.offset) : indentAt(text, parent.offset) + layout.unit;
  const member = `${layout.eol}${indent}${name}${name && " "}${write(value, { ...layout, indent })}`;
  if (!last) return insertFirst(text, parent, member, layout);
  const comma = findComma(text, endOf(last), close);
  const at = endOfTrivia(text, comma === undefined ? endOf(last) : comma + 1, close);
  if (comma !== undefined) return splice(text, at, at, `${member},`);
  return splice(splice(text, at, at, member), endOf(last), endOf(last), ",");
}

/** Into an object or a list without members, after the comments that may be in it. */
function insertFirst(text: string, parent: Node, member: string, { eol }: Layout): string {
  const close = endOf(parent) - 1;
  const at = endOfTrivia(text, parent.offset + 1, close);
  const isClosedBelow = text.slice(at, close).includes("\n");
  return splice(text, at, at, isClosedBelow ? member : `${member}${eol}${indentAt(text, parent.offset)}`);
}

/** Takes a member out, with the comma that it needed. */
function remove(text: string, path: Path): string {
  const value = findNode(text, path);
  const node = value?.parent?.type === "property" ? value.parent : value;
  const siblings = node?.parent?.children;
  if (!node?.parent || !siblings) return text;
  const before = siblings[siblings.indexOf(node) - 1];
  const after = siblings[siblings.indexOf(node) + 1];
  const comma = findComma(text, endOf(node), after?.offset ?? endOf(node.parent) - 1);
  // Down to the last thing before it that is no white space; a comment may stand there.
  const floor = before ? endOf(before) : node.parent.offset + 1;
  const start = floor + text.slice(floor, node.offset).trimEnd().length;
  const isAlone = start === node.parent.offset + 1 && !after;
  const behind = text.slice(endOf(node), endOf(node.parent) - 1);
  if (isAlone && /^\s*,?\s*$/.test(behind)) return splice(text, start, endOf(node.parent) - 1, "");
  const rest = splice(text, start, comma === undefined ? endOf(node) : comma + 1, "");
  const needless = before && comma === undefined ? findComma(text, endOf(before), node.offset) : undefined;
  return needless === undefined ? rest : splice(rest, needless, needless + 1, "");
}

/** In the place of another value, and on one line if that one was. */
function writeOver(text: string, old: Node, value: unknown): string {
  const isInline = old.type !== "null" && !text.slice(old.offset, endOf(old)).includes("\n");
  if (isInline) return writeInline(value, /[\s{]$/.test(text.slice(0, old.offset)) ? " " : "");
  return write(value, { ...layoutOf(text), indent: indentAt(text, old.offset) });
}

function write(value: unknown, { eol, unit, indent }: Layout & { indent: string }): string {
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
}

/** On one line, with spaces where the line has some. */
function writeInline(value: unknown, gap: string): string {
  if (gap === "") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one: unknown) => writeInline(one, gap)).join(", ")}]`;
  if (!isJson(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${writeInline(inner, gap)}`);
  return `{ ${members.join(", ")} }`;
}

/** The comma between two places, comments aside. */
function findComma(text: string, start: number, end: number): number | undefined {
  const at = blankComments(text.slice(start, end)).indexOf(",");
  return at < 0 ? undefined : start + at;
}

/** Where the last comment between two places ends, or the first of them when there is none. */
function endOfTrivia(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length;
}

function blankComments(text: string): string {
  return text.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => " ".repeat(comment.length));
}

function findNode(text: string, path: Path): Node | undefined {
  const tree = parseTree(text, [], OPTIONS);
  return tree && findNodeAtLocation(tree, [...path]);
}

function endOf({ offset, length }: Node): number {
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

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function sayError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
