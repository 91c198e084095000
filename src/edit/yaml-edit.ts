import {
  type Pair,
  type ToStringOptions,
  type YAMLMap,
  isCollection,
  isMap,
  isNode,
  isScalar,
  parseDocument,
  stringify,
} from "yaml";
import { type Change, type Path, Unfit } from "./change.ts";
import type { Editor } from "./editor.ts";
import { indentAt, layoutOf, splice } from "./layout.ts";
import { isTable } from "./table.ts";

/** Quotes words such as `yes`, which readers of YAML 1.1 take for a boolean, and keeps a text on one line. */
const WRITTEN = { version: "1.1", lineWidth: 0, blockQuote: false } as const satisfies ToStringOptions & {
  version: "1.1";
};

/**
 * YAML. The document's nodes say where values stand, and the library writes new ones. The document itself is never
 * written out: that would set the indentation, the quotes and the line ends of the whole file anew.
 */
export const yamlEditor: Editor = {
  parse(text) {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error) throw new Unfit(error.message.split("\n")[0] ?? "");
    const value: unknown = document.toJS() ?? {};
    if (!isTable(value)) throw new Unfit("it holds no mapping");
    return value;
  },
  apply(text, change) {
    if (change.do === "append") throw new Unfit(`${change.path.join(".")} is no mapping of ours`);
    return change.do === "set" ? set(text, change) : remove(text, change.path);
  },
};

function set(text: string, { path, value }: Extract<Change, { do: "set" }>) {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) return append(text, write(nest(path, value), "", layoutOf(text).unit));
  const { map, pair, depth } = walk(contents, path);
  if (pair && depth === path.length) return replace(text, pair, value);
  const inner = nest(path.slice(depth), value);
  if (pair) return fill(text, pair, inner);
  return addTo(text, map, inner);
}

/** The deepest mapping on the way, and the pair that the way ends at where its value is no mapping. */
function walk(root: YAMLMap, path: Path): { map: YAMLMap; pair: Pair | undefined; depth: number } {
  let map = root;
  for (const [index, name] of path.entries()) {
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    if (!pair) return { map, pair: undefined, depth: index };
    if (index === path.length - 1 || !isMap(pair.value)) return { map, pair, depth: index + 1 };
    map = pair.value;
  }
  throw new Error("A way has no end");
}

/** Adds members to a mapping, in its own style. */
function addTo(text: string, map: YAMLMap, members: object) {
  const layout = layoutOf(text);
  const last = map.items.at(-1);
  if (map.flow || !last) {
    const at = rangeOf(map)[1] - 1;
    const inside = Object.entries(members).map(([name, value]) => `${writeKey(name)}: ${JSON.stringify(value)}`);
    return splice(text, at, at, `${last ? ", " : " "}${inside.join(", ")}${last ? "" : " "}`);
  }
  const first = rangeOf(map.items[0]?.key)[0];
  const indent = text.slice(text.lastIndexOf("\n", first - 1) + 1, first);
  if (indent.trim() !== "") throw new Unfit("a mapping begins in the middle of a line");
  const at = endOfLine(text, text.slice(0, endOf(last)).trimEnd().length);
  return splice(text, at, at, layout.eol + write(members, indent, layout.unit).join(layout.eol));
}

/** Below a key that has no value yet. */
function fill(text: string, pair: Pair, members: object) {
  if (isNode(pair.value) && !(isScalar(pair.value) && pair.value.value === null))
    throw new Unfit("no mapping stands there");
  const layout = layoutOf(text);
  const key = rangeOf(pair.key);
  const at = endOfLine(text, key[1]);
  const indent = indentAt(text, key[0]) + layout.unit;
  return splice(text, at, at, layout.eol + write(members, indent, layout.unit).join(layout.eol));
}

/** A value on the line of its key; a list that stood below it comes up. */
function replace(text: string, pair: Pair, value: unknown) {
  const colon = text.indexOf(":", rangeOf(pair.key)[1]);
  if (!isNode(pair.value)) return splice(text, colon + 1, colon + 1, ` ${writeInline(value)}`);
  const [start, end] = rangeOf(pair.value);
  const isBelow = isCollection(pair.value) && !pair.value.flow;
  const until = start + text.slice(start, end).trimEnd().length;
  return splice(text, isBelow ? colon + 1 : start, until, `${isBelow ? " " : ""}${writeInline(value)}`);
}

/** Takes whole lines out, those of a key and all that is below it. */
function remove(text: string, path: Path) {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) return text;
  const { map, pair, depth } = walk(contents, path);
  if (!pair || depth !== path.length) return text;
  if (map.flow) return removeInline(text, map, map.items.indexOf(pair));
  const start = rangeOf(pair.key)[0];
  const line = endOfLine(text, text.slice(0, endOf(pair)).trimEnd().length);
  return splice(text, text.lastIndexOf("\n", start - 1) + 1, startOfNext(text, line), "");
}

/** Takes a member out of a mapping in braces, with the comma that it needed. */
function removeInline(text: string, map: YAMLMap, index: number) {
  const [before, pair, after] = [map.items[index - 1], map.items[index], map.items[index + 1]];
  if (!pair) return text;
  const start = rangeOf(pair.key)[0];
  if (before) return splice(text, endOf(before), endOf(pair), "");
  return splice(text, start, after ? rangeOf(after.key)[0] : endOf(pair), "");
}

function endOf(pair: Pair) {
  return isNode(pair.value) ? rangeOf(pair.value)[1] : rangeOf(pair.key)[1];
}

function append(text: string, lines: readonly string[]) {
  const { eol } = layoutOf(text);
  const gap = text === "" || text.endsWith("\n") ? "" : eol;
  return `${text}${gap}${lines.join(eol)}${eol}`;
}

/** The lines of members in block style. */
function write(members: object, indent: string, unit: string) {
  const text = stringify(members, { ...WRITTEN, indent: unit.length });
  return text
    .trimEnd()
    .split("\n")
    .map((line) => indent + line);
}

function writeKey(name: string) {
  return stringify(name, WRITTEN).trimEnd();
}

/** A value on one line; a list or a mapping in the JSON form, which YAML reads. */
function writeInline(value: unknown) {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return stringify(value, WRITTEN).trimEnd();
}

function nest(path: Path, value: unknown): object {
  const whole = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return isTable(whole) ? whole : {};
}

function rangeOf(node: unknown): readonly [number, number, number] {
  const range = isNode(node) ? node.range : undefined;
  if (!range) throw new Unfit("a place in it cannot be told");
  return range;
}

function endOfLine(text: string, at: number) {
  return at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);
}

function startOfNext(text: string, at: number) {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}
