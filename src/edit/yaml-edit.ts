import { type Pair, type YAMLMap, isCollection, isMap, isNode, isScalar, parseDocument } from "yaml";
import { isJson } from "../agents/json.ts";
import type { Editor } from "./editor.ts";
import { indentAt, layoutOf, splice } from "./layout.ts";
import { type Change, type Path, Unfit } from "../setup/desired-config.ts";

/** Words that YAML takes for something else than text. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** YAML. Places come from the parser, changes are made in the text itself. */
export const yamlEditor: Editor = {
  parse(text) {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error) throw new Unfit(error.message.split("\n")[0] ?? "");
    const value: unknown = document.toJS() ?? {};
    if (!isJson(value)) throw new Unfit("it holds no mapping");
    return value;
  },
  apply(text, change) {
    if (change.do === "append") throw new Unfit(`${change.path.join(".")} is no mapping of ours`);
    return change.do === "set" ? set(text, change) : remove(text, change.path);
  },
};

function set(text: string, { path, value }: Extract<Change, { do: "set" }>): string {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) return append(text, "", write(nest(path, value), "", layoutOf(text).unit));
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
function addTo(text: string, map: YAMLMap, members: object): string {
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
function fill(text: string, pair: Pair, members: object): string {
  if (isNode(pair.value) && !(isScalar(pair.value) && pair.value.value === null))
    throw new Unfit("no mapping stands there");
  const layout = layoutOf(text);
  const key = rangeOf(pair.key);
  const at = endOfLine(text, key[1]);
  const indent = indentAt(text, key[0]) + layout.unit;
  return splice(text, at, at, layout.eol + write(members, indent, layout.unit).join(layout.eol));
}

/** A value on the line of its key; a list that stood below it comes up. */
function replace(text: string, pair: Pair, value: unknown): string {
  const colon = text.indexOf(":", rangeOf(pair.key)[1]);
  if (!isNode(pair.value)) return splice(text, colon + 1, colon + 1, ` ${writeScalar(value)}`);
  const [start, end] = rangeOf(pair.value);
  const isBelow = isCollection(pair.value) && !pair.value.flow;
  const until = start + text.slice(start, end).trimEnd().length;
  return splice(text, isBelow ? colon + 1 : start, until, `${isBelow ? " " : ""}${writeScalar(value)}`);
}

/** Takes whole lines out, those of a key and all that is below it. */
function remove(text: string, path: Path): string {
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
function removeInline(text: string, map: YAMLMap, index: number): string {
  const [before, pair, after] = [map.items[index - 1], map.items[index], map.items[index + 1]];
  if (!pair) return text;
  const start = rangeOf(pair.key)[0];
  if (before) return splice(text, endOf(before), endOf(pair), "");
  return splice(text, start, after ? rangeOf(after.key)[0] : endOf(pair), "");
}

function endOf(pair: Pair): number {
  return isNode(pair.value) ? rangeOf(pair.value)[1] : rangeOf(pair.key)[1];
}

function append(text: string, indent: string, lines: readonly string[]): string {
  const { eol } = layoutOf(text);
  const gap = text === "" || text.endsWith("\n") ? "" : eol;
  return `${text}${gap}${lines.map((line) => indent + line).join(eol)}${eol}`;
}

function write(members: object, indent: string, unit: string): string[] {
  return Object.entries(members).flatMap(([name, value]: [string, unknown]): string[] => {
    const key = `${indent}${writeKey(name)}:`;
    if (Array.isArray(value) && value.length > 0) {
      return [key, ...value.map((one: unknown) => `${indent}${unit}- ${writeScalar(one)}`)];
    }
    if (isJson(value) && Object.keys(value).length > 0) return [key, ...write(value, indent + unit, unit)];
    return [`${key} ${writeScalar(value)}`];
  });
}

function writeKey(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !RESERVED.test(name) ? name : JSON.stringify(name);
}

/** What JSON writes, YAML reads. */
function writeScalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[A-Za-z_/][\w./-]*$/.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);
}

function nest(path: Path, value: unknown): object {
  const whole = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return isJson(whole) ? whole : {};
}

function rangeOf(node: unknown): readonly [number, number, number] {
  const range = isNode(node) ? node.range : undefined;
  if (!range) throw new Unfit("a place in it cannot be told");
  return range;
}

function endOfLine(text: string, at: number): number {
  return at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);
}

function startOfNext(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}
