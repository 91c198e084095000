import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { type Change, Unfit } from "./change.ts";
import type { Editor } from "./editor.ts";
import { layoutOf, splice } from "./layout.ts";
import {
  type KeyPath,
  type Table,
  isSame,
  isTable,
  leavesOf,
  writeKeyPath,
  startsWith,
  valueAt,
  withValue,
} from "./table.ts";
import { type TomlEntry, type TomlMap, mapToml } from "./toml-map.ts";

const MARK = "\ufeff";

/**
 * TOML files of other programs. A value is only added to a table that has a header of its own: their tables in
 * braces or with dots are written by hand, and stay so.
 */
export const tomlEditor: Editor = {
  parse: parseToml,
  apply(text, change) {
    const path = change.path.map(String);
    if (change.do === "remove") return cut(text, path);
    if (change.do === "append") throw new Unfit(`${path.join(".")} is no table of ours`);
    return applySet(text, path, change.value);
  },
};

/** A TOML text with one value set. `written` is the value as TOML. Throws `Unfit` if other lines would change. */
export function setInToml(text: string, path: KeyPath, written: string): string {
  const value = valueAt(parseToml(`value = ${written}`), ["value"]);
  return requireContent(set(text, path, written), withValue(parseToml(text), path, value), path);
}

/** A TOML text without one value or table. The same text if it is not there. */
export function unsetInToml(text: string, path: KeyPath): string {
  return requireContent(cut(text, path), withValue(parseToml(text), path, undefined), path);
}

function parseToml(text: string): Table {
  try {
    return parse(text.startsWith(MARK) ? text.slice(MARK.length) : text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    throw new Unfit(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}

function applySet(text: string, path: KeyPath, value: Extract<Change, { do: "set" }>["value"]) {
  const map = mapToml(text);
  const own = findEntry(map, path);
  if (own && !own.within) return splice(text, own.valueStart, own.valueEnd, writeValue(value));
  if (isTable(value))
    return addTable(
      text,
      path,
      Object.entries(value).map(([name, inner]) => writePair(name, inner)),
    );
  const table = path.slice(0, -1);
  const header = findHeader(map, table);
  if (header < 0) throw new Unfit(`${table.join(".")} is not written as a table of its own`);
  return addBelow(text, map, header, writePair(path.at(-1) ?? "", value));
}

function set(text: string, path: KeyPath, written: string) {
  const map = mapToml(text);
  const own = findEntry(map, path);
  if (own) return splice(text, own.valueStart, own.valueEnd, written);
  const inline = map.entries.find((entry) => entry.isInlineTable && startsWith(path, entry.path));
  if (inline) return addInline(text, map, inline, `${writeKeyPath(path.slice(inline.path.length))} = ${written}`);
  const pair = `${writeKeyPath(path.slice(-1))} = ${written}`;
  const table = path.slice(0, -1);
  const header = findHeader(map, table);
  if (header >= 0 || table.length === 0) return addBelow(text, map, header, pair);
  return addBeside(text, map, path, written) ?? addTable(text, table, [pair]);
}

function findEntry({ entries }: TomlMap, path: KeyPath): TomlEntry | undefined {
  return entries.find((entry) => isSame(entry.path, path));
}

/** The place of a table's header in the list of headers; -1 if it has none. */
function findHeader({ headers }: TomlMap, table: KeyPath) {
  return headers.findLastIndex((one) => !one.isList && isSame(one.path, table));
}

/** Into `{ … }`, after the last pair. */
function addInline(text: string, map: TomlMap, table: TomlEntry, pair: string) {
  const last = map.entries.findLast((entry) => entry.within === table);
  if (!last) return splice(text, table.valueStart, table.valueEnd, `{ ${pair} }`);
  return splice(text, last.valueEnd, last.valueEnd, `, ${pair}`);
}

/** On a line of its own below a header, or above all headers. */
function addBelow(text: string, map: TomlMap, header: number, line: string) {
  const last = map.entries.findLast((entry) => entry.header === header && !entry.within);
  const end = last ? lineEnd(text, last.valueEnd) : (map.headers[header]?.end ?? startOfKeys(text));
  return addLine(text, end, line);
}

/** Beside a sibling that is written with dots: such a table cannot have a header. */
function addBeside(text: string, map: TomlMap, path: KeyPath, written: string) {
  const sibling = map.entries.findLast(({ path: own, header, within }) => {
    const base = map.headers[header]?.path ?? [];
    const dotted = own.slice(0, -1);
    return !within && dotted.length > base.length && startsWith(path, dotted) && startsWith(dotted, base);
  });
  if (!sibling) return undefined;
  const base = map.headers[sibling.header]?.path ?? [];
  return addLine(text, lineEnd(text, sibling.valueEnd), `${writeKeyPath(path.slice(base.length))} = ${written}`);
}

/** As a new table at the end, where it is valid whatever comes before. */
function addTable(text: string, table: KeyPath, pairs: readonly string[]) {
  const { eol } = layoutOf(text);
  const isFirst = text === "" || text === MARK;
  const gap = isFirst || /\n[ \t]*\r?\n$/.test(text) ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${[`[${writeKeyPath(table)}]`, ...pairs].join(eol)}${eol}`;
}

function addLine(text: string, end: number, line: string) {
  const { eol } = layoutOf(text);
  const isFirst = end === 0 || (end === 1 && text.startsWith(MARK));
  if (isFirst) return splice(text, end, end, `${line}${eol}`);
  return splice(text, end, end, `${eol}${line}${end === text.length ? eol : ""}`);
}

/** Keys above all tables come after the comment at the start of a file. */
function startOfKeys(text: string) {
  const comment = /^\ufeff?(?:#[^\n]*(?:\n(?=#)|$|(?=\r?\n)))*/.exec(text)?.[0] ?? "";
  return comment.replace(/[\r\n]+$/, "").length;
}

/** Cuts a pair, or a table with all its pairs, its headers and the tables below it. */
function cut(text: string, path: KeyPath): string {
  const map = mapToml(text);
  const own = findEntry(map, path) ?? map.entries.find((entry) => startsWith(entry.path, path));
  if (own) return cut(own.within ? cutInline(text, map, own) : cutLines(text, own.keyStart, own.valueEnd), path);
  const header = map.headers.find((one) => startsWith(one.path, path));
  return header ? cut(cutHeader(text, header), path) : text;
}

/** Cuts the whole lines of an entry, with the comment after it. */
function cutLines(text: string, from: number, to: number) {
  const start = lineStart(text, from);
  const end = lineEnd(text, to);
  const newline = /^\r?\n/.exec(text.slice(end, end + 2))?.[0].length ?? 0;
  return splice(text, start, end + newline, "");
}

/** A header goes with the blank line that set its table apart. */
function cutHeader(text: string, { start, end }: { start: number; end: number }) {
  const line = lineStart(text, start);
  const blank = /(?:(?<=^|\n)[ \t]*\r?\n)$/.exec(text.slice(0, line))?.[0].length ?? 0;
  return cutLines(text, line - blank, end);
}

/** Cuts one pair of `{ … }`, with the comma between it and the next pair, or the one before. */
function cutInline(text: string, map: TomlMap, entry: TomlEntry) {
  const siblings = map.entries.filter(({ within }) => within === entry.within);
  const index = siblings.indexOf(entry);
  const next = siblings[index + 1];
  const previous = siblings[index - 1];
  if (next) return splice(text, entry.keyStart, next.keyStart, "");
  if (previous) return splice(text, previous.valueEnd, entry.valueEnd, "");
  return text.slice(0, entry.keyStart) + text.slice(entry.valueEnd).replace(/^\s*,/, "");
}

function lineStart(text: string, at: number) {
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  return start === 0 && text.startsWith(MARK) ? MARK.length : start;
}

function lineEnd(text: string, from: number) {
  const end = text.indexOf("\n", from);
  if (end < 0) return text.length;
  return text[end - 1] === "\r" ? end - 1 : end;
}

function writePair(name: string, value: unknown) {
  return `${writeKeyPath([name])} = ${writeValue(value)}`;
}

function writeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one: unknown) => writeValue(one)).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([name, inner]) => writePair(name, inner));
  return `{ ${pairs.join(", ")} }`;
}

/** Better no change than a wrong one: the new text must say exactly what was wanted. */
function requireContent(text: string, wanted: Table, path: KeyPath) {
  if (hasContent(text, wanted)) return text;
  throw new Unfit(`${writeKeyPath(path)} cannot be changed without touching other lines`);
}

function hasContent(text: string, wanted: Table) {
  try {
    return isDeepStrictEqual(sortedLeaves(parseToml(text)), sortedLeaves(wanted));
  } catch (error) {
    if (error instanceof Unfit) return false; // the edited text is no longer TOML
    throw error;
  }
}

/** All values by their keys; empty tables do not count. */
function sortedLeaves(table: Table): unknown[] {
  return leavesOf(table)
    .map(({ path, value }) => [JSON.stringify(path), value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
